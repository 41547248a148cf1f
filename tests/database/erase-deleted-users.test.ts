import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sweep } from '../../scripts/stack/postgres/sweep.ts';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession, waitUntilBlocked } from '../helpers/database/session.ts';
import { createTestDatabase, type Row, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver, sha256 } from '../helpers/gateway/deliver.ts';
import {
  disputeEvent,
  orderPaid,
  paymentCaptured,
  paymentFailed,
  refundEvent,
  subscriptionEvent,
} from '../helpers/gateway/events.ts';
import { readLedger } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';
import { grantTier } from '../helpers/records/support-actions.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const day = 86_400_000;
const deletedAt = start + 20 * day;

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase({ findings: 'compared elsewhere' });
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
});
beforeEach(async () => {
  await setTime(start);
  await database.query(`
    truncate auth.users, public.payments, billing.outbox, billing.gateway_events, billing.gateway_subscriptions,
      billing.refunds, billing.deleted_users, billing.tier_changes cascade`);
});
afterAll(() => database.close());

/** The personal data of a customer, as the gateway's events, the mails and the profile contain it. */
type Person = {
  readonly id: string;
  readonly email: string;
  readonly phone: string;
  readonly vpa: string;
  readonly name: string;
};

/** The fields of a payment entity with the customer's data, for UPI and card. */
function personalFields({ email, phone, vpa, name }: Person) {
  return {
    email,
    contact: phone,
    vpa,
    description: `Plan for ${name}`,
    card: { entity: 'card', name, last4: '5558' },
    upi: { payer_account_type: 'bank_account', vpa },
    bank_account: { name, account_number: '916010082985661' },
    customer_details: { name, email, contact: phone },
    notes: { customer: name, email },
  };
}

const setTime = (at: number) => setClock(database, new Date(at).toISOString());
const iso = (at: number) => new Date(at).toISOString();
/** The person with the e-mail address in place of the id, to find only personal data other than the id. */
const withoutId = (person: Person): Person => ({ ...person, id: person.email });
const deleteUser = ({ id }: Person) => database.query('delete from auth.users where id = $1', [id]);
const mailTo = ({ email }: Person) =>
  database.query("select key from billing.outbox where payload ->> 'to' = $1", [email]);

/** The columns of our tables that contain a person's data: `schema.table.column`, sorted. */
async function columnsNaming(person: Person): Promise<string[]> {
  const tables = await database.query(
    `select format('%s.%I', c.relnamespace::regnamespace, c.relname) as name,
       array_agg(quote_ident(a.attname)) filter (where a.attnum > 0 and not a.attisdropped) as columns
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace in ('public'::regnamespace, 'billing'::regnamespace) and c.relkind = 'r'
     group by c.oid`,
  );
  const found: string[] = [];
  for (const { name, columns } of tables) {
    const texts: string[] = Array.isArray(columns) ? columns : [];
    // The cast to text covers every type: jsonb, arrays and uuid are searched in the same way.
    const row = await database.one(
      `select ${
        texts.map((column) =>
          `bool_or(exists (select from unnest($1::text[]) w where strpos(lower(t.${column}::text), lower(w)) > 0)) as ${column}`
        ).join(', ')
      } from ${name} t`,
      [[person.id, person.email, person.phone, person.vpa, person.name]],
    );
    found.push(...Object.keys(row).filter((column) => row[column] === true).map((column) => `${name}.${column}`));
  }
  return found.sort();
}

/** A user with a unique name and e-mail address. */
async function createPerson(): Promise<Person> {
  const word = uniqueId('p').replace('_', '');
  const id = crypto.randomUUID();
  const person = {
    id,
    email: `mail.${word}@example.com`,
    phone: `+9198${word}`,
    vpa: `vpa.${word}@upi`,
    name: `Name ${word}`,
  };
  await database.query('insert into auth.users (id, email) values ($1, $2)', [id, person.email]);
  await database.query('update public.profiles set display_name = $2 where user_id = $1', [id, person.name]);
  return person;
}

/** Creates every record that the service can store about a user, within twenty days. */
async function createRecords(person: Person): Promise<{ subscription: string; charge: string }> {
  const of = personalFields(person);
  const subscription = uniqueId('sub');
  const charge = uniqueId('pay');
  const order = async (amount?: number) => {
    const { id, orderId } = await createPayment(database, {
      userId: person.id,
      meta: { tier: 'pro', buyer: person.name },
      ...(amount === undefined ? {} : { amount }),
    });
    return { id, orderId, money: { ...of, id: uniqueId('pay'), order_id: orderId } };
  };
  const verify = ({ orderId, money }: Awaited<ReturnType<typeof order>>) =>
    callRpc(service, 'verify_payment', person.id, orderId, money.id, 'signature');

  await callRpc(service, 'create_order', person.id, 'pro', `key of ${person.email}`);
  const attempt = await order();
  await deliver(
    service,
    paymentFailed({ ...attempt.money, error_description: `${person.vpa} of ${person.name} is not known` }),
  );
  const bought = await order();
  await verify(bought);
  await deliver(service, paymentCaptured(bought.money));
  await deliver(service, orderPaid(bought.money, { id: bought.orderId }));
  await deliver(service, paymentCaptured({ ...bought.money, id: uniqueId('pay') }));
  await deliver(service, refundEvent(bought.money, 100));
  await deliver(service, disputeEvent('created', 'open', bought.money));
  await deliver(service, paymentCaptured({ ...(await order(1)).money }));

  const cycle = {
    userId: person.id,
    id: subscription,
    planId: 'plan_pro',
    start: iso(start),
    end: iso(start + 30 * day),
  };
  await deliver(service, subscriptionEvent({ name: 'activated', ...cycle, createdAt: iso(start) }));
  const payment = { ...of, id: charge, amount: 99900, order_id: uniqueId('order_of_cycle') };
  await deliver(service, subscriptionEvent({ name: 'charged', ...cycle, createdAt: iso(start), payment }));
  await deliver(service, paymentCaptured(payment));
  await deliver(service, refundEvent(payment, 100));
  await deliver(service, disputeEvent('created', 'open', payment));

  // Events that wait: for an order, for a plan, for an admin.
  const unknown = { ...of, id: uniqueId('pay'), order_id: uniqueId('order_unknown') };
  await deliver(service, paymentCaptured(unknown));
  await deliver(service, paymentFailed({ ...unknown, error_description: `Declined for ${person.name}` }));
  const team = await createPayment(database, { userId: person.id, meta: { tier: 'team' } });
  await deliver(service, paymentCaptured({ ...of, id: uniqueId('pay'), order_id: team.orderId }));
  await database.query(
    "alter table billing.gateway_subscriptions add constraint poison_check check (gateway_plan_id <> 'x')",
  );
  const poisoned = { userId: person.id, planId: 'x', start: iso(start), end: iso(start + 30 * day) };
  for (const outcome of ['failed: 23514', 'parked']) {
    const body = subscriptionEvent({ name: 'activated', ...poisoned, id: uniqueId('sub'), createdAt: iso(start) });
    expect(await deliver(service, body)).toBe('failed: 23514');
    await database.query("update billing.gateway_events set outcome = $2 where body_sha256 = decode($1, 'hex')", [
      sha256(body),
      outcome,
    ]);
  }
  await database.query('alter table billing.gateway_subscriptions drop constraint poison_check');

  const until = new Date(start + 365 * day).toISOString();
  await grantTier(database, person.id, 'premium', until, `thanks, ${person.name}`);
  await database.query("update public.subscriptions set tier = 'basic' where user_id = $1", [person.id]);
  await database.query(
    "insert into billing.marks (kind, key, detail) values ('settle_failure', $1, '23514')",
    [person.id],
  );
  await callRpc(service, 'cancel_subscription', person.id, false);
  await database.query(
    `update billing.outbox set delivered_at = billing.clock() where payload ->> 'to' = $1 and kind = 'payment-success'`,
    [person.email],
  );
  await database.query(
    `update billing.outbox set parked_at = billing.clock(), claims = array[gen_random_uuid()]
     where payload ->> 'to' = $1 and kind = 'payment-failed'`,
    [person.email],
  );
  return { subscription, charge };
}

const columnsAfterDeletion = [
  'billing.deleted_users.user_id',
  'billing.gateway_events.payload',
  'billing.gateway_subscriptions.user_id',
  'billing.outbox.payload',
  'billing.support_actions.email',
  'billing.support_actions.reason',
  'billing.support_actions.user_id',
  'billing.tier_changes.reference',
  'billing.tier_changes.user_id',
];

describe('a deleted user', () => {
  test('leaves no personal data in any table after 90 days', async () => {
    const person = await createPerson();
    const { subscription, charge } = await createRecords(person);
    expect(await columnsNaming(withoutId(person))).toEqual([
      'billing.gateway_events.payload',
      'billing.grants.reason',
      'billing.outbox.payload',
      'billing.support_actions.email',
      'billing.support_actions.reason',
      'billing.tier_changes.reference',
      'public.payments.idempotency_keys',
      'public.payments.meta',
      'public.profiles.display_name',
    ]);
    await setTime(deletedAt);
    await deleteUser(person);
    await database.query(sweep);
    expect(await columnsNaming(person)).toEqual(columnsAfterDeletion);

    await setTime(deletedAt + 90 * day - 1000);
    await database.query(sweep);
    // The mails and the events are older than the deletion.
    expect(await columnsNaming(person)).toEqual([
      'billing.deleted_users.user_id',
      'billing.gateway_subscriptions.user_id',
      'billing.support_actions.email',
      'billing.support_actions.reason',
      'billing.support_actions.user_id',
      'billing.tier_changes.reference',
      'billing.tier_changes.user_id',
    ]);
    expect(await refundsOf(charge)).toHaveLength(1);

    await setTime(deletedAt + 90 * day + 1000);
    await database.query(sweep);
    expect(await columnsNaming(person)).toEqual([]);
    expect((await database.one('select billing.sweep() as done')).done).toBe(0);
    expect(
      await database.query('select from billing.gateway_subscriptions where gateway_subscription_id = $1', [
        subscription,
      ]),
    )
      .toEqual([]);
  });

  test('keeps the payments for accounting, and the hashes of the events', async () => {
    const person = await createPerson();
    await createRecords(person);
    const accounts = async () =>
      await database.query(`
        select id, amount, currency, status, tier, gateway_order_id, gateway_payment_id, gateway_subscription_id, captured_at, confirmed_at,
          refunded_amount, dispute_status, period_start, period_end, created_at
        from public.payments order by id`);
    const hashes = async () =>
      await database.query(
        'select body_sha256, event, subject_id, deliveries, received_at from billing.gateway_events order by 1',
      );
    const before = [await accounts(), await hashes()];
    await setTime(deletedAt);
    await deleteUser(person);
    await setTime(deletedAt + 91 * day);
    await database.query(sweep);
    expect([await accounts(), await hashes()]).toEqual(before);
    expect(await refundsOfPayments()).toEqual([{ amount: '100' }, { amount: '100' }]);
  });

  test('does not change the rows of another user', async () => {
    const person = await createPerson();
    const other = await createPerson();
    await createRecords(person);
    await createRecords(other);
    await setTime(deletedAt);
    await deleteUser(person);
    const before = await rowsOf(other);
    await setTime(deletedAt + 91 * day);
    for (let n = 0; n < 5; n += 1) await database.query('select billing.erase_deleted_users()');
    expect(await rowsOf(other)).toEqual(before);
    expect(before.flat().length).toBeGreaterThan(10);
  });

  test('who is restored under the same id keeps every row', async () => {
    const person = await createPerson();
    await createRecords(person);
    await setTime(deletedAt);
    await deleteUser(person);
    await database.query('alter table auth.users disable trigger user');
    await database.query('insert into auth.users (id, email) values ($1, $2)', [person.id, person.email]);
    await database.query('alter table auth.users enable trigger user');
    const before = await rowsOf(person);
    await setTime(deletedAt + 91 * day);
    expect((await database.one('select billing.erase_deleted_users() as done')).done).toBeGreaterThan(0);
    expect((await database.one('select billing.erase_deleted_users() as done')).done).toBe(0);
    expect(await rowsOf(person)).toEqual(before);
    expect(await database.query('select from billing.deleted_users')).toEqual([]);
  });

  test('who signs up again under the same id is not a deleted user', async () => {
    const person = await createPerson();
    await deleteUser(person);
    await database.query('insert into auth.users (id, email) values ($1, $2)', [person.id, person.email]);
    expect(await database.query('select from billing.deleted_users')).toEqual([]);
  });
});

describe('an event about a deleted user', () => {
  async function deleted(daysAgo: number): Promise<{ person: Person; orderId: string }> {
    const person = await createPerson();
    const { orderId } = await createPayment(database, { userId: person.id });
    await deleteUser(person);
    await setTime(start + daysAgo * day);
    await database.query(sweep);
    return { person, orderId };
  }
  const charged = (person: Person, id: string) =>
    subscriptionEvent({
      name: 'charged',
      userId: person.id,
      id,
      planId: 'plan_pro',
      start: iso(start + 30 * day),
      end: iso(start + 60 * day),
      createdAt: iso(start + 30 * day),
      payment: { ...personalFields(person), id: uniqueId('pay'), amount: 99900 },
    });

  test.each([1, 91, 400])(
    'that arrives %i days later enqueues a cancellation at the gateway; its payload is not stored',
    async (days) => {
      const { person } = await deleted(days);
      const id = uniqueId('sub');
      const body = charged(person, id);
      expect(await deliver(service, body)).toBe('applied');
      expect(await readLedger(database, sha256(body))).toMatchObject({ subject_id: id, outcome: 'applied' });
      expect(await database.query('select key from billing.outbox where payload is not null')).toContainEqual({
        key: `cancel-subscription/${id}`,
      });
      expect(await database.query('select from billing.gateway_events where payload is not null')).toEqual([]);
      if (days > 90) expect(await columnsNaming(person)).toEqual([]);
    },
  );

  test('that fails is applied by its next delivery, and its payload is emptied', async () => {
    const { person } = await deleted(91);
    const id = uniqueId('sub');
    const body = charged(person, id);
    await database.query(
      "alter table billing.outbox add constraint poison_check check (kind <> 'cancel-subscription')",
    );
    expect(await deliver(service, body)).toBe('failed: 23514');
    await database.query('alter table billing.outbox drop constraint poison_check');
    expect(await deliver(service, body)).toBe('applied');
    await setTime(start + 182 * day);
    await database.query(sweep);
    expect(await columnsNaming(person)).toEqual([]);
  });

  test('that is parked for 90 days is emptied, is no finding, and cannot be applied again', async () => {
    const { person } = await deleted(91);
    const body = charged(person, uniqueId('sub'));
    await database.query(
      "alter table billing.outbox add constraint poison_check check (kind <> 'cancel-subscription')",
    );
    await deliver(service, body);
    await setTime(start + 92 * day);
    expect(await deliver(service, body)).toBe('parked');
    expect(await database.query('select outcome from billing.failed_events')).toEqual([{ outcome: 'parked' }]);
    await setTime(start + 182 * day);
    await database.query(sweep);
    await database.query('alter table billing.outbox drop constraint poison_check');
    expect(await database.query('select from billing.failed_events')).toEqual([]);
    expect(await database.query('select from billing.unsettled_events')).toEqual([]);
    const replayed = await database.one("select billing.replay_event(decode($1, 'hex')) as outcome", [sha256(body)]);
    expect(replayed).toEqual({ outcome: 'ignored: user deleted' });
    expect(await columnsNaming(person)).toEqual([]);
  });

  test.each([
    [1, 'before'],
    [1, 'after'],
    [100, 'before'],
    [100, 'after'],
  ])('that captures a cycle %i days later, %s its charge, leaves no personal data a day later', async (days, when) => {
    const person = await createPerson();
    const id = uniqueId('sub');
    const of = { userId: person.id, id, planId: 'plan_pro' };
    const first = { start: iso(start), end: iso(start + 30 * day), createdAt: iso(start) };
    await deliver(service, subscriptionEvent({ name: 'activated', ...of, ...first }));
    await deleteUser(person);
    const at = start + days * day;
    await setTime(at);
    await database.query(sweep);
    const payment = {
      ...personalFields(person),
      id: uniqueId('pay'),
      amount: 99900,
      order_id: uniqueId('order_of_cycle'),
    };
    const next = { start: iso(at), end: iso(at + 30 * day), createdAt: iso(at) };
    const events = [paymentCaptured(payment), subscriptionEvent({ name: 'charged', ...of, ...next, payment })];
    for (const body of when === 'before' ? events : events.toReversed()) await deliver(service, body);
    await setTime(Math.max(at, start + 90 * day) + day + 1000);
    await database.query(sweep);
    expect(await columnsNaming(person)).toEqual([]);
  });

  test('of an unhandled type is emptied 90 days after the deletion, however late it arrived', async () => {
    const { person, orderId } = await deleted(60);
    const body = paymentCaptured({ ...personalFields(person), id: uniqueId('pay'), order_id: orderId })
      .replace('payment.captured', 'payment.authorized');
    expect(await deliver(service, body)).toBe('ignored: not handled');
    expect(await columnsNaming(withoutId(person))).toEqual(['billing.gateway_events.payload']);
    await setTime(start + 90 * day + 1000);
    await database.query(sweep);
    expect(await columnsNaming(person)).toEqual([]);
  });

  test.each(['captured', 'refunded', 'disputed'] as const)(
    'about a payment of a cycle that was %s is stored with a reduced payload',
    async (what) => {
      const person = await createPerson();
      const money = {
        ...personalFields(person),
        id: uniqueId('pay'),
        amount: 99900,
        order_id: uniqueId('order_of_cycle'),
      };
      const cycle = { start: iso(start), end: iso(start + 30 * day), createdAt: iso(start) };
      await deliver(
        service,
        subscriptionEvent({ name: 'charged', userId: person.id, ...cycle, payment: { id: money.id, amount: 99900 } }),
      );
      await deleteUser(person);
      const bodies = {
        captured: paymentCaptured(money),
        refunded: refundEvent(money, 100),
        disputed: disputeEvent('created', 'open', money),
      };
      await deliver(service, bodies[what]);
      expect(await columnsNaming({ ...withoutId(person), name: person.email })).toEqual([]);
    },
  );

  test('payment.failed is recorded without the bank’s error text', async () => {
    const { person, orderId } = await deleted(1);
    const money = { ...personalFields(person), id: uniqueId('pay'), order_id: orderId };
    expect(await deliver(service, paymentFailed({ ...money, error_description: `${person.vpa} is wrong` }))).toBe(
      'applied',
    );
    expect(await columnsNaming(withoutId(person))).toEqual([]);
    expect(await database.one('select status, meta from public.payments')).toEqual({
      status: 'failed',
      meta: { tier: 'pro' },
    });
  });

  test('payment.failed that fails to apply also stores no error text of the bank', async () => {
    const { person, orderId } = await deleted(1);
    await database.query("alter table public.payments add constraint poison_check check (status <> 'failed')");
    const money = { ...personalFields(person), id: uniqueId('pay'), order_id: orderId };
    const body = paymentFailed({ ...money, error_description: `${person.vpa} is wrong` });
    expect(await deliver(service, body)).toBe('failed: 23514');
    await database.query('alter table public.payments drop constraint poison_check');
    expect(await columnsNaming(withoutId(person))).toEqual([]);
    expect(await deliver(service, body)).toBe('applied');
  });

  test('at the same time as the erasure leaves no personal data', async () => {
    const person = await createPerson();
    await deleteUser(person);
    await setTime(start + 91 * day);
    const body = charged(person, uniqueId('sub'));
    const eraser = await database.connect();
    await eraser.query('begin');
    await eraser.query('select billing.erase_deleted_users()');
    const delivery = deliver(service, body);
    await waitUntilBlocked(database, service);
    await eraser.query('commit');
    expect(await delivery).toBe('applied');
    expect(await columnsNaming(person)).toEqual([]);
  });
});

describe('the bank’s error text', () => {
  const errorText = 'Name of the customer is wrong';
  const stored = () =>
    database.query('select payload from billing.gateway_events where payload::text like $1', [`%${errorText}%`]);

  test('is stored with an event that waits for its order, for 90 days at most', async () => {
    const unknown = { id: uniqueId('pay'), order_id: uniqueId('order') };
    const body = paymentFailed({ ...unknown, error_description: errorText });
    expect(await deliver(service, body)).toBe('unmatched');
    await setTime(start + 90 * day);
    await database.query(sweep);
    expect(await stored()).toHaveLength(1);
    await setTime(start + 90 * day + 1);
    await database.query(sweep);
    expect(await stored()).toEqual([]);
    const person = await createPerson();
    const { id } = await createPayment(database, { userId: person.id, orderId: unknown.order_id });
    expect(await database.one('select status from public.payments where id = $1', [id])).toEqual({ status: 'failed' });
  });

  test('is copied to the payment and the mail of an order that is stored within that time', async () => {
    const unknown = { id: uniqueId('pay'), order_id: uniqueId('order') };
    await deliver(service, paymentFailed({ ...unknown, error_description: errorText }));
    const person = await createPerson();
    const { id } = await createPayment(database, { userId: person.id, orderId: unknown.order_id });
    expect(await database.one("select meta ->> 'error_description' as text from public.payments where id = $1", [id]))
      .toEqual({ text: errorText });
    expect(await database.one("select payload ->> 'reason' as text from billing.outbox where destination = 'email'"))
      .toEqual({ text: errorText });
  });
});

test('a mail is deleted 90 days after it was enqueued, delivered or not; rows for the gateway and the app stay', async () => {
  const person = await createPerson();
  await createRecords(person);
  const others = () =>
    database.query("select key from billing.outbox where destination in ('gateway', 'revalidation') order by key");
  const before = await others();
  expect(await mailTo(person)).toHaveLength(3);
  await setTime(start + 90 * day);
  expect((await database.one('select billing.delete_mails() as deleted')).deleted).toBe(0);
  await setTime(start + 90 * day + 1);
  expect((await database.one('select billing.delete_mails() as deleted')).deleted).toBe(3);
  expect(await mailTo(person)).toEqual([]);
  expect(await others()).toEqual(before);
});

const refundsOf = (paymentId: string) =>
  database.query('select from billing.refunds where gateway_payment_id = $1', [paymentId]);
const refundsOfPayments = () =>
  database.query(`
    select r.amount from billing.refunds r
    join public.payments p on p.gateway_payment_id = r.gateway_payment_id`);

/** The rows of a user, by table. */
async function rowsOf({ id, email }: Person): Promise<Row[][]> {
  const owned = [
    'public.payments',
    'public.profiles',
    'public.subscriptions',
    'billing.gateway_subscriptions',
    'billing.tier_changes',
    'billing.grants',
    'billing.manual_subscriptions',
    'billing.wishes',
  ];
  const rows = owned.map((table) =>
    database.query(`select * from ${table} t where user_id = $1 order by t::text`, [id])
  );
  const mails = database.query("select * from billing.outbox where payload ->> 'to' = $1 order by id", [email]);
  return await Promise.all([...rows, mails]);
}
