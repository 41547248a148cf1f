import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';
import { type Fields, paymentCaptured, subscriptionEvent } from '../helpers/gateway/events.ts';
import { enqueue } from '../helpers/outbox/claims.ts';
import { paymentOf } from '../helpers/records/purchases.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';
import { repeatUntil } from '../helpers/project/repeat-until.ts';

const database = useDatabase({ findings: 'compared elsewhere' });
beforeEach(async () => {
  await database.at('01-01');
  await database.query('truncate billing.gateway_events, billing.outbox, billing.tier_changes cascade');
});
const customer = useCustomer(database);

const purge = async (ledger = 400, outbox = 30, tierHistory = 1100) =>
  Number((await database.rpc('purge_records', ledger, outbox, tierHistory)).purged);
const emptyPayloads = async () => Number((await database.one('select billing.empty_payloads() as emptied')).emptied);
const emptyAt = async (at: string) => {
  await database.at(at);
  return await emptyPayloads();
};
const count = async (table: string) => (await database.one(`select count(*)::int as rows from billing.${table}`)).rows;
const rowOf = async (body: string) =>
  (await database.query("select * from billing.gateway_events where body_sha256 = decode($1, 'hex')", [sha256(body)]))[
    0
  ];
const setOutcome = (outcome: string) => database.query('update billing.gateway_events set outcome = $1', [outcome]);
const unknownCapture = (more: Fields = {}) =>
  paymentCaptured({ id: uniqueId('pay'), order_id: uniqueId('order'), ...more });

/** Empties the payloads that are older than 90 days, then purges until nothing is left. @returns rows of ledger and waiting */
async function purgeAll(at: string): Promise<unknown[]> {
  await database.at(at);
  await repeatUntil('no payload is left to empty', 1000, async () => await emptyPayloads() === 0);
  await repeatUntil('nothing is left to purge', 1000, async () => await purge() === 0);
  return [await count('gateway_events'), await count('unsettled_events')];
}

describe('a payload', () => {
  test('is emptied after 90 days; hash, ids, outcome and counts stay, and a repeated delivery is recognized', async () => {
    const order = await customer.order('pro');
    const body = paymentCaptured(paymentOf(order));
    await database.send(body, 'evt_header');
    const before = await rowOf(body);
    expect(await emptyAt('2026-04-01')).toBe(0);
    expect([await emptyAt('2026-04-01T00:00:00.001Z'), await emptyPayloads()]).toEqual([1, 0]);
    expect(await rowOf(body)).toEqual({ ...before, payload: null });
    expect(before).toMatchObject({ event_id: 'evt_header', subject_id: order.orderId, outcome: 'applied' });

    expect(await database.send(body)).toBe('applied');
    expect(await rowOf(body)).toMatchObject({ payload: null, deliveries: 2, attempts: 1 });
    const replayed = await database.one("select billing.replay_event(decode($1, 'hex')) as outcome", [sha256(body)]);
    expect(replayed).toEqual({ outcome: 'applied' });
    expect(await rowOf(body)).toMatchObject({ attempts: 1 });
    expect(await customer.mails()).toHaveLength(1);
  });

  test.each(['unmatched', 'plan_not_found', 'parked', 'failed: 23514'])(
    'of an event that is %s keeps the fields that a later application needs',
    async (outcome) => {
      const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
      const person = { email: 'asha.rao@example.com', contact: '+919800000000', vpa: 'asha@upi' };
      const body = paymentCaptured({ ...money, ...person });
      await database.send(body);
      await setOutcome(outcome);
      expect((await rowOf(body))?.payload).toEqual(JSON.parse(body));
      expect(await emptyAt('2027-01-01')).toBe(1);
      const paid = { amount: 99900, currency: 'INR', status: 'captured', error_code: null, error_reason: null };
      expect((await rowOf(body))?.payload).toEqual({
        reduced: true,
        event: 'payment.captured',
        payload: { payment: { entity: { ...money, ...paid } } },
        created_at: 1_767_225_600,
      });
      expect(await emptyPayloads()).toBe(0);
    },
  );

  test('of an unknown order, or of an unhandled type, is whole for a day', async () => {
    const captured = unknownCapture({ email: 'asha.rao@example.com' });
    const bodies = [captured, captured.replace('payment.captured', 'payment.authorized')];
    for (const body of bodies) await database.send(body);
    const reduceAt = async (at: string) => {
      await database.at(at);
      return (await database.one('select billing.reduce_payloads() as reduced')).reduced;
    };
    expect(await reduceAt('01-02')).toBe(0);
    expect([await reduceAt('2026-01-02T00:00:00.001Z'), await reduceAt('01-03')]).toEqual([2, 0]);
    for (const body of bodies) expect(JSON.stringify(await rowOf(body))).not.toContain('asha.rao');
  });

  test('of an event that waited a year for its order is enough to apply it', async () => {
    const orderId = uniqueId('order');
    await database.send(paymentCaptured({ id: uniqueId('pay'), order_id: orderId }));
    await emptyAt('2027-01-01');
    await createPayment(database, { userId: customer.id, orderId });
    expect(await customer.tier()).toBe('pro');
  });
});

describe('the ledger', () => {
  test('deletes rows older than its days, and no newer ones', async () => {
    await (await customer.order('pro')).capture();
    expect(await purgeAll('2027-02-05')).toEqual([1, 0]);
    expect(await purgeAll('2027-02-05T00:00:00.001Z')).toEqual([0, 0]);
  });

  test.each([['plan_not_found', 1], ['parked', 1], ['failed: 23514', 1], ['unmatched', 0], ['mismatch', 0]])(
    'of the events that are %s keeps %i, which can still be applied; none of a deleted user',
    async (outcome, kept) => {
      await database.send(unknownCapture());
      await customer.event('activated', '01-01');
      await setOutcome(outcome);
      await database.query('delete from auth.users where id = $1', [customer.id]);
      expect((await purgeAll('2030-01-01'))[0]).toBe(kept);
    },
  );

  test('keeps a subscription event without a time: a repeated delivery would count as new', async () => {
    const body = subscriptionEvent({ name: 'cancelled', userId: customer.id });
    const outcome = await database.send(body);
    expect((await purgeAll('2030-01-01'))[0]).toBe(1);
    expect(await database.send(body)).toBe(outcome);
    expect(await rowOf(body)).toMatchObject({ deliveries: 2, outcome });
  });

  test('empties and deletes a thousand rows at a time, skips locked rows, and never takes new ones', async () => {
    await database.query(`
      insert into billing.gateway_events (body_sha256, event, payload, outcome)
      select sha256(n::text::bytea), 'payment.captured', '{}', 'applied' from generate_series(1, 2100) n`);
    await database.at('2027-12-31');
    await (await customer.order('pro')).capture();
    await database.at('2028-01-01');
    for (const take of [emptyPayloads, purge]) {
      const holder = await database.connect();
      await holder.query('begin');
      await holder.query("select from billing.gateway_events where body_sha256 = sha256('7') for update");
      expect([await take(), await take(), await take(), await take()]).toEqual([1000, 1000, 99, 0]);
      await holder.query('rollback');
      expect(await take()).toBe(1);
    }
    expect(await database.query('select from billing.gateway_events where payload is not null')).toHaveLength(1);
  });
});

describe('the outbox', () => {
  /** Inserts a side effect of June 2025. The columns as SQL expressions. */
  const insert = (kind: string, { delivered = 'null', parked = 'null', claims = "'{}'", payload = '{}' } = {}) =>
    database.query(`
      insert into billing.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at, delivered_at,
        parked_at, claims)
      select gen_random_uuid(), 'gateway', '${kind}', '${payload}', at, at, at, ${delivered}, ${parked}, ${claims}
      from (values (timestamptz '2025-06-01T00:00:00Z')) t (at)`);

  test.each(['delivered', 'parked'])('deletes rows that were %s more than its days ago', async (end) => {
    await insert('cancel-subscription', { [end]: "'2025-12-01T23:59:59Z'" });
    await insert('cancel-subscription', { [end]: "'2025-12-02T00:00:00Z'" });
    expect([await purge(), await purge()]).toEqual([1, 0]);
    await insert('kind', { [end]: "'2025-11-01T00:00:00Z'" });
    expect([await purge(400, 62), await purge(400, 60)]).toEqual([0, 1]);
  });

  test('keeps pending and parked rows of any age', async () => {
    await insert('cancel-subscription');
    await insert('revalidation', { parked: "'2025-06-02T00:00:00Z'", claims: 'array[gen_random_uuid()]' });
    await database.at('2040-01-01');
    expect(await purge()).toBe(0);
  });

  test('keeps a delivered cancellation until its subscription is known to be cancelled', async () => {
    await customer.event('activated', '01-01', { start: '2026-01-01T00:00:00Z', end: '2027-01-01T00:00:00Z' });
    const payload = JSON.stringify({ gateway_subscription_id: customer.gatewayId });
    await insert('cancel-subscription', { delivered: "'2025-06-01T00:00:00Z'", payload });
    expect(await purge()).toBe(0);
    await customer.event('cancelled', '01-02');
    expect(await purge()).toBe(1);
  });
});

test('a mail is deleted 90 days after it was enqueued, sent or not; messages for the gateway and the app stay', async () => {
  await database.query('delete from billing.outbox');
  for (const to of ['email', 'email', 'gateway', 'revalidation'] as const) await enqueue(database, to);
  await database.query("update billing.outbox set delivered_at = '2026-01-01Z' where id % 2 = 0");
  for (const [at, left] of [['2026-04-01', 4], ['2026-04-01T00:00:00.001Z', 2]] as const) {
    await database.at(at);
    await database.query('select billing.delete_messages()');
    expect(await count('outbox')).toBe(left);
  }
  expect(await count("outbox where destination in ('gateway', 'revalidation')")).toBe(2);
});

test('the purge of tier_changes deletes rows older than its days, a thousand at a time', async () => {
  await database.query(`
    insert into billing.tier_changes (user_id, to_tier, cause)
    select gen_random_uuid(), 'pro', 'payment' from generate_series(1, 1001)`);
  await database.at('2029-01-05');
  expect(await purge()).toBe(0);
  await database.at('2029-01-05T00:00:01Z');
  expect([await purge(), await purge(), await purge()]).toEqual([1000, 1, 0]);
});

test('a purge with the shortest days is accepted, and one with less in any place is refused', async () => {
  expect(await purge(90, 30, 30)).toBe(0);
  for (const days of [[89, 30, 30], [90, 29, 30], [90, 30, 29], [null, 30, 30], [0, 0, 0], [-400, 30, 30]]) {
    await expect(database.rpc('purge_records', ...days), String(days)).rejects.toMatchObject({ code: 'PS400' });
  }
});

test('billing.service_state says for how many days delivered messages are kept', async () => {
  const kept = async () => (await database.one('select messages_kept_days as days from billing.service_state')).days;
  await database.query("delete from billing.marks where kind = 'kept_days'");
  expect(await kept()).toBeNull();
  await purge(400, 45);
  expect(await kept()).toBe(45);
  await purge(400, 30);
  expect(await kept()).toBe(30);
});
