import type { Order, Payment, Subscription } from './gateway-simulator-entities.ts';

type Entities = { payment?: Payment; order?: Order; subscription?: Subscription };

/**
 * The raw body of a webhook: the gateway's envelope around copies of the entities as they are now. `createdAt` is in Unix
 * seconds, now when left out.
 */
export function eventBody(event: string, entities: Entities, createdAt = Math.floor(Date.now() / 1000)): string {
  const named = Object.entries(entities).filter(([, entity]) => entity !== undefined);
  return JSON.stringify({
    entity: 'event',
    account_id: 'acc_Simulator00001',
    event,
    contains: named.map(([name]) => name),
    payload: Object.fromEntries(named.map(([name, entity]) => [name, { entity }])),
    created_at: createdAt,
  });
}
