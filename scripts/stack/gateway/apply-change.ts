import { type GatewayClock, type Timed, timed } from './clock.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import { chosen, type EventRequest, type Webhook } from './events.ts';
import type { GatewayStore } from './store.ts';

type Parts = { store: GatewayStore; queue: DeliveryQueue; clock: GatewayClock };

/**
 * Applies a request that changes entities, and sends the webhooks about it, as the request's `deliver` says.
 * @returns what changed and the ids of the events, or the refusal of `apply`
 */
export async function applyChange<Request extends EventRequest, Changed extends { webhooks: Webhook[] }>(
  { store, queue, clock }: Parts,
  apply: (store: GatewayStore, request: Timed<Request>) => Changed | Response,
  request: Request,
): Promise<{ changed: Changed; eventIds: string[] } | Response> {
  const changed = apply(store, timed(request, clock));
  if (changed instanceof Response) return changed;
  const sent = await queue.send(chosen(changed.webhooks, request.deliver), request.deliver);
  return { changed, eventIds: sent.map(({ event_id }) => event_id) };
}
