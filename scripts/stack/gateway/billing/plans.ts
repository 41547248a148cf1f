import { z } from 'zod';
import { isBillable } from './cycles.ts';
import type { Plan } from '../entities.ts';
import { apiNotes } from '../notes.ts';
import { newId } from '../new-id.ts';
import type { GatewayStore } from '../store.ts';

/** The price of a plan that was never created: minor units, each month. */
const UNKNOWN = { amount: 99900, currency: 'INR', period: 'monthly', interval: 1 } as const;

const amount = z.int().min(100);
const currency = z.string().regex(/^[A-Z]{3}$/, 'The currency should be a three-letter code.');
const cycle = { period: z.enum(['daily', 'weekly', 'monthly', 'yearly']), interval: z.int().min(1).max(4000) };
const tooShort = { error: 'A daily plan needs an interval of at least 7.', path: ['interval'] };

/** What is paid for, in a call of the API. */
export const itemRequest = z.strictObject({
  name: z.string().min(1),
  amount,
  currency,
  description: z.string().nullable().default(null),
});

/** The body of `POST /v1/plans`. */
export const planRequest = z.strictObject({
  ...cycle,
  item: itemRequest,
  notes: apiNotes.default([]),
}).refine(isBillable, tooShort);

/** The body of `POST /simulate/plan`: creates the plan with this id, or replaces it. */
export const simulatedPlanRequest = z.strictObject({
  id: z.string().min(1),
  name: z.string().optional(),
  amount: amount.default(UNKNOWN.amount),
  currency: currency.default(UNKNOWN.currency),
  period: cycle.period.default(UNKNOWN.period),
  interval: cycle.interval.default(UNKNOWN.interval),
}).refine(isBillable, tooShort);

/** Creates a plan with a new id. `at`: Unix seconds. */
export function createPlan(store: GatewayStore, { item, ...plan }: z.infer<typeof planRequest>, at: number): Plan {
  return store.plans.save({
    id: newId('plan'),
    entity: 'plan',
    ...plan,
    item: { id: newId('item'), active: true, unit_amount: item.amount, type: 'plan', ...item },
    created_at: at,
  });
}

/** Creates or replaces the plan with an id. A subscription pays the new price from its next charge on. */
export function savePlan(
  store: GatewayStore,
  { id, name = id, amount, currency, period, interval }: z.infer<typeof simulatedPlanRequest>,
  at: number,
): Plan {
  return store.plans.save({
    id,
    entity: 'plan',
    period,
    interval,
    item: {
      id: newId('item'),
      active: true,
      name,
      description: null,
      amount,
      unit_amount: amount,
      currency,
      type: 'plan',
    },
    notes: [],
    created_at: store.plans.find(id)?.created_at ?? at,
  });
}

/** The plan with an id. A plan that was never created is created now, so that a local stack needs no set-up. */
export function usePlan(store: GatewayStore, id: string, at: number): Plan {
  return store.plans.find(id) ?? savePlan(store, { id, ...UNKNOWN }, at);
}
