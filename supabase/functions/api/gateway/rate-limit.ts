import type { Gateway } from '../ports.ts';

/** The reads of reconciliation. */
export type GatewayReads = Pick<
  Gateway,
  | 'hasModeOf'
  | 'now'
  | 'listOrderPayments'
  | 'listRefunds'
  | 'listInvoices'
  | 'listCreated'
  | 'listSettlementLines'
  | 'readInvoice'
  | 'readOrder'
  | 'readPayment'
  | 'readSubscription'
>;

/** Waits until the next call may start. */
export type RateLimit = () => Promise<void>;

/** Both in milliseconds. */
export type Timer = { now(): number; sleep(milliseconds: number): Promise<void> };

export const systemTimer: Timer = {
  now: () => performance.now(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

/** Spaces calls evenly. Time without calls is not made up for, so there are no bursts. */
export function createRateLimit(callsPerSecond: number, timer: Timer = systemTimer): RateLimit {
  const interval = 1000 / callsPerSecond;
  let next = -Infinity;
  return async () => {
    const now = timer.now();
    const start = Math.max(now, next);
    next = start + interval;
    if (start > now) await timer.sleep(start - now);
  };
}

/** The same reads, each of which waits for the rate limit first. */
export function limitRate(gateway: GatewayReads, wait: RateLimit): GatewayReads {
  return {
    hasModeOf: (keyId) => gateway.hasModeOf(keyId),
    now: () => gateway.now(),
    readSubscription: (id) => wait().then(() => gateway.readSubscription(id)),
    readOrder: (id) => wait().then(() => gateway.readOrder(id)),
    readPayment: (id) => wait().then(() => gateway.readPayment(id)),
    listOrderPayments: (orderId) => wait().then(() => gateway.listOrderPayments(orderId)),
    listRefunds: (paymentId) => wait().then(() => gateway.listRefunds(paymentId)),
    listInvoices: (subscriptionId) => wait().then(() => gateway.listInvoices(subscriptionId)),
    listCreated: (page) => wait().then(() => gateway.listCreated(page)),
    listSettlementLines: (page) => wait().then(() => gateway.listSettlementLines(page)),
    readInvoice: (id) => wait().then(() => gateway.readInvoice(id)),
  };
}
