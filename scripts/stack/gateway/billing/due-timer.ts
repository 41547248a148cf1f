import { z } from 'zod';
import { settleDue } from './charges.ts';
import type { GatewayClock } from '../clock.ts';
import type { DeliveryQueue } from '../delivery-queue.ts';
import { chosen, type DeliverOptions, deliverOptions } from '../events.ts';
import type { GatewayStore } from '../store.ts';

const EVERY_MS = 1_000;

/** The body of `POST /simulate/due`: makes everything happen that is due. */
export const dueRequest = z.strictObject({ deliver: deliverOptions.default({}) });

/** Lets subscriptions bill themselves: looks each second for what is due by the gateway's clock. */
export type DueTimer = {
  /** Makes everything happen that is due, and sends the webhooks. @returns their event ids */
  settle(deliver?: DeliverOptions): Promise<string[]>;
  start(): void;
  stop(): void;
};

type Parts = { store: GatewayStore; queue: DeliveryQueue; clock: GatewayClock };

export function createDueTimer({ store, queue, clock }: Parts): DueTimer {
  let timer: ReturnType<typeof setInterval> | undefined;

  const settle = async (deliver: DeliverOptions = {}) => {
    const webhooks = settleDue(store, clock.seconds());
    if (webhooks.length === 0) return [];
    const sent = await queue.send(chosen(webhooks, deliver), deliver);
    return sent.map(({ event_id }) => event_id);
  };

  return {
    settle,
    start() {
      timer ??= setInterval(() => void settle(), EVERY_MS);
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}
