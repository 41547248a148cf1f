/** The subscriptions of the benchmark, as the database and the gateway know them. */
import { periodSeconds } from '../gateway-bodies.ts';

/** How many subscriptions the gateway bills. */
export const subscriptions = 1_000_000;

/** The subscriptions that become due together. Each set is reconciled once, so a run changes nothing for the next one. */
export const sets = {
  /** At the rate of the gateway, for a tenth of an hour. */
  paced: { from: 0, size: 3_000 },
  /** As fast as function and database can, over the pool and over REST. */
  pool: { from: 3, size: 30_000 },
  rest: { from: 33, size: 30_000 },
} as const;
export type SetName = keyof typeof sets;

/** Of each thousand subscriptions these are of a set, so that the set is scattered over the tables. */
const block = 1000;

/** Selects a set by a column with the number of the subscription, in SQL. */
export function isOfSet(name: SetName, number: string): string {
  const { from, size } = sets[name];
  return `${number} % ${block} >= ${from} and ${number} % ${block} < ${from + (size * block) / subscriptions}`;
}

/** Whether a subscription belongs to any set, in SQL. */
export const isOfAnySet = `n % ${block} < 63`;

/** The state of the n-th subscription at the gateway, in SQL: half of those that are due were renewed. */
export const stateInSql = `case when n / ${block} % 20 < 10 then 'renewed' when n / ${block} % 20 < 16 then 'active'
   when n / ${block} % 20 < 18 then 'halted' when n / ${block} % 20 < 19 then 'pending' else 'cancelled' end`;

/** The same as `stateInSql`. */
function stateOf(n: number): 'renewed' | 'active' | 'halted' | 'pending' | 'cancelled' {
  const twentieth = Math.floor(n / block) % 20;
  if (twentieth < 10) return 'renewed';
  if (twentieth < 16) return 'active';
  if (twentieth < 18) return 'halted';
  return twentieth < 19 ? 'pending' : 'cancelled';
}

/** The id at the gateway of the n-th subscription. */
export function subscriptionId(n: number): string {
  return `sub_Bench${String(n).padStart(9, '0')}`;
}

/** The same in SQL. */
export const subscriptionIdInSql = `'sub_Bench' || lpad(n::text, 9, '0')`;

/** How many seconds before the start of the benchmark the period of a due subscription ended, in SQL. */
export const endedSecondsInSql = 'n % 3600';

/** The subscription as the gateway returns it. @param at start of the benchmark, Unix seconds */
export function gatewayEntity(id: string, planId: string, at: number): Record<string, unknown> | null {
  const n = Number(/^sub_Bench(\d{9})$/.exec(id)?.[1] ?? NaN);
  if (Number.isNaN(n)) return null;
  const state = stateOf(n);
  const end = at - n % 3600;
  const start = state === 'renewed' ? end : end - periodSeconds;
  return {
    id,
    entity: 'subscription',
    plan_id: planId,
    customer_id: 'cust_Bench0000001',
    status: state === 'renewed' ? 'active' : state,
    current_start: start,
    current_end: start + periodSeconds,
    ended_at: state === 'cancelled' ? end : null,
    quantity: 1,
    notes: [],
    charge_at: start + periodSeconds,
    start_at: at - 24 * periodSeconds,
    end_at: at + 96 * periodSeconds,
    auth_attempts: 0,
    total_count: 120,
    paid_count: 24,
    customer_notify: true,
    created_at: at - 24 * periodSeconds,
    expire_by: null,
    short_url: 'https://gateway.example/i/bench',
    has_scheduled_changes: false,
    change_scheduled_at: null,
    source: 'api',
    remaining_count: 96,
  };
}
