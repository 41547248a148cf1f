import { type Action, type GatewayEvent, type GatewayStatus, planOf, type TimedAction } from './actions.ts';
import { parseTime, type Time } from './time.ts';

/** Start and end of a cycle. */
type Period = readonly [string, string];

/** A UTC time from `MM-DD` or `MM-DD HH:MM` of 2026; other years are written as `YYYY-MM-DD`. Noon, unless it says otherwise. */
export function time(text: string): Time {
  const [day = '', hour = '12:00'] = text.split(' ');
  return parseTime(`${day.length === 5 ? `2026-${day}` : day}T${hour}:00.000Z`);
}

export function step(at: string, action: Action): TimedAction {
  return { at: time(at), ...action };
}

export function order(at: string, name: string, tier: string): TimedAction {
  return step(at, { do: 'order', order: name, tier, amount: planOf(tier).price });
}

export function verify(at: string, name: string): TimedAction {
  return step(at, { do: 'verify', order: name, payment: `${name}1` });
}

export function buy(at: string, name: string, tier: string): TimedAction[] {
  return [order(at, name, tier), verify(at, name)];
}

export function captured(at: string, name: string, payment = `${name}1`): TimedAction {
  return step(at, { do: 'captured', order: name, payment, event: 'payment.captured' });
}

export function refund(
  at: string,
  payment: string,
  of: number,
  { id = `${payment} refund`, amount = of, status = 'processed' as 'pending' | 'processed' | 'failed' } = {},
): TimedAction {
  const order = payment.startsWith('S') ? null : payment.slice(0, 1);
  return step(at, { do: 'refund', payment, of, order, refund: id, amount, status });
}

/** An event of the gateway subscription S1. It happened at the start of its cycle, unless `happened` says otherwise. */
export function event(
  at: string,
  name: GatewayEvent['do'],
  [start, end]: Period,
  { tier = 'basic', happened = start, cycle = 1 } = {},
): TimedAction {
  const charged = { payment: name === 'charged' ? `S1/${cycle}` : null, paidCount: cycle, chargeAt: null };
  const period = { createdAt: time(happened), start: time(start), end: time(end) };
  return step(at, { do: name, subscription: 'S1', tier, ...period, ...charged });
}

export function activate(cycle: Period, tier = 'basic'): TimedAction[] {
  return [event(cycle[0], 'activated', cycle, { tier }), event(cycle[0], 'charged', cycle, { tier })];
}

/** The gateway answers the status of S1 in its cycle. */
export function ask(at: string, status: GatewayStatus, [start, end]: Period): TimedAction {
  const cycle = { tier: 'basic', start: time(start), end: time(end), endedAt: null, paidCount: 1, chargeAt: null };
  return step(at, { do: 'ask', answers: { S1: { ...cycle, status } } });
}
