import { beforeEach, describe, expect, test } from 'vitest';
import { waitUntilBlocked } from '../helpers/database/session.ts';

import { useDatabase } from '../helpers/database/use-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';
import { disputeEvent, orderPaid, paymentCaptured, paymentFailed, refundEvent } from '../helpers/gateway/events.ts';
import { type PaymentFields, subscriptionEvent } from '../helpers/gateway/events.ts';
import { readAllRows, readLedger, readRowsExcept } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';
import { grantTier } from '../helpers/records/support-actions.ts';
import { repeatUntil } from '../helpers/project/repeat-until.ts';

const database = useDatabase({ findings: 'compared elsewhere' });
beforeEach(async () => {
  await database.at(after(0));
  await database.query('alter table public.receipts disable trigger user');
  await database.query(`
    truncate auth.users, public.payments, billing.outbox, billing.gateway_events, billing.gateway_subscriptions,
      billing.refunds, billing.deleted_users, billing.tier_changes cascade`);
  await database.query('alter table public.receipts enable trigger user');
});

const after = (days: number, seconds = 0) => new Date(Date.UTC(2026, 0, 1 + days, 0, 0, seconds)).toISOString();
const count = async (what: string) => (await database.one(`select count(*)::int from ${what}`)).count;
const erase = async () => (await database.one('select billing.erase_deleted_users() as done')).done;

type Person = Awaited<ReturnType<typeof createPerson>>;
/**
 * A user with unique personal data, `texts`, as the gateway's events, the mails and the profile contain it. `fields` are
 * those of a payment entity, for UPI and card.
 */
async function createPerson() {
  const [id, word] = [crypto.randomUUID(), uniqueId('p').replace('_', '')];
  const [email, phone, vpa, name] = [`mail.${word}@example.com`, `+9198${word}`, `vpa.${word}@upi`, `Name ${word}`];
  await insertUser({ id, email });
  await database.query('update public.profiles set display_name = $2 where user_id = $1', [id, name]);
  const fields = {
    ...{ email, contact: phone, vpa, description: `Plan for ${name}` },
    card: { entity: 'card', name, last4: '5558' },
    bank_account: { name, account_number: '916010082985661' },
    upi: { payer_account_type: 'bank_account', vpa },
    notes: { customer: name, email },
    customer_details: { name, email, contact: phone },
  };
  const texts = [email, phone, vpa, name];
  return { id, email, texts, words: [...texts, id], fields };
}
const insertUser = ({ id, email }: Pick<Person, 'id' | 'email'>) =>
  database.query('insert into auth.users (id, email) values ($1, $2)', [id, email]);
const deleteUser = ({ id }: Person) => database.query('delete from auth.users where id = $1', [id]);
const money = ({ fields }: Person, order_id = uniqueId('order')) => {
  return { ...fields, id: uniqueId('pay'), amount: 99900, order_id };
};

/** The columns of our tables that contain one of these words: `schema.table.column`, sorted. */
async function columnsNaming(words: string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const [table, rows] of Object.entries(await readAllRows(database))) {
    for (const row of String(rows ?? '{}').split('\n')) {
      for (const [column, value] of Object.entries(JSON.parse(row))) {
        const text = JSON.stringify(value).toLowerCase();
        if (words.some((word) => text.includes(word.toLowerCase()))) found.add(`${table}.${column}`);
      }
    }
  }
  return [...found].sort();
}

/** An event of a cycle that begins some days after the start, with its payment. */
const eventOf = (
  person: Person,
  name: 'activated' | 'charged',
  days: number,
  id = uniqueId('sub'),
  payment: PaymentFields = money(person),
) => {
  const cycle = { start: after(days), end: after(days + 30), createdAt: after(days) };
  return subscriptionEvent({ name, userId: person.id, id, planId: 'plan_pro', ...cycle, payment });
};
/** Runs a function while a table refuses the rows that break a condition. */
async function whileRefused(table: string, condition: string, run: () => Promise<unknown>): Promise<void> {
  await database.query(`alter table ${table} add constraint poison_check check (${condition}) not valid`);
  await run();
  await database.query(`alter table ${table} drop constraint poison_check`);
}

/** Creates every record that the service can store about a user. @returns the payment of a cycle */
async function createRecords(person: Person): Promise<string> {
  const { id, email, texts: [, , vpa, name] } = person;
  const order = async (amount = 99900, tier = 'pro') =>
    money(person, (await createPayment(database, { userId: id, amount, meta: { tier, buyer: name } })).orderId);
  await database.rpc('create_order', id, 'pro', `key of ${email}`);
  const [bought, charged, unknown, subscription] = [await order(), money(person), money(person), uniqueId('sub')];
  await database.send(paymentFailed({ ...await order(), error_description: `${vpa} of ${name} is not known` }));
  await database.rpc('verify_payment', id, bought.order_id, bought.id, 'signature');
  const events = [
    paymentCaptured(bought),
    orderPaid(bought, { id: bought.order_id }),
    paymentCaptured({ ...bought, id: uniqueId('pay') }),
    refundEvent(bought, 100),
    disputeEvent('created', 'open', bought),
    paymentCaptured({ ...await order(1), amount: 99900 }),
    eventOf(person, 'activated', 0, subscription),
    eventOf(person, 'charged', 0, subscription, charged),
    paymentCaptured(charged),
    refundEvent(charged, 100),
    disputeEvent('created', 'open', charged),
    // Events that wait: for an order, for a plan, for an admin.
    paymentCaptured(unknown),
    paymentFailed({ ...unknown, error_description: `Declined for ${name}` }),
    paymentCaptured(await order(99900, 'team')),
  ];
  for (const body of events) await database.send(body);
  await whileRefused('billing.gateway_subscriptions', 'false', async () => {
    for (const outcome of ['failed: 23514', 'parked']) {
      const body = eventOf(person, 'activated', 0);
      expect(await database.send(body)).toBe('failed: 23514');
      const update = "update billing.gateway_events set outcome = $2 where body_sha256 = decode($1, 'hex')";
      await database.query(update, [sha256(body), outcome]);
    }
  });
  await grantTier(database, id, 'premium', after(365), `thanks, ${name}`);
  await database.query("update public.subscriptions set tier = 'basic' where user_id = $1", [id]);
  await database.query("insert into billing.marks (kind, key, detail) values ('settle_failure', $1, '23514')", [id]);
  await database.rpc('cancel_subscription', id, false);
  await database.query(
    `update billing.outbox set delivered_at = case kind when 'payment-success' then billing.clock() end,
       parked_at = case kind when 'payment-failed' then billing.clock() end, claims = array[gen_random_uuid()]
     where payload ->> 'to' = $1 and kind like 'payment-%'`,
    [email],
  );
  return charged.id;
}

/** The rows that name a user, but those of the deletion and of the ledger. */
async function rowsOf({ id, email }: Person): Promise<string[]> {
  const rows = Object.values(await readRowsExcept(database, ['billing.deleted_users', 'billing.gateway_events']));
  return rows.flatMap((lines) => String(lines ?? '').split('\n')).filter((row) =>
    row.includes(id) || row.includes(email)
  );
}

const personalColumns = `billing.gateway_events.payload billing.grants.reason billing.outbox.payload
  billing.support_actions.email billing.support_actions.reason billing.tier_changes.reference
  public.payments.idempotency_keys public.payments.meta public.profiles.display_name`.split(/\s+/);
const keptFor90Days = `billing.deleted_users.user_id billing.gateway_subscriptions.user_id billing.support_actions.email
  billing.support_actions.reason billing.support_actions.user_id billing.tier_changes.reference
  billing.tier_changes.user_id`.split(/\s+/);

describe('a deleted user', () => {
  test('leaves no personal data after 90 days; payments, hashes of events and the rows of others stay', async () => {
    const [person, other] = [await createPerson(), await createPerson()];
    const charge = await createRecords(person);
    await createRecords(other);
    const kept = () =>
      Promise.all([
        `select id, amount, currency, status, tier, gateway_order_id, gateway_payment_id, gateway_subscription_id,
           captured_at, confirmed_at, refunded_amount, dispute_status, period_start, period_end, created_at
         from public.payments order by id`,
        'select body_sha256, event, subject_id, deliveries, received_at from billing.gateway_events order by 1',
        'select r.amount from billing.refunds r join public.payments using (gateway_payment_id)',
      ].map((sql) => database.query(sql)));
    const before = await kept();
    expect(before[2]).toEqual(Array(4).fill({ amount: '100' }));
    expect(await columnsNaming(person.texts)).toEqual(personalColumns);

    await database.at(after(20));
    await deleteUser(person);
    await database.sweep();
    const eventsAndMails = ['billing.gateway_events.payload', 'billing.outbox.payload'];
    expect(await columnsNaming(person.words)).toEqual([...keptFor90Days, ...eventsAndMails].sort());
    await database.sweep(after(110, -1));
    expect(await columnsNaming(person.words), 'events and mails are older than the deletion').toEqual(keptFor90Days);
    expect(await count(`billing.refunds where gateway_payment_id = '${charge}'`)).toBe(1);

    await database.at(after(110, 1));
    const others = await rowsOf(other);
    await repeatUntil('nobody is left to erase', 1000, async () => await erase() === 0);
    expect(await rowsOf(other)).toEqual(others);
    expect(others.length).toBeGreaterThan(10);
    await database.sweep();
    expect(await columnsNaming(person.words)).toEqual([]);
    expect(await count(`billing.gateway_subscriptions where user_id <> '${other.id}'`)).toBe(0);
    expect(await kept()).toEqual(before);
  });

  test('who is restored under the same id keeps every row', async () => {
    const person = await createPerson();
    await createRecords(person);
    await database.at(after(20));
    await deleteUser(person);
    await database.query('alter table auth.users disable trigger user');
    await insertUser(person);
    await database.query('alter table auth.users enable trigger user');
    const before = await rowsOf(person);
    await database.at(after(111));
    expect(await erase()).toBeGreaterThan(0);
    expect(await erase()).toBe(0);
    expect(await rowsOf(person)).toEqual(before);
    expect(await count('billing.deleted_users')).toBe(0);
  });

  test('who signs up again under the same id is not a deleted user', async () => {
    const { person } = await deleted(1);
    await insertUser(person);
    expect(await count('billing.deleted_users')).toBe(0);
  });
});

async function deleted(daysAgo: number) {
  const person = await createPerson();
  const { orderId } = await createPayment(database, { userId: person.id });
  await deleteUser(person);
  await database.sweep(after(daysAgo));
  return { person, orderId };
}

describe('an event about a deleted user', () => {
  const charged = (person: Person, id = uniqueId('sub')) => eventOf(person, 'charged', 30, id);

  test.each([1, 91])('that arrives %i days later cancels at the gateway; its payload is not stored', async (days) => {
    const { person } = await deleted(days);
    const id = uniqueId('sub');
    const body = charged(person, id);
    expect(await database.send(body)).toBe('applied');
    expect(await readLedger(database, sha256(body))).toMatchObject({ subject_id: id, outcome: 'applied' });
    const sent = await database.query('select key from billing.outbox where payload is not null');
    expect(sent).toContainEqual({ key: `cancel-subscription/${id}` });
    expect(await count('billing.gateway_events where payload is not null')).toBe(0);
    if (days > 90) expect(await columnsNaming(person.words)).toEqual([]);
  });

  test.each([30, 100, 130])('that charges a cycle %i days later is a finding for 90 days', async (days) => {
    const { person } = await deleted(days);
    const payment = money(person);
    await database.send(eventOf(person, 'charged', days, uniqueId('sub'), payment));
    await database.sweep(after(days + 89));
    const findings = "select subject from billing.findings where finding = 'charged_after_deletion'";
    expect(await database.query(findings)).toEqual([{ subject: payment.id }]);
    await database.sweep(after(days + 91));
    expect(await columnsNaming(person.words)).toEqual([]);
  });

  test('that is parked for 90 days is emptied, is no finding, and cannot be applied again', async () => {
    const { person } = await deleted(91);
    const body = charged(person);
    await whileRefused('billing.outbox', "kind <> 'cancel-subscription'", async () => {
      expect(await database.send(body)).toBe('failed: 23514');
      await database.at(after(92));
      expect(await database.send(body)).toBe('parked');
      expect(await count('billing.failed_events')).toBe(1);
      await database.sweep(after(182));
    });
    expect([await count('billing.failed_events'), await count('billing.unsettled_events')]).toEqual([0, 0]);
    const replayed = await database.one("select billing.replay_event(decode($1, 'hex')) as outcome", [sha256(body)]);
    expect(replayed).toEqual({ outcome: 'ignored: user deleted' });
    expect(await columnsNaming(person.words)).toEqual([]);
  });

  test.each([[1, 'before'], [1, 'after'], [100, 'before'], [100, 'after']])(
    'that captures a cycle %i days later, %s its charge, leaves no personal data a day later',
    async (days, when) => {
      const [person, id] = [await createPerson(), uniqueId('sub')];
      await database.send(eventOf(person, 'activated', 0, id));
      await deleteUser(person);
      await database.sweep(after(days));
      const payment = money(person);
      const events = [paymentCaptured(payment), eventOf(person, 'charged', days, id, payment)];
      for (const body of when === 'before' ? events : events.toReversed()) await database.send(body);
      await database.sweep(after(Math.max(days, 90) + 1, 1));
      expect(await columnsNaming(person.words)).toEqual([]);
    },
  );

  test('of an unhandled type is emptied 90 days after the deletion, however late it arrived', async () => {
    const { person, orderId } = await deleted(60);
    const body = paymentCaptured(money(person, orderId)).replace('payment.captured', 'payment.authorized');
    expect(await database.send(body)).toBe('ignored: not handled');
    expect(await columnsNaming(person.texts)).toEqual(['billing.gateway_events.payload']);
    await database.sweep(after(90, 1));
    expect(await columnsNaming(person.words)).toEqual([]);
  });

  test('about a payment of a cycle is stored with a reduced payload: capture, refund and dispute', async () => {
    const person = await createPerson();
    const of = money(person);
    await database.send(eventOf(person, 'charged', 0, uniqueId('sub'), { id: of.id, amount: 99900 }));
    await deleteUser(person);
    for (const body of [paymentCaptured(of), refundEvent(of, 100), disputeEvent('created', 'open', of)]) {
      await database.send(body);
      expect(await columnsNaming(person.texts.slice(0, 3))).toEqual([]);
    }
  });

  test('payment.failed is recorded without the bank’s error text, also where it first fails to apply', async () => {
    const { person, orderId } = await deleted(1);
    const body = paymentFailed({ ...money(person, orderId), error_description: `${person.texts[2]} is wrong` });
    await whileRefused('public.payments', "status <> 'failed'", async () => {
      expect(await database.send(body)).toBe('failed: 23514');
    });
    expect(await columnsNaming(person.texts)).toEqual([]);
    expect(await database.send(body)).toBe('applied');
    expect(await columnsNaming(person.texts)).toEqual([]);
    const stored = await database.one('select status, meta from public.payments');
    expect(stored).toEqual({ status: 'failed', meta: { tier: 'pro' } });
  });

  test('at the same time as the erasure leaves no personal data', async () => {
    const person = await createPerson();
    await deleteUser(person);
    await database.at(after(91));
    const eraser = await database.connect();
    await eraser.query('begin; select billing.erase_deleted_users()');
    const delivery = database.send(charged(person));
    await waitUntilBlocked(database, database.service);
    await eraser.query('commit');
    expect(await delivery).toBe('applied');
    expect(await columnsNaming(person.words)).toEqual([]);
  });
});

test.each([
  ['90 days later it is in payment and mail', after(90), 'Wrong name', 1],
  ['after that the event applies without it', after(90, 1), null, 0],
])('the bank’s error text of an event that waits for its order: %s', async (_, at, text, count) => {
  const [order_id, error_description] = [uniqueId('order'), 'Wrong name'];
  expect(await database.send(paymentFailed({ order_id, error_description }))).toBe('unmatched');
  await database.sweep(at);
  await createPayment(database, { userId: (await createPerson()).id, orderId: order_id });
  const stored = await database.one("select status, meta ->> 'error_description' as text from public.payments");
  expect(stored).toEqual({ status: 'failed', text });
  const mails = "select from billing.outbox where payload ->> 'reason' = $1";
  expect(await database.query(mails, [error_description])).toHaveLength(count);
});
