import type { Gateway } from '../ports.ts';
import { cancelAtGateway } from './cancel-at-gateway.ts';
import type { Attempt, Delivery, OutboxRow, Sender } from './outbox.ts';
import { refundAtGateway } from './refund-at-gateway.ts';

/** What the gateway is told, by the kind of the row. */
const kinds: Readonly<Record<string, (gateway: Gateway, row: OutboxRow) => Promise<Delivery>>> = {
  'cancel-subscription': cancelAtGateway,
  refund: refundAtGateway,
};

/** Calls the gateway, one attempt a row. */
export function createGatewaySender(gateway: Gateway): Sender {
  const unknown = (): Promise<Delivery> => Promise.resolve({ status: 'refused', error: 'unknown row' });
  return (rows) =>
    rows.map((row): Attempt => ({ rows: [row], deliver: () => (kinds[row.kind] ?? unknown)(gateway, row) }));
}
