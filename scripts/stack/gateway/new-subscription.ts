import type { Subscription } from './entities.ts';
import { newId } from './id.ts';

const CYCLES = 12;

/** A subscription of twelve cycles before its first event. `at`: Unix seconds. */
export function newSubscription(id: string, at: number): Subscription {
  return {
    id,
    entity: 'subscription',
    plan_id: newId('plan'),
    customer_id: newId('cust'),
    type: 2,
    status: 'created',
    current_start: null,
    current_end: null,
    ended_at: null,
    quantity: 1,
    notes: [],
    charge_at: null,
    start_at: null,
    end_at: null,
    auth_attempts: 0,
    total_count: CYCLES,
    paid_count: 0,
    remaining_count: CYCLES,
    customer_notify: true,
    created_at: at,
    expire_by: null,
    short_url: null,
    has_scheduled_changes: false,
    change_scheduled_at: null,
    source: 'api',
    offer_id: null,
  };
}
