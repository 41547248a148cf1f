import { cancelAtGateway } from './cancel-at-gateway.ts';
import type { Attempt, Delivery, Gateway, OutboxRow, Sender, StopDatabase } from '../ports.ts';
import { refundAtGateway } from './refund-at-gateway.ts';

/** Calls the gateway, one attempt a row. */
export function createGatewaySender(gateway: Gateway, database: StopDatabase): Sender {
  async function deliver(row: OutboxRow): Promise<Delivery> {
    switch (row.kind) {
      case 'cancel-subscription':
        // Without the database the stop is not confirmed, and the gateway is not told.
        return await cancelAtGateway(gateway, database, row).catch(() => ({
          status: 'failed',
          error: 'not confirmed',
        }));
      case 'refund':
        return await refundAtGateway(gateway, row);
      default:
        return { status: 'refused', error: 'unknown row' };
    }
  }
  return (rows) => rows.map((row): Attempt => ({ rows: [row], deliver: () => deliver(row) }));
}
