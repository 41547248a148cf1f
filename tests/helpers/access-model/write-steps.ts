import { type Action, type Answer, type GatewayEvent, planOf, type Step } from './actions.ts';

/** A UTC time from `MM-DD` or `MM-DD HH:MM` of 2026; other years are written as `YYYY-MM-DD`. */
export function time(text: string): string {
  const [day = '', hour = '12:00'] = text.split(' ');
  return `${day.length === 5 ? `2026-${day}` : day}T${hour}:00.000Z`;
}

export function step(at: string, action: Action): Step {
  return { at: time(at), ...action };
}

export function order(at: string, name: string, tier: string): Step {
  return step(at, { do: 'order', order: name, tier, amount: planOf(tier).price });
}

export function verify(at: string, name: string): Step {
  return step(at, { do: 'verify', order: name, payment: `${name}1` });
}

export function buy(at: string, name: string, tier: string): Step[] {
  return [order(at, name, tier), verify(at, name)];
}

export function captured(at: string, name: string, payment = `${name}1`): Step {
  return step(at, { do: 'captured', order: name, payment, event: 'payment.captured' });
}

export function refund(
  at: string,
  payment: string,
  tier: string,
  status: 'pending' | 'processed' | 'failed' = 'processed',
  { id = `${payment} refund`, amount = planOf(tier).price } = {},
): Step {
  const order = payment.startsWith('S') ? null : payment.slice(0, 1);
  return step(at, { do: 'refund', payment, of: planOf(tier).price, order, refund: id, amount, status });
}

/** An event of subscription S1 (basic, monthly) or of another. Its time is the start of its cycle, or `happened`. */
export function event(
  at: string,
  name: GatewayEvent['do'],
  [start, end]: readonly [string, string],
  { subscription = 'S1', tier = 'basic', happened = start, cycle = 1 } = {},
): Step {
  return step(at, {
    do: name,
    subscription,
    tier,
    createdAt: time(happened),
    start: time(start),
    end: time(end),
    payment: name === 'charged' ? `${subscription}/${cycle}` : null,
  });
}

export function activate(cycle: readonly [string, string], of: Parameters<typeof event>[3] = {}): Step[] {
  return [event(cycle[0], 'activated', cycle, of), event(cycle[0], 'charged', cycle, of)];
}

export function ask(
  at: string,
  status: Answer['status'],
  [start, end]: readonly [string, string],
  tier = 'basic',
): Step {
  return step(at, { do: 'ask', answers: { S1: { tier, status, start: time(start), end: time(end), endedAt: null } } });
}
