import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver, sha256 } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, paymentFailed, subscriptionEvent } from '../helpers/gateway/events.ts';
import { readLedger, readOutbox, readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // Eight events of these tests stay failed or parked.
  database = await createTestDatabase({ findings: { failed_events: 8 } });
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

async function failedAttempt() {
  const user = await createUser(database);
  const payment = await createPayment(database, { userId: user.id });
  const body = paymentFailed({ id: uniqueId('pay'), order_id: payment.orderId, error_code: 'BAD' });
  return { user, payment, body };
}

describe('the ledger', () => {
  test('stores the subject and the outcome of a delivery', async () => {
    const { payment, body } = await failedAttempt();
    expect(await deliver(service, body, 'event_1')).toBe('applied');
    expect(await readLedger(database, sha256(body))).toEqual({
      event_id: 'event_1',
      event: 'payment.failed',
      subject_id: payment.orderId,
      outcome: 'applied',
      error: null,
      deliveries: 1,
      attempts: 1,
    });
  });

  test('counts a repeated delivery under another event id, returns the same outcome and changes nothing', async () => {
    const { user, payment, body } = await failedAttempt();
    await deliver(service, body, 'event_1');
    await database.query("update public.payments set status = 'created' where id = $1", [payment.id]);
    expect(await deliver(service, body, 'event_2')).toBe('applied');
    expect(await readPayment(database, payment.id)).toMatchObject({ status: 'created' });
    expect(await readOutbox(database, 'email', user.email)).toHaveLength(1);
    expect(await readLedger(database, sha256(body))).toMatchObject({ event_id: 'event_1', deliveries: 2, attempts: 1 });
  });

  test('of another account has no effect', async () => {
    const { payment, body } = await failedAttempt();
    const event = JSON.stringify({ ...JSON.parse(body), account_id: 'acc_Others' });
    const answer = await callRpc(service, 'apply_gateway_event', sha256(event), null, event, 'acc_Ours');
    expect(answer).toEqual({ outcome: 'ignored: account' });
    expect(await readPayment(database, payment.id)).toMatchObject({ status: 'created' });
  });

  test('treats another body under the same event id as another event', async () => {
    const [one, other] = [await failedAttempt(), await failedAttempt()];
    await deliver(service, one.body, 'event_same');
    expect(await deliver(service, other.body, 'event_same')).toBe('applied');
  });

  test.each<[string, string | null, string]>([
    ['a body nested too deep', null, 'ignored: nested too deep'],
    ['a list', '[]', 'ignored: not an object'],
    ['a text', '"payment.captured"', 'ignored: not an object'],
    ['null', 'null', 'ignored: not an object'],
    ['no event', '{}', 'ignored: event'],
    ['an event that is no text', '{"event": 7}', 'ignored: event'],
    ['an event of no interest', '{"event": "invoice.paid"}', 'ignored: not handled'],
    ['an event without payload', '{"event": "payment.captured"}', 'ignored: payment.entity'],
    [
      'a list as the entity',
      '{"event": "payment.failed", "payload": {"payment": {"entity": []}}}',
      'ignored: payment.entity',
    ],
    [
      'the entity of something else',
      '{"event": "subscription.charged", "payload": {"payment": {"entity": {}}}}',
      'ignored: subscription.entity',
    ],
  ])('stores %s as ignored, also after a repeated delivery', async (_, body, outcome) => {
    const hash = sha256(uniqueId('body'));
    for (let i = 0; i < 2; i++) {
      expect(await callRpc(service, 'apply_gateway_event', hash, null, body)).toEqual({ outcome });
    }
    expect(await readLedger(database, hash)).toMatchObject({ outcome, deliveries: 2, attempts: 1 });
  });

  test('accepts ids far longer than any real one', async () => {
    // Random text: long text that compresses well would still fit into an index.
    const long = Array.from({ length: 200 }, () => crypto.randomUUID()).join('');
    const { payment } = await failedAttempt();
    expect(await deliver(service, paymentCaptured({ id: long, order_id: long, amount: undefined }))).toBe('unmatched');
    expect(await deliver(service, paymentFailed({ id: long, order_id: long }))).toBe('unmatched');
    expect(await deliver(service, paymentFailed({ id: long, order_id: payment.orderId }))).toBe('applied');
    const user = await createUser(database);
    expect(await deliver(service, subscriptionEvent({ name: 'cancelled', userId: user.id, id: long }))).toBe(
      'unmatched',
    );
  });
});

describe('an event whose effect raises an error', () => {
  /** Makes the insert of the failure mail of one order fail, after the update of the payment. */
  async function breakMailOf(orderId: string, sqlstate: string): Promise<() => Promise<unknown>> {
    await database.query(`
      create function billing.break_mail() returns trigger language plpgsql as $$
      begin
        if new.destination = 'email' and exists (
          select from public.payments p where p.gateway_order_id = '${orderId}' and p.status = 'failed'
        ) then
          raise exception 'broken' using errcode = '${sqlstate}';
        end if;
        return new;
      end $$;
      create trigger break_mail before insert on billing.outbox
      for each row execute function billing.break_mail()`);
    return () => database.query('drop function billing.break_mail() cascade');
  }

  test.each(['23514', '23505', '22P02', '22003', 'P0001', '42P01', 'XX000'])(
    'with SQLSTATE %s only its effect is undone, and the error is stored in the ledger',
    async (sqlstate) => {
      const { payment, body } = await failedAttempt();
      const repair = await breakMailOf(payment.orderId, sqlstate);
      try {
        expect(await deliver(service, body)).toBe(`failed: ${sqlstate}`);
        expect(await deliver(service, body)).toBe(`failed: ${sqlstate}`);
      } finally {
        await repair();
      }
      expect(await readPayment(database, payment.id)).toMatchObject({ status: 'created', meta: { tier: 'pro' } });
      expect(await readLedger(database, sha256(body))).toMatchObject({
        outcome: `failed: ${sqlstate}`,
        error: sqlstate,
        deliveries: 2,
        attempts: 2,
      });
    },
  );

  test('is applied by the next delivery after the cause is fixed', async () => {
    const { user, payment, body } = await failedAttempt();
    const repair = await breakMailOf(payment.orderId, '23514');
    await deliver(service, body).finally(repair);
    expect(await deliver(service, body)).toBe('applied');
    expect(await readPayment(database, payment.id)).toMatchObject({ status: 'failed' });
    expect(await readOutbox(database, 'email', user.email)).toHaveLength(1);
    expect(await readLedger(database, sha256(body))).toMatchObject({ outcome: 'applied', error: null, attempts: 2 });
  });

  test('is parked six hours after its first delivery, and not retried by later deliveries', async () => {
    const { payment, body } = await failedAttempt();
    const repair = await breakMailOf(payment.orderId, '23514');
    try {
      await setClock(database, '2026-01-01T00:00:00Z');
      expect(await deliver(service, body)).toBe('failed: 23514');
      await setClock(database, '2026-01-01T05:59:59Z');
      expect(await deliver(service, body)).toBe('failed: 23514');
      await setClock(database, '2026-01-01T06:00:00Z');
      expect(await deliver(service, body)).toBe('parked');
    } finally {
      await setClock(database, null);
      await repair();
    }
    expect(await deliver(service, body)).toBe('parked');
    expect(await readPayment(database, payment.id)).toMatchObject({ status: 'created' });
    expect(await readLedger(database, sha256(body))).toMatchObject({ error: '23514', deliveries: 4, attempts: 3 });
  });

  test.each(['08006', '40001', '53100', '55P03', '57014', '58030'])(
    'with SQLSTATE %s, which a retry can avoid, undoes everything, including the ledger row',
    async (sqlstate) => {
      const { payment, body } = await failedAttempt();
      const repair = await breakMailOf(payment.orderId, sqlstate);
      try {
        await expect(deliver(service, body)).rejects.toMatchObject({ code: sqlstate });
      } finally {
        await repair();
      }
      const rows = await database.query("select from billing.gateway_events where body_sha256 = decode($1, 'hex')", [
        sha256(body),
      ]);
      expect(rows).toEqual([]);
      expect(await readPayment(database, payment.id)).toMatchObject({ status: 'created' });
      expect(await deliver(service, body)).toBe('applied');
    },
  );
});

test('an event that fails is undone alone: earlier events keep their effect', async () => {
  const user = await createUser(database);
  const id = uniqueId('sub');
  await database.query("update public.plans set gateway_plan_id = 'plan_fault' where tier = 'premium'");
  const cancelled = subscriptionEvent({ name: 'cancelled', userId: user.id, id, createdAt: '2026-01-03T00:00:00Z' });
  expect(await deliver(service, cancelled)).toBe('unmatched');

  await database.query(
    "alter table public.subscriptions add constraint broken check (status <> 'cancelled') not valid",
  );
  const period = { start: '2026-01-01T00:00:00Z', end: '2126-01-01T00:00:00Z', createdAt: '2026-01-01T00:00:00Z' };
  const activated = subscriptionEvent({ name: 'activated', userId: user.id, id, planId: 'plan_fault', ...period });
  try {
    expect(await deliver(service, activated)).toBe('failed: 23514');
  } finally {
    await database.query('alter table public.subscriptions drop constraint broken');
  }
  expect(await readSubscription(database, user.id)).toBeNull();
  expect(await readLedger(database, sha256(activated))).toMatchObject({ outcome: 'failed: 23514', error: '23514' });
  expect(await readLedger(database, sha256(cancelled))).toMatchObject({ outcome: 'unmatched', error: null });

  expect(await deliver(service, activated)).toBe('applied');
  expect(await readSubscription(database, user.id)).toMatchObject({ tier: 'premium', status: 'cancelled' });
  expect(await readTier(database, user.id)).toBe('free');
  expect(await readLedger(database, sha256(activated))).toMatchObject({ outcome: 'applied', error: null, attempts: 2 });
});
