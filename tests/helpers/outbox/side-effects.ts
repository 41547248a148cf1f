import { uniqueId } from '../records/records.ts';
import type { Row, TestDatabase } from '../database/test-database.ts';

/** Enqueues a success mail, as a fulfilled payment does. Returns its key. */
export async function enqueueMail(database: TestDatabase, payload: Record<string, unknown> = {}): Promise<string> {
  const key = `payment-success/${crypto.randomUUID()}`;
  const mail = {
    to: `${uniqueId('asha')}@example.com`,
    display_name: 'Asha Rao',
    plan_name: 'Pro',
    amount: 99900,
    currency: 'INR',
    transaction_id: uniqueId('pay'),
    valid_until: '2027-11-20T11:45:40.559Z',
    ...payload,
  };
  await database.query('select billing.enqueue($1, $2, $3, $4)', [key, 'email', 'payment-success', mail]);
  return key;
}

/** Enqueues a revalidation of pages. Returns its key. */
export async function enqueueRevalidation(
  database: TestDatabase,
  paths = ['/subscription', '/pricing', '/analytics', '/dashboard'],
): Promise<string> {
  const key = uniqueId('revalidation/test');
  await database.query('select billing.enqueue($1, $2, $2, $3)', [key, 'revalidation', { paths }]);
  return key;
}

/** Enqueues several mails, with the keys `payment-success/1` and so on. */
export async function enqueueMails(database: TestDatabase, count: number): Promise<void> {
  await database.query(
    `insert into billing.outbox (key, destination, kind, payload)
     select 'payment-success/' || i, 'email', 'payment-success', jsonb_build_object(
       'to', format('user-%s@example.com', i), 'display_name', 'Asha Rao', 'plan_name', 'Pro', 'amount', 99900,
       'currency', 'INR', 'transaction_id', 'pay_' || i, 'valid_until', '2027-11-20T11:45:40.559Z')
     from generate_series(1, $1) i`,
    [count],
  );
}

/** The state of a side effect. */
export function readSideEffect(database: TestDatabase, key: string): Promise<Row> {
  return database.one(
    `select attempts, last_error, (select count(token)::int from unnest(claims) token) as claims,
       billing.iso_time(next_attempt_at) as next_attempt_at,
       case when delivered_at is not null then 'delivered' when parked_at is not null then 'parked' else 'pending' end
         as state
     from billing.outbox where key = $1`,
    [key],
  );
}

/** The numbers of pending, delivered and parked side effects. */
export function countRows(database: TestDatabase): Promise<Row> {
  return database.one(
    `select count(*) filter (where delivered_at is null and parked_at is null)::int as pending,
       count(delivered_at)::int as delivered, count(parked_at)::int as parked
     from billing.outbox`,
  );
}

/** Deletes all side effects and pauses. */
export async function emptyOutbox(database: TestDatabase): Promise<void> {
  await database.query('delete from billing.outbox');
  await database.query('delete from billing.marks');
}
