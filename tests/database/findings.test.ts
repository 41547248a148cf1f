import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/clock.ts';
import type { Finding } from '../helpers/findings.ts';
import { deliver, sha256, subscriptionEvent } from '../helpers/gateway-events.ts';
import { captured, failed, refunded } from '../helpers/money-events.ts';
import { claim, enqueue, fail } from '../helpers/outbox.ts';
import { placeOrder, type Purchase, verifyPurchase } from '../helpers/purchases.ts';
import { readFindings } from '../helpers/read-findings.ts';
import { uniqueId } from '../helpers/records.ts';
import { openSession } from '../helpers/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/test-database.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterEach(async () => {
  await setClock(database, null);
  await database.query('truncate auth.users, public.payments, private.outbox, private.gateway_events cascade');
});
afterAll(() => database.close());

const findings = () => readFindings(database);
const write = (sql: string, ...parameters: unknown[]) => database.query(sql, parameters);

async function buy(order: { user?: Purchase['user']; tier?: string } = {}, renewal: 'replace' | 'extend' = 'replace') {
  const purchase = await placeOrder(database, order);
  expect(await verifyPurchase(service, purchase, renewal)).toMatchObject({ outcome: 'applied' });
  return purchase;
}

const money = ({ paymentId, orderId }: Purchase) => ({ id: paymentId, order_id: orderId });

test('nothing is wrong before anybody came, and after a purchase', async () => {
  expect(await findings()).toEqual([]);
  await buy();
  expect(await findings()).toEqual([]);
});

test('a view is in private.findings, is read with the reader’s own rights and tells what to do', async () => {
  const views = await database.query(
    `select c.relname as name, c.reloptions, length(obj_description(c.oid)) > 80 as tells
     from pg_class c
     where c.relnamespace = 'private'::regnamespace and c.relkind = 'v' and c.relname not in ('unmailed_payments', 'paid_periods')
     order by 1`,
  );
  const all: Finding[] = [
    'captured_not_fulfilled',
    'entitled_not_paid',
    'failed_events',
    'outbox_stuck',
    'paid_not_entitled',
    'paid_twice',
    'tier_mismatch',
  ];
  expect(views).toEqual(
    [...all, 'findings'].sort().map((name) => ({ name, reloptions: ['security_invoker=true'], tells: true })),
  );
  const { definition } = await database.one("select pg_get_viewdef('private.findings'::regclass) as definition");
  for (const name of all) expect(definition).toContain(`FROM private.${name} `);
});

describe('captured_not_fulfilled', () => {
  test('lists money without a plan, until the plan is made or the money given back', async () => {
    const tier = uniqueId('team');
    const [order, other] = [
      await placeOrder(database, { tier }),
      await placeOrder(database, { tier: uniqueId('team') }),
    ];
    for (const each of [order, other]) await verifyPurchase(service, each);
    expect(await findings()).toEqual(
      [order, other].map(({ id }) => ['captured_not_fulfilled', id, 'no plan of this tier']).sort(),
    );
    await deliver(service, refunded(money(other), 99900));
    await write("insert into public.plans (tier, name, price) values ($1, 'Team', 99900)", tier);
    await verifyPurchase(service, order);
    expect(await findings()).toEqual([]);
  });
});

describe('paid_twice', () => {
  test.each(['before', 'after'])('lists a further payment on an order, not given back %s it is known', async (when) => {
    const order = await buy();
    const extra = { ...money(order), id: uniqueId('pay') };
    const back = (amount: number) => deliver(service, refunded(extra, amount));
    if (when === 'before') await back(99900);
    await deliver(service, captured(extra));
    if (when === 'after') {
      const row = ['paid_twice', extra.id, 'a further payment on the order'];
      expect(await findings()).toEqual([row]);
      await back(99899);
      expect(await findings()).toEqual([row]);
      await back(99900);
    }
    expect(await findings()).toEqual([]);
  });

  test('knows for ever what was given back, though payloads are emptied', async () => {
    const order = await buy();
    const extra = { ...money(order), id: uniqueId('pay') };
    await deliver(service, captured(extra));
    await deliver(service, refunded(extra, 99900));
    await write('update private.gateway_events set payload = null');
    expect(await findings()).toEqual([]);
  });

  test('lists a renewal that replaced what was paid, once, until it is given back', async () => {
    const { user } = await buy();
    const renewal = await buy({ user });
    expect(await findings()).toEqual([['paid_twice', renewal.paymentId, 'another payment for the same time']]);
    await deliver(service, refunded(money(renewal), 99900));
    expect(await findings()).toEqual([]);
  });

  test('lists neither renewals that add, nor another tier, nor another user’s', async () => {
    const { user } = await buy();
    for (let i = 0; i < 2; i++) await buy({ user }, 'extend');
    await buy({ user, tier: 'basic' });
    await buy();
    expect(await findings()).toEqual([]);
  });
});

describe('outbox_stuck', () => {
  test('lists what was due for more than 15 minutes, and neither what is due later nor what was delivered', async () => {
    await setClock(database, '2026-01-01T00:00:00Z');
    for (const key of ['due', 'delivered']) await enqueue(database, 'email', key);
    await write("update private.outbox set delivered_at = '2026-01-01T00:00:01Z' where key = 'delivered'");
    await setClock(database, '2026-01-01T00:15:00Z');
    await enqueue(database, 'email', 'fresh');
    expect(await findings()).toEqual([]);
    await setClock(database, '2026-01-01T00:15:01Z');
    expect(await findings()).toEqual([['outbox_stuck', 'due', 'due']]);
  });

  test('lists what was given up, with its error, until it is tried again; not what a user withdrew', async () => {
    const id = await enqueue(database, 'email', 'given up');
    const { token, ids } = await claim(service, 'email');
    await fail(service, token, ids, { error: 'HTTP 422', final: true });
    await enqueue(database, 'gateway', 'withdrawn');
    await write(
      "update private.outbox set parked_at = now(), last_error = 'withdrawn' where key = 'withdrawn'",
    );
    expect(await database.query('select key, state, last_error from private.outbox_stuck')).toEqual([
      { key: 'given up', state: 'parked', last_error: 'HTTP 422' },
    ]);
    await write('select private.requeue($1)', id);
    expect(await findings()).toEqual([]);
  });
});

describe('failed_events', () => {
  test('lists an event whose effect failed, also when it is set aside, until it is applied again', async () => {
    const order = await placeOrder(database);
    const body = failed({ ...money(order), id: uniqueId('pay') });
    await write("alter table public.payments add constraint broken check (status <> 'failed') not valid");
    await deliver(service, body);
    expect(await findings()).toEqual([['failed_events', sha256(body), 'failed: 23514']]);
    await write("update private.gateway_events set outcome = 'parked'");
    expect(await findings()).toEqual([['failed_events', sha256(body), 'parked']]);
    await write('alter table public.payments drop constraint broken');
    await write('select private.replay_event(body_sha256) from private.failed_events');
    expect(await findings()).toEqual([]);
  });

  test('lists an event without a plan, until the payment is fulfilled', async () => {
    const tier = uniqueId('team');
    const order = await placeOrder(database, { tier });
    const body = captured(money(order));
    await deliver(service, body);
    expect(await findings()).toContainEqual(['failed_events', sha256(body), 'plan_not_found']);
    await write("insert into public.plans (tier, name, price) values ($1, 'Team', 99900)", tier);
    await verifyPurchase(service, order);
    expect(await findings()).toEqual([]);
  });

  test('lists money of another amount, until it is given back; not a refund of what does not count', async () => {
    const order = await placeOrder(database);
    const other = { ...money(order), id: uniqueId('pay'), amount: 1 };
    const body = captured(other);
    expect(await deliver(service, body)).toBe('mismatch');
    await verifyPurchase(service, order);
    expect(await findings()).toEqual([['failed_events', sha256(body), 'mismatch']]);
    await deliver(service, refunded(other, 1));
    expect(await findings()).toEqual([]);
  });

  test('lists a charge of a gateway subscription that does not count after a quarter of an hour', async () => {
    const { user } = await buy();
    await write("update public.subscriptions set gateway_subscription_id = 'sub_1' where user_id = $1", user.id);
    const of = { userId: user.id, id: 'sub_2', start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' };
    const charge = subscriptionEvent({ name: 'charged', ...of });
    expect(await deliver(service, charge)).toBe('mismatch');
    expect(await deliver(service, subscriptionEvent({ name: 'cancelled', ...of }))).toBe('mismatch');
    expect(await findings()).toEqual([]);
    await write("update private.gateway_events set received_at = received_at - interval '16 minutes'");
    expect(await findings()).toEqual([['failed_events', sha256(charge), 'mismatch']]);
  });
});
