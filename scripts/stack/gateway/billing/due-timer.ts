import { z } from 'zod';
import { nextDue, settleDue } from './charges.ts';
import { applyChange } from '../apply-change.ts';
import { clockRequest, type GatewayClock } from '../clock.ts';
import type { DeliveryQueue } from '../delivery-queue.ts';
import { chosen, type DeliverOptions, deliverOptions } from '../events.ts';
import { moveRefund, refundRequest } from '../refunds-and-disputes.ts';
import type { GatewayStore } from '../store.ts';

const EVERY_MS = 500;

/** How many customers get their webhooks at once. */
const LANES = 8;

/** The body of `POST /simulate/due`: makes everything happen that is due. */
export const dueRequest = z.strictObject({
  /** Sets the clock first. */
  shift_seconds: clockRequest.shape.shift_seconds.optional(),
  deliver: deliverOptions.default({}),
  /** True: several customers get their webhooks at once, each customer in the order of the events. */
  parallel: z.boolean().default(false),
});

/** Lets subscriptions bill themselves, and processes refunds: looks twice each second for what is due by the gateway's clock. */
export type DueTimer = {
  /** Makes everything happen that is due, and sends the webhooks. @returns their event ids */
  settle(deliver?: DeliverOptions, parallel?: boolean): Promise<string[]>;
  /** When something is due next, Unix seconds; null: nothing will be. */
  nextAt(): number | null;
  start(): void;
  stop(): void;
};

type Parts = { store: GatewayStore; queue: DeliveryQueue; clock: GatewayClock };

export function createDueTimer({ store, queue, clock }: Parts): DueTimer {
  let timer: ReturnType<typeof setInterval> | undefined;

  /** Processes the refunds that the API made, but for those that a control moved since. @returns the event ids */
  const processRefunds = async (deliver: DeliverOptions) => {
    const asked = [...store.askedRefunds.keys()];
    for (const id of asked) store.askedRefunds.delete(id);
    const ids = asked.filter((id) => store.refunds.find(id)?.status === 'pending');
    const made = await Promise.all(ids.map((refund_id) => {
      const request = refundRequest.parse({ refund_id, event: 'processed', deliver });
      return applyChange({ store, queue, clock }, moveRefund, request);
    }));
    return made.flatMap((one) => one instanceof Response ? [] : one.eventIds);
  };

  const settle = async (deliver: DeliverOptions = {}, parallel = false) => {
    const refunded = await processRefunds(deliver);
    const settled = settleDue(store, clock.seconds());
    const lanes = parallel ? inLanes(settled) : [settled];
    const sent = await Promise.all(lanes.map((lane) => {
      const webhooks = chosen(lane.flatMap((one) => one.webhooks), deliver);
      return webhooks.length === 0 ? [] : queue.send(webhooks, deliver);
    }));
    return [...refunded, ...sent.flat().map(({ event_id }) => event_id)];
  };

  return {
    settle,
    nextAt: () => nextDue(store, Infinity)?.at ?? null,
    start() {
      timer ??= setInterval(() => void settle(), EVERY_MS);
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}

type Settled = ReturnType<typeof settleDue>;

/** Divides what was settled, so that all of a customer is in one lane. A customer may have several subscriptions. */
function inLanes(settled: Settled): Settled[] {
  const customers = Map.groupBy(
    settled,
    ({ subscription: { id, notes } }) => Array.isArray(notes) ? id : notes.user_id ?? id,
  );
  const lanes: Settled[] = Array.from({ length: LANES }, () => []);
  [...customers.values()].forEach((own, index) => lanes[index % LANES]?.push(...own));
  return lanes;
}
