import { day, shortTime } from '../helpers/records/time.ts';
import { NOW } from './gateway-simulator-rig.ts';
import { call, type Entity, quiet, read, simulate, webhooks } from './simulate.ts';

export const subscribe = async (fields: Entity = {}) =>
  (await call('POST', '/v1/subscriptions', { plan_id: 'plan_Pro00000000001', total_count: 12, ...fields })).body;
/** The id of a subscription that the customer approved, without its webhooks. */
export async function approved(fields: Entity = {}, answer: Entity = {}): Promise<string> {
  const { id } = await subscribe(fields);
  await simulate('authorise', { subscription_id: id, outcome: 'approved', ...quiet, ...answer });
  return id;
}

/** The simulator's clock at a time, as `day` reads it. @returns the events of subscriptions: `charged 2026-02-10` */
export async function moveTo(time: string, fields: Entity = {}): Promise<string[]> {
  await simulate('clock', { shift_seconds: at(time) - NOW, ...fields });
  return (await webhooks()).filter(({ event }) => event.startsWith('subscription.')).map(({ event, created_at }) =>
    `${event.slice('subscription.'.length)} ${shown(created_at)}`
  );
}

/** Unix seconds of a time, as `day` reads it, and back. */
export const at = (time: string) => Date.parse(day(time)) / 1000;
export const shown = (seconds: number | null) => shortTime(seconds && new Date(seconds * 1000));

/** A subscription: `active 2026-01-10 to 2026-02-10, 1 paid, 11 left, next 2026-02-10`, with failures and end, if any. */
export async function stateOf(id: string): Promise<string> {
  const { status, current_start, current_end, paid_count, remaining_count, charge_at, auth_attempts, ended_at } =
    await read(`subscriptions/${id}`);
  const period = current_end === null ? '' : ` ${shown(current_start)} to ${shown(current_end)}`;
  return `${status}${period}, ${paid_count} paid, ${remaining_count} left, next ${shown(charge_at)}` +
    (auth_attempts > 0 ? `, ${auth_attempts} failed` : '') + (ended_at === null ? '' : `, ended ${shown(ended_at)}`);
}
