import { beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import {
  changeEnvelope,
  type Fields,
  paymentCaptured,
  paymentFailed,
  seconds,
  type SubscriptionEvent,
  subscriptionEvent,
} from '../helpers/gateway/events.ts';
import { answer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { poolSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import {
  ledgerRow,
  paymentOfOrder,
  readAllRows,
  readRowsBesidesLedger,
  subscriptionOf,
} from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

// A subscription row written by hand. Findings are compared while its period runs.
const project = useProject({ findings: { entitled_not_paid: 1 }, at: '2026-10-01T00:00:00Z' });
const received = { status: 200, body: { received: true } };
const cycle = { start: '2026-09-21T14:13:20Z', end: '2026-10-21T14:13:20Z' };

/** An event of the user's gateway subscription in its cycle. */
const event = (name: SubscriptionEvent['name'], fields: Fields = {}, id = uniqueId('sub')) =>
  subscriptionEvent({ name, userId, id, planId: 'plan_unknown', ...cycle, createdAt: '2026-09-21T14:15:00Z', fields });

/** JSON values of every type but string. */
const odd = [null, 7, -1.5, true, [], ['x'], {}, { id: 'x' }];
const noTime = [null, 'x', '1790000000', true, [], {}, -1, 1.5, 253402300800];

/** A user with a subscription that every valid event about them would change. */
let userId: string;
/** An order that a valid payment.failed would change. It is the user's only order; another payment has no order id. */
let orderId: string;
/** The end of the newest charged period. */
let currentEnd = seconds(cycle.end);

beforeAll(async () => {
  await setClock(project.database, '2026-10-01T00:00:00Z');
  userId = (await createCaller(project.database)).id;
  await project.database.query(
    `insert into public.subscriptions (user_id, tier, status, current_period_start, current_period_end)
     values ($1, 'pro', 'active', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z')`,
    [userId],
  );
  ({ orderId } = await createPayment(project.database, { userId }));
  await project.database.query("insert into public.payments (user_id, amount, meta) values ($1, 100, '{}')", [userId]);
});

describe.each(poolSample)('%s', (target) => {
  const service = useService(target, project);

  // A body that another target delivered would count as a repeated delivery.
  beforeAll(() => project.database.query('delete from billing.gateway_events'));

  /** Delivers bodies at once, and asserts that they write only ledger rows. */
  async function ignored(bodies: unknown[], outcome: unknown = expect.stringMatching(/^ignored: /)): Promise<void> {
    const before = await readRowsBesidesLedger(project.database);
    const answers = await Promise.all(bodies.map(async (body) => await answer(postWebhook(service, body))));
    expect(answers).toEqual(bodies.map(() => received));
    expect(await readRowsBesidesLedger(project.database)).toEqual(before);
    const rows = await Promise.all(bodies.map((body) => ledgerRow(project.database, body)));
    expect(rows.map((row) => row?.outcome)).toEqual(bodies.map(() => outcome));
  }

  test('POST /api/webhooks/gateway with payment.captured whose id is missing or not a string → 200, ignored', async () => {
    await ignored([...odd, undefined].map((id) => paymentCaptured({ id, order_id: orderId })));
  });

  test('POST /api/webhooks/gateway with payment.failed whose order_id is missing or not a string → 200, ignored', async () => {
    await ignored([...odd, undefined].map((order_id) => paymentFailed({ order_id })));
  });

  test.each(['activated', 'charged', 'cancelled'] as const)(
    'POST /api/webhooks/gateway with subscription.%s whose notes.user_id is missing or not a UUID → 200, ignored',
    async (name) => {
      const users = [...odd, undefined, '', 'nobody', `${userId}x`, ` ${userId}`, `{${userId}}`, '1 or 1=1'];
      const notes = [...odd, undefined, 'x', userId, ...users.map((user_id) => ({ user_id }))];
      await ignored(notes.map((notes) => event(name, { notes })));
    },
  );

  test.each(['activated', 'charged'] as const)(
    'POST /api/webhooks/gateway with subscription.%s whose period is invalid → 200, ignored',
    async (name) => {
      const times = [...noTime, undefined].flatMap((time) => [{ current_start: time }, { current_end: time }]);
      await ignored(times.map((fields) => event(name, fields)));
    },
  );

  test('POST /api/webhooks/gateway with subscription.charged and a period of nulls → 200, ignored', async () => {
    await ignored([event('charged', { current_start: null, current_end: null })]);
  });

  test('POST /api/webhooks/gateway with the entity missing or not an object → 200, ignored', async () => {
    for (const event of ['payment.captured', 'payment.failed', 'subscription.cancelled']) {
      const name = event.split('.')[0] ?? '';
      const values = [...odd.filter((value) => !isObject(value)), 'x'];
      const payloads = values.flatMap((value) => [value, { [name]: value }, { [name]: { entity: value } }]);
      await ignored([{}, { [name]: {} }, undefined, ...payloads].map((payload) => ({ event, payload })));
    }
  });

  test('POST /api/webhooks/gateway with the entity under another name → 200, ignored', async () => {
    const payload = { payment: { entity: { notes: { user_id: userId } } } };
    await ignored([{ event: 'subscription.cancelled', payload }]);
  });

  test('POST /api/webhooks/gateway with an event name that is not a string → 200, ignored', async () => {
    await ignored([...odd, undefined].map((name) => changeEnvelope(event('cancelled'), { event: name })));
  });

  test.each(['null', '5', 'true', '"payment.captured"', '[]', '[{"event":"payment.captured"}]'])(
    'POST /api/webhooks/gateway with the signed body %s, not an object → 200, ignored',
    async (body) => {
      await ignored([body], 'ignored: not an object');
    },
  );

  test('POST /api/webhooks/gateway nested 65 deep → 200, ignored; 64 deep → 200, applied', async () => {
    const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
    await ignored([changeEnvelope(event('cancelled'), { extra: nested(64) })], 'ignored: nested too deep');
    const { id } = await createCaller(project.database);
    const body = changeEnvelope(event('cancelled', { notes: { user_id: id } }), { extra: nested(63) });
    expect(await answer(postWebhook(service, body))).toEqual(received);
    expect(await ledgerRow(project.database, body)).toMatchObject({ outcome: 'unmatched' });
  });

  test('POST /api/webhooks/gateway with 200,000 brackets → 200, ignored; unclosed → 500', async () => {
    const arrays = '['.repeat(200_000) + ']'.repeat(200_000);
    const objects = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    await ignored([arrays, objects], 'ignored: nested too deep');
    const before = await readAllRows(project.database);
    expect(await answer(postWebhook(service, '['.repeat(200_000)))).toEqual(refusal(500, 'Webhook processing failed'));
    expect(await readAllRows(project.database)).toEqual(before);
  });

  test('POST /api/webhooks/gateway with 1e200000 as a time → 200, ignored', async () => {
    await ignored([event('charged').replace(String(seconds(cycle.start)), '1e200000')]);
  });

  test('POST /api/webhooks/gateway with NUL and lone surrogates in keys and values → 200, stored with U+FFFD', async () => {
    const user = await createCaller(project.database);
    const payment = await createPayment(project.database, { userId: user.id });
    const failed = paymentFailed({ order_id: payment.orderId, error_description: 'A\u0000B\uD800C' });
    const body = changeEnvelope(failed, { 'k\u0000\uDC00': '\u0000' });
    expect(await answer(postWebhook(service, body))).toEqual(received);
    expect(await paymentOfOrder(project.database, payment.orderId))
      .toMatchObject({ status: 'failed', meta: { error_description: 'A\uFFFDB\uFFFDC' } });
    expect(await ledgerRow(project.database, body)).toMatchObject({ payload: { 'k\uFFFD\uFFFD': '\uFFFD' } });
  });

  test('POST /api/webhooks/gateway with NUL in an id → 200, unmatched', async () => {
    const events = [paymentCaptured({ id: 'pay\u0000' }), paymentFailed({ order_id: `${orderId}\u0000` })];
    await ignored(events, 'unmatched');
  });

  test('POST /api/webhooks/gateway with __proto__ and constructor as keys → 200, ignored', async () => {
    await ignored([`{"event":"${uniqueId('event')}","__proto__":{"payload":{}},"constructor":{"prototype":1}}`]);
  });

  test('POST /api/webhooks/gateway with payment.failed and reasons of any type → 200; stored unchanged', async () => {
    for (const value of [...odd, 'x']) {
      const payment = await createPayment(project.database, { userId });
      const reasons = { error_code: value, error_description: value, error_reason: value };
      const body = paymentFailed({ ...reasons, order_id: payment.orderId, id: value, amount: value, notes: value });
      expect(await answer(postWebhook(service, body))).toEqual(received);
      expect(await paymentOfOrder(project.database, payment.orderId))
        .toMatchObject({ status: 'failed', meta: reasons });
    }
  });

  test('POST /api/webhooks/gateway with values of any type in fields that the effect does not need → 200, applied', async () => {
    for (const value of odd) {
      const user = await createCaller(project.database);
      await project.database.query(
        "insert into public.subscriptions (user_id, tier, status) values ($1, 'pro', 'active')",
        [user.id],
      );
      const notes = { user_id: user.id };
      const cancelled = event('cancelled', {
        notes,
        plan_id: value,
        status: value,
        current_start: value,
        current_end: value,
      });
      const body = changeEnvelope(cancelled, { account_id: value, contains: value });
      expect(await answer(postWebhook(service, body))).toEqual(received);
      expect(await subscriptionOf(project.database, user.id)).toMatchObject({ status: 'cancelled' });
    }
  });

  test('POST /api/webhooks/gateway with an invalid created_at → 200, applied as without one', async () => {
    for (const created_at of [...noTime, 1e300]) {
      currentEnd += 1;
      const body = changeEnvelope(event('charged', { current_end: currentEnd }, 'sub_Odd'), { created_at });
      expect(await answer(postWebhook(service, body))).toEqual(received);
      expect(await ledgerRow(project.database, body)).toMatchObject({ outcome: 'applied' });
    }
  });

  test('POST /api/webhooks/gateway with a body of 5 MB → 413, nothing written', async () => {
    const before = await readAllRows(project.database);
    const body = JSON.stringify({ event: 'x', filler: 'x'.repeat(5_000_000) });
    expect(await answer(postWebhook(service, body))).toEqual(refusal(413, 'Payload too large'));
    expect(await readAllRows(project.database)).toEqual(before);
  });
});

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
