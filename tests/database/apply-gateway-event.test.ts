import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listen } from '../helpers/database/notifications.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';
import { changeEnvelope, gatewayEvent, orderPaid, paymentCaptured, paymentFailed } from '../helpers/gateway/events.ts';
import { type Fields, refundEvent } from '../helpers/gateway/events.ts';
import type { CustomerOrder } from '../helpers/records/customer.ts';
import { paymentOf, placeOrder } from '../helpers/records/purchases.ts';
import { readLedger, readOutbox } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

const database = useDatabase();
const customer = useCustomer(database);
let order: CustomerOrder;
beforeEach(async () => {
  order = await customer.order('pro');
});

const error = { error_code: 'BAD_REQUEST_ERROR', error_description: 'Declined', error_reason: 'payment_failed' };
const failed = (fields: Fields = {}) => paymentFailed({ ...paymentOf(order), ...error, ...fields });
const status = async () => (await order.row()).status;
const ledger = (body: string) => readLedger(database, sha256(body));
const sweepOnce = () => database.query('select billing.sweep()');
async function replay(body: string): Promise<unknown> {
  return (await database.one("select billing.replay_event(decode($1, 'hex')) as outcome", [sha256(body)])).outcome;
}

describe('the ledger', () => {
  test('stores the outcome, and counts repeats under any event id, which return it and change nothing', async () => {
    const body = failed();
    expect(await database.send(body, 'event_1')).toBe('applied');
    const row = { event_id: 'event_1', event: 'payment.failed', subject_id: order.orderId, outcome: 'applied' };
    expect(await ledger(body)).toEqual({ ...row, error: null, deliveries: 1, attempts: 1 });
    await database.query("update public.payments set status = 'created' where id = $1", [order.id]);
    expect(await database.send(body, 'event_2')).toBe('applied');
    expect([await status(), await customer.mails()]).toEqual(['created', [`payment-failed/${order.paymentId}`]]);
    expect(await ledger(body)).toEqual({ ...row, error: null, deliveries: 2, attempts: 1 });
  });

  test('takes another body under the same event id as another event', async () => {
    for (const id of ['pay_1', 'pay_2']) await database.send(failed({ id }), 'event_same');
    expect(await customer.mails()).toEqual(['payment-failed/pay_1', 'payment-failed/pay_2']);
  });

  test('records an event of another account, without effect', async () => {
    const body = changeEnvelope(failed(), { account_id: 'acc_Others' });
    const apply = () => database.rpc('apply_gateway_event', sha256(body), null, body, 'acc_Ours');
    expect([await apply(), await status()]).toEqual([{ outcome: 'ignored: account', enqueued: false }, 'created']);
  });

  test.each<[string, string | null, string]>([
    ['a body nested too deep', null, 'nested too deep'],
    ['a list', '[]', 'not an object'],
    ['an event that is no text', '{"event": 7}', 'event'],
    ['an event of no interest', '{"event": "invoice.paid"}', 'not handled'],
    ['an event without payload', '{"event": "payment.captured"}', 'payment.entity'],
    ['a list as the entity', '{"event": "payment.failed", "payload": {"payment": {"entity": []}}}', 'payment.entity'],
    ['another entity', '{"event": "subscription.paused", "payload": {"payment": {}}}', 'subscription.entity'],
  ])('stores %s as ignored, also after a repeat', async (_, body, reason) => {
    const [hash, outcome] = [sha256(uniqueId('body')), `ignored: ${reason}`];
    for (let i = 0; i < 2; i++) {
      expect(await database.rpc('apply_gateway_event', hash, null, body)).toEqual({ outcome, enqueued: false });
    }
    expect(await readLedger(database, hash)).toMatchObject({ outcome, deliveries: 2, attempts: 1 });
  });

  test('accepts ids far longer than any real one', async () => {
    // Random text: long text that compresses well would still fit into an index.
    const long = Array.from({ length: 200 }, () => crypto.randomUUID()).join('');
    expect(await database.send(paymentCaptured({ id: long, order_id: long, amount: undefined }))).toBe('unmatched');
    expect(await database.send(failed({ id: long, order_id: long }))).toBe('unmatched');
    expect(await database.send(failed({ id: long }))).toBe('applied');
  });
});

describe('an event whose effect raises an error', () => {
  /** Lets the insert of a mail fail, after the update of the payment; '' repairs it. */
  const breakMails = (sqlstate: string) => database.service.query(`set test.fault = '${sqlstate}'`);
  beforeAll(() =>
    database.query(`
      create function billing.break_mail() returns trigger language plpgsql as $$
      begin
        if new.destination = 'email' and current_setting('test.fault', true) <> '' then
          raise exception 'broken' using errcode = current_setting('test.fault');
        end if;
        return new;
      end $$;
      create trigger break_mail before insert on billing.outbox for each row execute function billing.break_mail()`)
  );

  test.each(['23514', 'P0001', 'XX000'])('with SQLSTATE %s leaves only its row until repaired', async (sqlstate) => {
    const body = failed();
    await breakMails(sqlstate);
    for (let i = 0; i < 2; i++) expect(await database.send(body)).toBe(`failed: ${sqlstate}`);
    await breakMails('');
    expect(await status()).toBe('created');
    const stored = { outcome: `failed: ${sqlstate}`, error: sqlstate, deliveries: 2, attempts: 2 };
    expect(await ledger(body)).toMatchObject(stored);
    expect(await database.send(body)).toBe('applied');
    expect([await status(), await customer.mails()]).toEqual(['failed', [`payment-failed/${order.paymentId}`]]);
    expect(await ledger(body)).toMatchObject({ outcome: 'applied', error: null, attempts: 3 });
  });

  test('is parked six hours after its first delivery, and then applied only by a replay of an admin', async () => {
    const body = failed();
    const replay = async (fault: string) =>
      (await database.one(
        "select billing.replay_event(decode($1, 'hex')) as outcome from set_config('test.fault', $2, true)",
        [sha256(body), fault],
      )).outcome;
    await breakMails('23514');
    for (const at of ['00:00:00', '05:59:59', '06:00:00']) {
      await database.at(`2026-01-01T${at}Z`);
      expect(await database.send(body), at).toBe(at === '06:00:00' ? 'parked' : 'failed: 23514');
    }
    await breakMails('');
    expect(await database.send(body)).toBe('parked');
    expect(await status()).toBe('created');
    expect(await ledger(body)).toMatchObject({ error: '23514', deliveries: 4, attempts: 3 });
    expect([await replay('23514'), await replay('')]).toEqual(['parked', 'applied']);
    expect(await status()).toBe('failed');
    expect(await ledger(body)).toMatchObject({ outcome: 'applied', error: null, attempts: 5 });
  });

  test.each(['08006', '40001', '53100', '55P03', '57014', '58030'])('with %s undoes everything', async (sqlstate) => {
    const body = failed();
    await breakMails(sqlstate);
    await expect(database.send(body)).rejects.toMatchObject({ code: sqlstate });
    await breakMails('');
    const stored = "select from billing.gateway_events where body_sha256 = decode($1, 'hex')";
    expect(await database.query(stored, [sha256(body)])).toEqual([]);
    expect(await status()).toBe('created');
    expect(await database.send(body)).toBe('applied');
  });
});

describe('payment.failed', () => {
  test('stores the error, and enqueues one mail per attempt with all its data; without an id one per body', async () => {
    await database.query("update public.profiles set display_name = 'Asha' where user_id = $1", [customer.id]);
    const second = uniqueId('pay');
    for (const id of [order.paymentId, order.paymentId, second]) await database.send(failed({ id }));
    expect(await order.row()).toMatchObject({ status: 'failed', tier: 'pro', gateway_payment_id: null, meta: error });
    const paid = { tier: 'pro', amount: 99900, currency: 'INR' };
    const payload = { to: customer.email, display_name: 'Asha', reason: 'Declined', ...paid };
    expect(await readOutbox(database, 'email', customer.email)).toEqual(
      [order.paymentId, second].map((id) => ({ key: `payment-failed/${id}`, kind: 'payment-failed', payload })),
    );
    const bodies = ['A', 'B'].map((error_code) => failed({ id: undefined, error_code }));
    for (const body of [...bodies, ...bodies]) await database.send(body);
    expect(await customer.mails()).toHaveLength(4);
  });

  test.each([
    ['no address', 'update auth.users set email = null where id = $1'],
    ['an empty address', "update auth.users set email = '' where id = $1"],
    ['no profile', 'delete from public.profiles where user_id = $1'],
    ['no account any more', 'delete from auth.users where id = $1'],
  ])('for a user with %s fails the payment without a mail', async (_, sql) => {
    await database.query(sql, [customer.id]);
    expect(await database.send(failed())).toBe('applied');
    expect(await status()).toBe('failed');
    const key = `payment-failed/${order.paymentId}`;
    expect(await database.query('select from billing.outbox where key = $1', [key])).toEqual([]);
  });

  test('after the order was captured, by this or another attempt, changes nothing and enqueues no mail', async () => {
    await order.verify();
    const before = await order.row();
    for (const id of [order.paymentId, uniqueId('pay')]) expect(await database.send(failed({ id }))).toBe('stale');
    expect(await order.row()).toEqual(before);
    expect([await customer.tier(), await customer.mails()]).toEqual(['pro', [`payment-success/${order.id}`]]);
  });
});

describe('billing.replay_event', () => {
  test('of an unknown event returns null, and is closed to the service', async () => {
    expect(await replay('unknown')).toBeNull();
    const call = database.service.query("select billing.replay_event('\\x00')");
    await expect(call).rejects.toMatchObject({ code: '42501' });
  });

  test('of the capture of a payment that was refunded later grants nothing again', async () => {
    const body = paymentCaptured(paymentOf(order));
    await database.send(body);
    await order.refund();
    expect(await replay(body)).toBe('already');
    expect(await customer.tier()).toBe('free');
    const mails = [`payment-success/${order.id}`, expect.stringMatching(/^subscription-ended\//)];
    expect(await customer.mails()).toEqual(mails);
  });

  test('of a capture fulfils after the amount of the payment was corrected, and wakes the dispatcher', async () => {
    const order = await placeOrder(database, { user: customer, amount: 1 });
    const body = paymentCaptured(paymentOf(order));
    expect(await database.send(body)).toBe('mismatch');
    await database.query('update public.payments set amount = 99900 where id = $1', [order.id]);
    expect(await database.send(body)).toBe('mismatch');
    const listener = await listen(database, 'outbox');
    expect(await replay(body)).toBe('applied');
    expect(await customer.tier()).toBe('pro');
    expect(await listener.count()).toBe(1);
  });
});

test('an order whose event cannot be applied is inserted nevertheless, and a replay applies the event', async () => {
  const [id, orderId] = [uniqueId('pay'), uniqueId('order')];
  const body = paymentCaptured({ id, order_id: orderId });
  await database.send(body);
  await database.query(`alter table public.payments add constraint poison check (gateway_payment_id <> '${id}')`);
  await createPayment(database, { userId: customer.id, orderId });
  expect(await ledger(body)).toMatchObject({ outcome: 'failed: 23514' });
  await database.query('alter table public.payments drop constraint poison');
  expect(await replay(body)).toBe('applied');
  expect(await customer.tier()).toBe('pro');
});

test.each([
  ['that arrived up to five minutes before the last sweep is applied', '2026-03-01T11:55:01Z', 'applied'],
  ['that arrived earlier was read by the sweeps before', '2026-03-01T11:54:59Z', 'unmatched'],
])('an event of an order that was being stored %s', async (_, arrival, outcome) => {
  const orderId = uniqueId('order');
  const body = paymentCaptured({ id: uniqueId('pay'), order_id: orderId });
  await database.at(arrival);
  await database.send(body);
  await database.sweep('2026-03-01T12:00:00Z');
  // Neither the trigger of the order nor the event saw the other's row.
  const storing = await database.connect();
  await storing.query('set session_replication_role = replica');
  await storing.query(
    `insert into public.payments (user_id, amount, gateway_order_id, meta) values ($1, 99900, $2, '{"tier": "pro"}')`,
    [customer.id, orderId],
  );
  await database.sweep('2026-03-01T12:01:00Z');
  expect(await ledger(body)).toMatchObject({ outcome });
});

test('a sweep retries an event that stays unmatched at most three times', async () => {
  const body = paymentCaptured({ ...paymentOf(order), amount: undefined });
  expect(await database.send(body)).toBe('unmatched');
  for (let sweep = 0; sweep < 4; sweep++) await sweepOnce();
  expect(await ledger(body)).toMatchObject({ outcome: 'unmatched', attempts: 3 });
});

describe('an event whose plan is missing', () => {
  async function paidWithoutPlan() {
    const tier = uniqueId('team');
    const order = await placeOrder(database, { user: customer, tier });
    const money = paymentOf(order);
    const body = paymentCaptured(money);
    expect(await database.send(body)).toBe('plan_not_found');
    const addPlan = () =>
      database.query("insert into public.plans (tier, name, price) values ($1, 'Team', 100)", [tier]);
    return { tier, order, money, body, addPlan };
  }

  test('is applied by the next sweep after the plan was created, however late, and not tried before', async () => {
    const { tier, order, money, body, addPlan } = await paidWithoutPlan();
    const paid = orderPaid(money, { id: order.orderId });
    expect(await database.send(paid)).toBe('plan_not_found');
    await database.query("update billing.gateway_events set received_at = received_at - interval '40 days'");
    for (let sweep = 0; sweep < 2; sweep++) await sweepOnce();
    expect(await ledger(body)).toMatchObject({ outcome: 'plan_not_found', attempts: 1 });
    await addPlan();
    await sweepOnce();
    expect(await database.send(body)).toBe((await ledger(body)).outcome);
    expect([await customer.tier(), await customer.mails()]).toEqual([tier, [`payment-success/${order.id}`]]);
    const outcomes = [(await ledger(body)).outcome, (await ledger(paid)).outcome];
    expect(outcomes.sort()).toEqual(['already', 'applied']);
  });

  test('is applied by the next sweep after a plan was renamed to its tier', async () => {
    const { tier } = await paidWithoutPlan();
    await database.query("insert into public.plans (tier, name, price) values ($1 || '-old', 'Team', 100)", [tier]);
    await database.query("update public.plans set tier = $1 where tier = $1 || '-old'", [tier]);
    await sweepOnce();
    expect(await customer.tier()).toBe(tier);
  });

  test('grants nothing after its payment was refunded, and is not retried without end', async () => {
    const { money, body, addPlan } = await paidWithoutPlan();
    await database.send(refundEvent(money, 99900));
    await addPlan();
    for (let sweep = 0; sweep < 3; sweep++) await sweepOnce();
    expect(await customer.tier()).toBe('free');
    expect(await ledger(body)).toMatchObject({ outcome: 'already', attempts: 2 });
  });
});

test.each(['verify', 'capture'] as const)(
  'an event without an order is applied after a %s and a sweep',
  async (way) => {
    const body = gatewayEvent('payment.dispute.created', { dispute: { payment_id: order.paymentId } });
    expect(await database.send(body)).toBe('unmatched');
    await order[way]();
    await sweepOnce();
    expect(await order.row()).toMatchObject({ dispute_status: 'open' });
    expect(await ledger(body)).toMatchObject({ subject_id: order.paymentId, outcome: 'already', attempts: 2 });
  },
);
