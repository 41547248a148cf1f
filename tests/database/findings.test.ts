import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { readFindings } from '../helpers/database/findings.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver, sha256 } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, paymentFailed, refundEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { claim, enqueue, fail } from '../helpers/outbox/claims.ts';
import { paymentOf, placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { readTier } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterEach(async () => {
  await setClock(database, null);
  await database.query('truncate auth.users, public.payments, billing.outbox, billing.gateway_events cascade');
});
afterAll(() => database.close());

const findings = () => readFindings(database);
const write = (sql: string, ...parameters: unknown[]) => database.query(sql, parameters);

async function buy() {
  const purchase = await placeOrder(database);
  expect(await verifyPurchase(service, purchase)).toMatchObject({ outcome: 'applied' });
  return purchase;
}

test('an empty database has no findings, nor has a purchase', async () => {
  expect(await findings()).toEqual([]);
  await buy();
  expect(await findings()).toEqual([]);
});

const all = [
  'captured_not_fulfilled',
  'dispute_lost',
  'entitled_not_paid',
  'expiry_failed',
  'failed_events',
  'missed_webhooks',
  'never_captured',
  'open_functions',
  'outbox_stuck',
  'paid_not_entitled',
  'paid_twice',
  'tier_mismatch',
  'unearned_credits',
  'unexpected_charges',
  'unmailed_payments',
];

test('each view is in billing.findings, is read with the reader’s own rights and its comment explains what to do', async () => {
  const views = await database.query(
    `select c.relname as name, c.reloptions, length(obj_description(c.oid)) > 80 as tells
     from pg_class c
     where c.relnamespace = 'billing'::regnamespace and c.relkind = 'v' and c.relname = any ($1)
     order by 1`,
    [[...all, 'findings']],
  );
  expect(views).toEqual(
    [...all, 'findings'].sort().map((name) => ({ name, reloptions: ['security_invoker=true'], tells: true })),
  );
  const { definition } = await database.one("select pg_get_viewdef('billing.findings'::regclass) as definition");
  for (const name of all) expect(definition).toContain(`FROM billing.${name} `);
});

describe('open_function', () => {
  const listed = async () =>
    (await database.query("select subject from billing.findings where finding = 'open_function'"))
      .map(({ subject }) => subject);
  afterEach(() => database.query('drop function if exists public.of_the_app()'));

  test('lists a security definer function that anon may execute, until it is closed or marked as intended', async () => {
    await write("create function public.of_the_app() returns int language sql security definer as 'select 1'");
    expect(await listed()).toEqual(['public.of_the_app()']);
    await write("comment on function public.of_the_app() is 'Open to everybody: the landing page shows it.'");
    expect(await listed()).toEqual([]);
    await write('comment on function public.of_the_app() is null');
    const { remedy } = await database.one(
      "select detail ->> 'remedy' as remedy from billing.findings where finding = 'open_function'",
    );
    expect(remedy).toContain('"revoke execute on function public.of_the_app() from public, anon;"');
    await write('revoke execute on function public.of_the_app() from public, anon');
    expect(await listed()).toEqual([]);
  });

  test('lists neither a security invoker function nor a trigger function', async () => {
    await write("create function public.of_the_app() returns int language sql as 'select 1'");
    expect(await listed()).toEqual([]);
    await write('drop function public.of_the_app()');
    await write(
      "create function public.of_the_app() returns trigger language plpgsql security definer as 'begin return null; end'",
    );
    expect(await listed()).toEqual([]);
  });
});

describe('captured_not_fulfilled', () => {
  test('lists a captured payment without a plan, until the plan is created or the payment refunded', async () => {
    const tier = uniqueId('team');
    const [order, other] = [
      await placeOrder(database, { tier }),
      await placeOrder(database, { tier: uniqueId('team') }),
    ];
    for (const each of [order, other]) await verifyPurchase(service, each);
    expect(await findings()).toEqual(
      [order, other].map(({ id }) => ['captured_not_fulfilled', id, 'no plan of this tier']).sort(),
    );
    await deliver(service, refundEvent(paymentOf(other), 99900));
    await write("insert into public.plans (tier, name, price) values ($1, 'Team', 99900)", tier);
    await verifyPurchase(service, order);
    expect(await findings()).toEqual([]);
  });
});

describe('outbox_stuck', () => {
  test('lists rows that were due for more than 15 minutes, and neither rows due later nor delivered rows', async () => {
    await setClock(database, '2026-01-01T00:00:00Z');
    for (const key of ['due', 'delivered']) await enqueue(database, 'email', key);
    await write("update billing.outbox set delivered_at = '2026-01-01T00:00:01Z' where key = 'delivered'");
    await setClock(database, '2026-01-01T00:15:00Z');
    await enqueue(database, 'email', 'fresh');
    expect(await findings()).toEqual([]);
    await setClock(database, '2026-01-01T00:15:01Z');
    expect(await findings()).toEqual([['outbox_stuck', 'due', 'due']]);
  });

  test('lists parked rows with their error, until they are requeued; not withdrawn rows', async () => {
    const id = await enqueue(database, 'email', 'given up');
    const { token, ids } = await claim(service, 'email');
    await fail(service, token, ids, { error: 'HTTP 422', final: true });
    await enqueue(database, 'gateway', 'withdrawn');
    await write(
      "update billing.outbox set parked_at = now(), last_error = 'withdrawn' where key = 'withdrawn'",
    );
    expect(await database.query('select key, state, last_error from billing.outbox_stuck')).toEqual([
      { key: 'given up', state: 'parked', last_error: 'HTTP 422' },
    ]);
    await write('select billing.requeue($1)', id);
    expect(await findings()).toEqual([]);
  });
});

describe('expiry_failed', () => {
  afterEach(async () => {
    await write('alter table public.profiles drop constraint if exists broken');
  });

  test('lists a subscription whose expiry failed, until the cause is fixed and it expires', async () => {
    await setClock(database, '2026-01-01T00:00:00Z');
    const [{ user }, other] = [await buy(), await buy()];
    await write(
      `alter table public.profiles add constraint broken check (user_id <> '${user.id}' or subscription_tier <> 'free')`,
    );
    await setClock(database, '2027-01-05T00:00:00Z');
    await write('select billing.expire_subscriptions()');
    await write('update billing.outbox set delivered_at = billing.clock()');
    expect(await database.query('select user_id, error from billing.expiry_failed')).toEqual([
      { user_id: user.id, error: '23514' },
    ]);
    expect(await readTier(database, other.user.id)).toBe('free');
    await write('alter table public.profiles drop constraint broken');
    await setClock(database, '2027-01-05T01:00:01Z');
    await write('select billing.expire_subscriptions()');
    await write('update billing.outbox set delivered_at = billing.clock()');
    expect(await readTier(database, user.id)).toBe('free');
    expect(await findings()).toEqual([]);
  });
});

describe('failed_events', () => {
  test('lists an event whose effect failed, also when it is parked, until it is applied', async () => {
    const order = await placeOrder(database);
    const body = paymentFailed({ ...paymentOf(order), id: uniqueId('pay') });
    await write("alter table public.payments add constraint broken check (status <> 'failed') not valid");
    await deliver(service, body);
    expect(await findings()).toEqual([['failed_events', sha256(body), 'failed: 23514']]);
    await write("update billing.gateway_events set outcome = 'parked'");
    expect(await findings()).toEqual([['failed_events', sha256(body), 'parked']]);
    await write('alter table public.payments drop constraint broken');
    await write('select billing.replay_event(body_sha256) from billing.failed_events');
    expect(await findings()).toEqual([]);
  });

  test('lists an event without a plan, until the payment is fulfilled', async () => {
    const tier = uniqueId('team');
    const order = await placeOrder(database, { tier });
    const body = paymentCaptured(paymentOf(order));
    await deliver(service, body);
    expect(await findings()).toContainEqual(['failed_events', sha256(body), 'plan_not_found']);
    await write("insert into public.plans (tier, name, price) values ($1, 'Team', 99900)", tier);
    await verifyPurchase(service, order);
    expect(await findings()).toEqual([]);
  });

  test('lists a capture of another amount, until it is refunded; not a refund of a payment that does not count', async () => {
    const order = await placeOrder(database);
    const other = { ...paymentOf(order), id: uniqueId('pay'), amount: 1 };
    const body = paymentCaptured(other);
    expect(await deliver(service, body)).toBe('mismatch');
    await verifyPurchase(service, order);
    expect(await findings()).toEqual([['failed_events', sha256(body), 'mismatch']]);
    await deliver(service, refundEvent(other, 1));
    expect(await findings()).toEqual([]);
  });

  test('lists, after 15 minutes, a charge of a gateway subscription that does not count', async () => {
    const { user } = await buy();
    await write("update public.subscriptions set gateway_subscription_id = 'sub_1' where user_id = $1", user.id);
    const of = { userId: user.id, id: 'sub_2', start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' };
    const charge = subscriptionEvent({ name: 'charged', ...of });
    expect(await deliver(service, charge)).toBe('mismatch');
    expect(await deliver(service, subscriptionEvent({ name: 'cancelled', ...of }))).toBe('mismatch');
    expect(await findings()).toEqual([]);
    await write("update billing.gateway_events set received_at = received_at - interval '16 minutes'");
    expect(await findings()).toEqual([['failed_events', sha256(charge), 'mismatch']]);
  });
});
