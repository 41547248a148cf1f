import type { Dispute, Order, Payment, Refund, Subscription } from './entities.ts';
import type { Irregular } from './irregular.ts';

type Entities = { refund?: Refund; subscription?: Subscription; payment?: Payment; order?: Order; dispute?: Dispute };

/** `createdAt` is in Unix seconds; `accountId` is the id of the gateway's account. */
export type EventOptions = { createdAt: number; irregular: Irregular; accountId?: string };

/** The raw body of a webhook: the gateway's envelope with the current entities, in the given order. */
export function eventBody(
  event: string,
  entities: Entities,
  { createdAt, irregular, accountId = 'acc_Simulator00001' }: EventOptions,
): string {
  const named = Object.entries(entities).filter(([, entity]) => entity !== undefined);
  const contains = named.map(([name]) => name);
  const payload = Object.fromEntries(named.map(([name, entity]) => {
    return [name, { entity: name === 'payment' ? { ...entity, ...paymentFields(irregular) } : entity }];
  }));
  const envelope = {
    entity: 'event',
    account_id: accountId,
    event,
    contains: irregular.contains === 'incomplete' ? contains.slice(0, 1) : contains,
    payload: irregular.created_at === 'in_payload' ? { ...payload, created_at: createdAt } : payload,
    ...irregular.created_at === undefined ? { created_at: createdAt } : {},
  };
  return JSON.stringify(irregular.key_order === undefined ? envelope : ordered(envelope, irregular.key_order));
}

function paymentFields({ order_id, captured, error_description }: Irregular) {
  const fields = Object.entries({ order_id, captured, error_description });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

function ordered(value: unknown, order: 'sorted' | 'reversed'): unknown {
  if (Array.isArray(value)) return value.map((item) => ordered(item, order));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, ordered(inner, order)] as const);
  return Object.fromEntries(order === 'reversed' ? entries.reverse() : entries.sort(([a], [b]) => a < b ? -1 : 1));
}
