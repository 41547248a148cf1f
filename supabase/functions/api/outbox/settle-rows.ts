import type { Outcome } from './deliver-rows.ts';
import type { Delivery, OutboxRow } from './outbox.ts';
import type { OutboxDatabase } from '../ports.ts';

/** How many rows went which way. */
export type Counts = { readonly delivered: number; readonly retried: number; readonly parked: number };

export const nothing: Counts = { delivered: 0, retried: 0, parked: 0 };

export function add(one: Counts, other: Counts): Counts {
  return {
    delivered: one.delivered + other.delivered,
    retried: one.retried + other.retried,
    parked: one.parked + other.parked,
  };
}

/** Notes the outcomes in the outbox: one call for what was delivered (for each note), one for each kind of failure. */
export async function settleRows(
  database: OutboxDatabase,
  token: string,
  outcomes: readonly Outcome[],
): Promise<Counts> {
  let counts = nothing;
  for (const { delivery, rows } of group(outcomes)) {
    const ids = rows.map(({ id }) => id);
    if (delivery.status === 'delivered') {
      await database.completeOutbox(token, ids, delivery.note);
      counts = add(counts, { ...nothing, delivered: ids.length });
    } else {
      const failed = await database.failOutbox(token, ids, delivery);
      counts = add(counts, { ...nothing, ...failed });
    }
  }
  return counts;
}

function group(outcomes: readonly Outcome[]): Iterable<{ delivery: Delivery; rows: OutboxRow[] }> {
  const groups = new Map<string, { delivery: Delivery; rows: OutboxRow[] }>();
  for (const { delivery, rows } of outcomes) {
    const name = JSON.stringify(delivery);
    const known = groups.get(name) ?? { delivery, rows: [] };
    known.rows.push(...rows);
    groups.set(name, known);
  }
  return groups.values();
}
