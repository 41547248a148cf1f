import { setClock } from '../database/clock.ts';
import type { Row, TestDatabase } from '../database/test-database.ts';

/**
 * The outbox row that cancels a gateway subscription, as `{ at: 'cycle end' | 'once', state: 'pending' | 'delivered' |
 * 'withdrawn' }`; null where there is none.
 */
export async function readCancellation(database: TestDatabase, id: string): Promise<Row | null> {
  const [row] = await database.query(
    `select case when payload @> '{"at_cycle_end": true}' then 'cycle end' else 'once' end as at,
       case
         when delivered_at is not null then 'delivered'
         when parked_at is not null then 'withdrawn'
         else 'pending'
       end as state
     from private.outbox where key = 'cancel-subscription/' || $1`,
    [id],
  );
  return row ?? null;
}

/** Marks the cancellation of a gateway subscription as delivered, as a dispatcher does. */
export async function deliverCancellation(database: TestDatabase, id: string): Promise<void> {
  const rows = await database.query(
    `update private.outbox set attempts = 1, delivered_at = private.clock()
     where key = 'cancel-subscription/' || $1 and delivered_at is null and parked_at is null
     returning id`,
    [id],
  );
  if (rows.length !== 1) throw new Error(`no cancellation of ${id} is pending`);
}

/** The gateway subscriptions of a user that another source replaced. */
export async function replacedSubscriptions(database: TestDatabase, userId: string): Promise<unknown[]> {
  const rows = await database.query(
    `select gateway_subscription_id as id from private.gateway_subscriptions
     where user_id = $1 and is_replaced order by gateway_subscription_id`,
    [userId],
  );
  return rows.map(({ id }) => id);
}

/** Deletes all users and their records, and lets the clock run again. */
export async function deleteUsers(database: TestDatabase): Promise<void> {
  await setClock(database, null);
  await database.query(`
    delete from auth.users;
    truncate private.gateway_subscriptions, private.gateway_charges, private.refunds, private.deleted_users,
      private.outbox, public.payments cascade`);
}
