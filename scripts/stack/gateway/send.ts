import type { DeliverOptions } from './deliver-options.ts';
import type { DeliveryQueue } from './delivery.ts';
import type { Webhook } from './webhook.ts';

/** Sends the webhooks that the options select. @returns the ids of their events */
export type Send = (webhooks: Webhook[], options: DeliverOptions) => Promise<string[]>;

export function createSend(queue: DeliveryQueue): Send {
  return async (webhooks, options) => {
    const { events } = options;
    const chosen = events === undefined
      ? webhooks
      : events.flatMap((name) => webhooks.filter(({ event }) => event === name));
    const deliveries = await queue.send(chosen, options);
    return deliveries.map(({ event_id }) => event_id);
  };
}
