import { MAX_SHIFT_SECONDS } from '../gateway/clock.ts';
import type { Retries } from '../gateway/settle-gateway.ts';
import { readHappenings } from '../postgres/happenings.ts';
import { type ClockedStack, type Settled, settleStack } from './settle-stack.ts';

/** What is due within a minute happens together, at its end: the schedule of a hosted project runs once a minute. */
const MINUTE = 60;

/** A stop of the clock at which something happened: a time in Unix seconds, and words such as `charged 3, mails 3`. */
export type Stop = { readonly at: number; readonly text: string };

/**
 * Moves the clock of a running stack. On the way forward it stops at each minute at which something is due, in the
 * database or at the gateway simulator, and goes on when that has happened: one move ends as many small ones do.
 * A move back happens at once.
 * @param target Unix seconds; null: the machine's time
 * @param onStop is called for each stop at which something happened
 * @throws Error when a part of the stack refuses; the clock then stands at the last stop
 */
export async function moveClock(
  stack: ClockedStack,
  target: number | null,
  onStop: (stop: Stop) => void = () => {},
): Promise<void> {
  const end = target ?? Date.now() / 1000;
  if (Math.abs(end - Date.now() / 1000) > MAX_SHIFT_SECONDS) {
    throw new Error('the time would be over 1,000 years from the machine’s');
  }
  const retries: Retries = new Map();
  const start = await readClock(stack);
  if (end < start) {
    await setBack(stack, target, start);
    return;
  }
  let since = start;
  const report = async (settled: Settled) => {
    const text = await readHappenings(stack.sql, since);
    if (text !== '') onStop({ at: settled.database.at, text });
    since = settled.database.at;
    return settled;
  };
  let settled = await report(await settleStack(stack, retries));
  for (let next = nextStop(settled); next < end; next = nextStop(settled)) {
    const shiftSeconds = await setClock(stack, next);
    settled = await report(await settleStack(stack, retries, { shiftSeconds }));
  }
  const shiftSeconds = await setClock(stack, target);
  await report(await settleStack(stack, retries, { shiftSeconds, runsSchedule: true }));
}

/** The end of the minute in which something is due next, in Unix seconds; Infinity: nothing is. */
function nextStop({ database, gateway }: Settled): number {
  const next = Math.min(database.nextAt ?? Infinity, gateway.nextAt ?? Infinity);
  return Math.max(database.at, Math.ceil(next / MINUTE) * MINUTE);
}

/** @returns Unix seconds */
async function readClock({ sql }: ClockedStack): Promise<number> {
  const [row] = await sql`select extract(epoch from billing.clock())::float8 as now`;
  return row?.now;
}

/**
 * Sets the clock of the database to a time, or up to a second later: its shift has whole seconds, as the simulator's. It
 * goes on meanwhile, and is never set back here.
 * @param target null: the machine's time
 * @returns the shift
 */
async function setClock({ sql }: ClockedStack, target: number | null): Promise<number> {
  const [row] = await sql`
    update billing.clock_shift
    set shift = greatest(
      shift, make_interval(secs => coalesce(ceil(${target}::float8 - extract(epoch from now())::float8), 0))
    )
    returning extract(epoch from shift)::float8 as shift_seconds`;
  return row?.shift_seconds;
}

/**
 * Sets the clock back, with the marks of the statement: what comes now is read again. Mails are deleted after 90 days, so a payment whose mail was deleted would now count as not mailed:
 * a note about it ends that finding.
 */
async function setBack(stack: ClockedStack, target: number | null, before: number): Promise<void> {
  const shiftSeconds = await stack.sql.begin(async (sql) => {
    const [row] = await sql`
      update billing.clock_shift
      set shift = make_interval(secs => coalesce(ceil(${target}::float8 - extract(epoch from now())::float8), 0))
      returning extract(epoch from shift)::float8 as shift_seconds`;
    await sql`
      insert into billing.support_actions (action, reference, reason)
      select 'note', v.payment_id::text, 'The mail was sent, and deleted after 90 days. Then the clock was set back.'
      from billing.unmailed_payments v
      join public.payments p on p.id = v.payment_id
      -- Not those that were listed already before.
      where least(p.fulfilled_at, p.verified_at) <= to_timestamp(${before}) - interval '30 days'`;
    await sql`
      update billing.statement_windows w
      set read_until = billing.clock() - interval '10 days', next_read_at = billing.clock(), window_end = null, skip = 0,
        items = 0, news = 0`;
    return row?.shift_seconds;
  });
  await settleStack(stack, new Map(), { shiftSeconds, runsSchedule: true });
}
