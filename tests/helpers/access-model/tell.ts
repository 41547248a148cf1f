import { type Action, type Answer, type GatewayEvent, planOf } from './actions.ts';
import { type Chain, type Cycle, type Facts, isRefunded, type Money, type Order, type Subscription } from './facts.ts';
import { isLive, rulingSource, sourcesOf } from './model.ts';
import { hour, parseTime, type Time } from './time.ts';

/** Adds to the facts what happens at a time. The answer of `ask` is about those that were asked. */
export function tell(facts: Facts, action: Action, now: Time): void {
  switch (action.do) {
    case 'order':
      return void facts.orders.push(newOrder(action.order, action.tier, now));
    case 'verify':
      return verify(facts, orderNamed(facts, action.order), action.payment, now);
    case 'captured':
      return capture(facts, orderNamed(facts, action.order), action.payment, now);
    case 'refund': {
      const { refunds } = moneyNamed(facts, action.payment, action.of);
      const { refund, amount, status } = action;
      // That it was created may be told after what became of it.
      if (status !== 'pending' || !refunds.has(refund)) refunds.set(refund, { amount, status });
      // What was refunded before it was fulfilled, and is not refunded after all, was paid.
      const order = facts.orders.find(({ money, isCaptured }) => isCaptured && money?.name === action.payment);
      if (order && order.fulfilledAt === null && !isRefunded(order.money)) fulfil(facts, order, now);
      return;
    }
    case 'dispute':
      return void (orderNamed(facts, action.order).isDisputeLost = true);
    case 'nothing captured':
      return endUncaptured(orderNamed(facts, action.order), now);
    case 'activated':
    case 'charged':
    case 'cancelled':
      return receive(facts, action, now);
    case 'ask':
      for (const [name, answer] of Object.entries(action.answers)) ask(facts, name, answer, now);
      return;
    case 'cancel':
      return cancel(facts, action.atPeriodEnd, now);
    case 'resume': {
      const ruling = rulingSource(facts, now);
      if (ruling) holderNamed(facts, ruling.name).cancelledFor = null;
      return;
    }
    case 'grant':
      return void facts.given.push(given('grant', action.grant, action.tier, now, parseTime(action.until)));
    case 'write by hand':
      return void facts.given.push(given('manual', 'manual', action.tier, now, parseTime(action.until)));
    case 'failed':
    case 'wait':
      return;
  }
}

/** @throws where there is no such order */
export function orderNamed(facts: Facts, name: string): Order {
  const order = facts.orders.find((order) => order.name === name);
  if (!order) throw new Error(`no order ${name}`);
  return order;
}

function newOrder(name: string, tier: string, now: Time): Order {
  const { price: amount, months } = planOf(tier);
  return {
    name,
    tier,
    months,
    amount,
    orderedAt: now,
    money: null,
    isCaptured: false,
    fulfilledAt: null,
    verifiedAt: null,
    chain: null,
    found: null,
    isRefused: false,
    isNeverCaptured: false,
    isDisputeLost: false,
    extras: [],
    cancelledAt: [],
    cancelledFor: null,
  };
}

function given(kind: 'grant' | 'manual', name: string, tier: string, at: Time, until: Time) {
  return { kind, name, tier, at, until, cancelledAt: [], cancelledFor: null };
}

/** The customer returns from the checkout. What was refunded, or turned out never captured, gets nothing. */
function verify(facts: Facts, order: Order, payment: string, now: Time): void {
  const money = moneyNamed(facts, payment, order.amount);
  order.isRefused ||= isRefunded(money);
  if (isRefunded(money) || order.isNeverCaptured || order.verifiedAt !== null) return;
  order.verifiedAt = Math.max(now, ...sourcesOf(facts).map(({ since }) => since + 1));
  order.money ??= money;
  if (order.fulfilledAt === null) fulfil(facts, order, now);
}

/** The gateway says that the money is there. */
function capture(facts: Facts, order: Order, payment: string, now: Time): void {
  const money = moneyNamed(facts, payment, order.amount);
  if (order.money !== null && order.money !== money) {
    if (!order.extras.includes(money)) order.extras.push(money);
    return;
  }
  order.money = money;
  order.isCaptured = true;
  if (isRefunded(money) || order.fulfilledAt !== null && !order.isNeverCaptured) return;
  order.isNeverCaptured = false;
  fulfil(facts, order, now);
}

function fulfil(facts: Facts, order: Order, now: Time): void {
  const ruling = rulingSource(facts, now);
  order.found = {
    ruling: ruling?.name ?? null,
    isRulingNewer: ruling !== null && ruling.since > (order.verifiedAt ?? order.orderedAt),
    newer: sourcesOf(facts).filter((source) => isLive(source, now) && source.since > order.orderedAt)
      .map(({ name }) => name),
  };
  order.chain?.links.splice(order.chain.links.indexOf(order), 1);
  order.chain = chainFor(facts, order.tier, now);
  order.chain.links.push(order);
  order.fulfilledAt = now;
}

/** Under `extend` a purchase of the tier that rules, while it runs, starts at its end. */
function chainFor(facts: Facts, tier: string, now: Time): Chain {
  const ruling = rulingSource(facts, now);
  if (facts.earlyRenewal === 'replace' || ruling?.tier !== tier || ruling.end <= now) {
    return { from: now, after: null, links: [] };
  }
  const link = facts.orders.find(({ name }) => name === ruling.name);
  return link?.chain ?? { from: ruling.end, after: ruling.name, links: [] };
}

/** The gateway knows of no payment on an order that the customer verified: after 120 hours it was never captured. */
function endUncaptured(order: Order, now: Time): void {
  const { isCaptured, verifiedAt, orderedAt } = order;
  if (verifiedAt === null || isCaptured || now < Math.max(verifiedAt, orderedAt) + 120 * hour) return;
  order.isNeverCaptured = true;
}

function receive(facts: Facts, event: GatewayEvent, now: Time): void {
  const subscription = mirrorOf(facts, event.subscription, event.tier);
  const told = { at: parseTime(event.createdAt), arrivedAt: now };
  if (event.do === 'cancelled') {
    subscription.endedAt = told.at;
    return;
  }
  (event.do === 'activated' ? subscription.activations : subscription.charges).push(told);
  const cycle = cycleOf(subscription, event, told.at);
  cycle.isAnswered = false;
  if (event.payment === null) return;
  cycle.at = told.at;
  cycle.money = moneyNamed(facts, event.payment, planOf(event.tier).price);
}

function ask(facts: Facts, name: string, answer: Answer, now: Time): void {
  const subscription = mirrorOf(facts, name, answer.tier);
  subscription.askedAt = now;
  if (answer.status === 'active') cycleOf(subscription, answer, parseTime(answer.start));
  if (answer.status === 'cancelled' && answer.endedAt !== null) subscription.endedAt ??= parseTime(answer.endedAt);
}

function mirrorOf({ subscriptions }: Facts, name: string, tier: string): Subscription {
  const known = subscriptions.find((subscription) => subscription.name === name);
  if (known) return known;
  const mirror: Subscription = {
    name,
    tier,
    activations: [],
    charges: [],
    cycles: [],
    endedAt: null,
    askedAt: null,
    cancelledAt: [],
    cancelledFor: null,
  };
  subscriptions.push(mirror);
  return mirror;
}

function cycleOf({ cycles }: Subscription, period: { start: string; end: string }, at: Time): Cycle {
  const [start, end] = [parseTime(period.start), parseTime(period.end)];
  const known = cycles.find((cycle) => cycle.start === start);
  if (known) return known;
  const cycle: Cycle = { start, end, at, money: null, isAnswered: true };
  cycles.push(cycle);
  return cycle;
}

/** At once: every live source ends. At the period's end: the ruling source is marked, once. */
function cancel(facts: Facts, atPeriodEnd: boolean, now: Time): void {
  const ruling = rulingSource(facts, now);
  if (ruling === null) return;
  if (atPeriodEnd) {
    holderNamed(facts, ruling.name).cancelledFor ??= ruling.end;
    return;
  }
  facts.cancellations.push(now);
  for (const source of sourcesOf(facts).filter((source) => isLive(source, now))) {
    holderNamed(facts, source.name).cancelledAt.push(now);
  }
}

function holderNamed({ orders, subscriptions, given }: Facts, name: string) {
  const holder = [...orders, ...subscriptions, ...given].find((holder) => holder.name === name);
  if (!holder) throw new Error(`no source ${name}`);
  return holder;
}

function moneyNamed({ money }: Facts, name: string, amount: number): Money {
  const known = money.get(name);
  if (known) return known;
  const created: Money = { name, amount, refunds: new Map() };
  money.set(name, created);
  return created;
}
