import { type Answer, type GatewayEvent, planOf } from './actions.ts';
import { type Cycle, type Facts, moneyNamed, type Subscription } from './facts.ts';
import { parseTime, type Time } from './time.ts';

/** Adds an event of a gateway subscription to its mirror. */
export function receiveEvent(facts: Facts, event: GatewayEvent, now: Time): void {
  const subscription = mirrorOf(facts, event.subscription, event.tier);
  const times = { at: parseTime(event.createdAt), arrivedAt: now };
  if (event.do === 'cancelled') {
    subscription.endedAt = times.at;
    return;
  }
  (event.do === 'activated' ? subscription.activations : subscription.charges).push(times);
  const cycle = cycleOf(subscription, event, times.at);
  if (event.payment === null) return;
  cycle.at = times.at;
  cycle.money = moneyNamed(facts, event.payment, planOf(event.tier).price);
}

/** Adds the gateway's answer about a subscription: a cycle that no event announced, or its end. */
export function receiveAnswer(facts: Facts, name: string, answer: Answer, now: Time): void {
  const subscription = mirrorOf(facts, name, answer.tier);
  subscription.reconciledAt = now;
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
    reconciledAt: null,
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
  const cycle: Cycle = { start, end, at, money: null };
  cycles.push(cycle);
  return cycle;
}
