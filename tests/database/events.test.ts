import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { askChange } from '../helpers/records/customer.ts';
import { paymentOf } from '../helpers/records/purchases.ts';
import { actAsOwner, grantTier } from '../helpers/records/support-actions.ts';
import { months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);
beforeEach(() => database.set('events = true'));

type Event = { type: string; timestamp: string; data: Record<string, unknown> };

/** The events about the user, oldest first. */
async function events(userId = customer.id): Promise<Event[]> {
  const sql = `select payload, key from billing.outbox
    where destination = 'event' and payload #>> '{data,user_id}' = $1 order by id`;
  const rows = await database.query(sql, [userId]);
  expect(rows.filter(({ key }) => !/^[A-Za-z0-9_-]{1,64}$/.test(String(key)))).toEqual([]);
  return rows.map(({ payload }) => payload as Event);
}
/** Why the access changed, oldest first. */
const reasons = async () =>
  (await events()).flatMap(({ type, data }) => type === 'subscription.updated' ? [data.reason] : []);
const types = async () => (await events()).map(({ type }) => type);
/** What the newest event about the access says. */
async function newest() {
  const { data } = (await events()).findLast(({ type }) => type === 'subscription.updated') ?? { data: {} };
  return data;
}
/** What the user reads, as the events say it. */
async function read() {
  const answer = await database.one('select public.get_subscription($1)::jsonb as body', [customer.id]);
  const { currentTier: tier, entitlements, subscription, billing } = Object(answer.body);
  if (billing !== null) Reflect.deleteProperty(billing, 'manage_url');
  const { status, price, current_period_start, current_period_end, cancel_at_period_end, ended_reason } = subscription;
  const period = { current_period_start, current_period_end, cancel_at_period_end, ended_reason };
  return { user_id: customer.id, reason: expect.any(String), tier, entitlements, billing, status, price, ...period };
}
/** The newest payment as the user reads it, without what no event says. */
async function readNewestPayment() {
  const answer = await database.one('select public.get_subscription($1)::jsonb as body', [customer.id]);
  const [{ meta: _, gateway_signature: __, ...payment }] = Object(answer.body).payments;
  return payment;
}

describe('events', () => {
  test('of a purchase say what was paid and, once, the access that the user then reads', async () => {
    const pro = await customer.buy('pro', { at: '01-01' });
    expect((await types()).sort()).toEqual(['payment.captured', 'subscription.updated']);
    expect(await newest()).toEqual(await read());
    expect(await newest()).toMatchObject({ tier: 'pro', status: 'active', reason: 'purchase' });
    const paid = (await events()).find(({ type }) => type === 'payment.captured');
    expect(paid).toMatchObject({
      timestamp: '2026-01-01T00:00:00.000Z',
      data: {
        ...{ user_id: customer.id, id: pro.id, payment_id: pro.id, status: 'captured', amount: 99900, currency: 'INR' },
        ...{ tier: 'pro', price_key: null, interval: 'year', interval_count: 1, captured_at: expect.any(String) },
        ...{ gateway_payment_id: pro.paymentId, gateway_order_id: pro.orderId, gateway_subscription_id: null },
      },
    });
    expect(paid?.data).toEqual({ ...await readNewestPayment(), payment_id: pro.id, extra_of: null });
    await pro.capture();
    await pro.verify();
    expect(await types()).toHaveLength(2);
  });

  test('of a refund, in parts and one that fails later, say each time what is refunded', async () => {
    const pro = await customer.buy('pro', { at: '01-01' });
    const refunded = async () =>
      (await events()).flatMap(({ type, data }) =>
        type === 'payment.refunded' ? [[data.refund_id, data.refunded, data.refunded_amount]] : []
      );
    await pro.refund(59900, { id: 'rfnd_rest', status: 'pending' });
    await pro.refund(40000, { id: 'rfnd_part' });
    expect(await newest()).toMatchObject({ tier: 'pro' });
    await pro.refund(59900, { id: 'rfnd_rest' });
    expect(await newest()).toMatchObject({ tier: 'free', ended_reason: 'refunded', reason: 'refund' });
    await pro.refund(59900, { id: 'rfnd_rest', status: 'failed' });
    expect(await newest()).toMatchObject({ tier: 'pro' });
    expect(await refunded())
      .toEqual([['rfnd_part', 40000, 40000], ['rfnd_rest', 59900, 99900], ['rfnd_rest', 0, 40000]]);
    expect(await newest()).toEqual(await read());
  });

  test('of refunds in one transaction, and of those that came before their payment, are one each', async () => {
    const pro = await customer.order('pro', { at: '01-01' });
    for (const [id, amount] of [['rfnd_1', 10000], ['rfnd_2', 20000]] as const) await pro.refund(amount, { id });
    expect(await events()).toEqual([]);
    await pro.capture();
    await database.query("update billing.refunds set status = 'failed' where gateway_payment_id = $1", [pro.paymentId]);
    const refunds = (await events()).filter(({ type }) => type === 'payment.refunded');
    expect(refunds.map(({ data }) => [data.refund_id, data.refunded].join()).sort())
      .toEqual(['rfnd_1,0', 'rfnd_1,10000', 'rfnd_2,0', 'rfnd_2,20000']);
  });

  /** What the events say about payments, oldest first. */
  const paid = async () =>
    (await events()).flatMap(({ type, data }) =>
      type.startsWith('payment.') ? [[type, data.gateway_payment_id, data.payment_id]] : []
    );

  test('of two payments on an order are one each, whichever of them counts', async () => {
    const one = await customer.buy('pro', { at: '01-01' });
    const two = customer.again(one);
    await two.capture();
    expect(await paid()).toEqual([
      ['payment.captured', one.paymentId, one.id],
      ['payment.captured', two.paymentId, one.id],
    ]);
    await one.capture();
    expect(await paid()).toHaveLength(2);
  });

  test('of a refund are not repeated when another payment counts for the order', async () => {
    const one = await customer.buy('pro', { at: '01-01' });
    await one.capture();
    await one.refund(99900);
    const before = await paid();
    expect(before.map(([type]) => type)).toEqual(['payment.captured', 'payment.refunded']);
    const two = customer.again(one);
    await two.capture();
    expect((await paid()).slice(2)).toEqual([['payment.captured', two.paymentId, one.id]]);
  });

  test('of a failed payment have the code and the reason, not the description', async () => {
    const pro = await customer.order('pro', { at: '01-01' });
    const error = { error_code: 'BAD_REQUEST_ERROR', error_reason: 'payment_declined' };
    await database.send(paymentFailed({ ...paymentOf(pro), ...error, error_description: 'Declined by Asha' }));
    const [failed, ...more] = await events();
    expect([failed, more]).toMatchObject([{ type: 'payment.failed', data: { payment_id: pro.id, ...error } }, []]);
    expect(JSON.stringify(failed)).not.toContain('Asha');
  });

  test('of a subscription follow its cycles, a failed charge, and its cancellation', async () => {
    const cycle = months(1);
    await customer.bill(cycle, 'pro');
    expect(await newest()).toEqual(await read());
    await customer.event('pending', '02-01', { planId: 'plan_pro' });
    expect(await newest()).toMatchObject({
      reason: 'gateway',
      billing: { status: 'pending', payment_attention: true },
    });
    expect(await types()).not.toContain('payment.failed');
    await customer.charge(months(2), 'pro', { planId: 'plan_pro' });
    expect(await newest()).toMatchObject({ reason: 'renewal' });
    await customer.cancel('at the end');
    expect(await newest()).toMatchObject({ cancel_at_period_end: true, reason: 'cancel' });
    expect(await newest()).toEqual(await read());
    const before = (await events()).length;
    await database.sweep('02-02');
    expect(await events()).toHaveLength(before);
    await customer.event('cancelled', '03-01', { planId: 'plan_pro', ...months(2) });
    await database.expire('03-02');
    expect(await newest()).toMatchObject({ tier: 'free' });
  });

  test('of a subscription name its first charge a purchase, each later one a renewal, the usual one too', async () => {
    await customer.charge(months(1), 'pro', { fields: { paid_count: 1 } });
    await customer.event('activated', '2026-01-01T00:00:02Z', { planId: 'plan_pro', ...months(1) });
    expect(await reasons()).toEqual(['purchase']);
    await customer.charge(months(2), 'pro', { fields: { paid_count: 2 } });
    await customer.charge(months(3), 'pro', { fields: { paid_count: 3 } });
    expect(await reasons()).toEqual(['purchase', 'renewal', 'renewal']);
  });

  test('of a change to another price name it, whether the gateway or the customer begins it', async () => {
    await customer.charge(months(1), 'basic');
    await database.at('01-10');
    const next = await askChange(database, customer, 'pro', 'period_end');
    await next.event('authenticated', '2026-01-10T00:01:00Z', { planId: 'plan_pro' });
    await next.charge(months(2), 'pro');
    await next.event('activated', '2026-02-01T00:00:02Z', { planId: 'plan_pro', ...months(2) });
    await next.charge(months(3), 'pro');
    expect((await reasons()).filter((reason) => reason !== 'gateway')).toEqual(['purchase', 'change', 'renewal']);
    const premium = await customer.buy('premium', { at: '03-10', start: 'now' });
    await premium.capture();
    expect(await newest()).toMatchObject({ reason: 'change' });
    await customer.buy('premium', { at: '03-20', start: 'after_current' });
    expect(await newest()).toMatchObject({ reason: 'purchase', current_period_end: '2028-03-10T00:00:00+00:00' });
    await customer.buy('pro', { at: '03-21', start: 'after_current' });
    await database.sweep('2028-03-11');
    expect(await newest()).toMatchObject({ tier: 'pro', reason: 'change' });
  });

  test('are not written by a webhook, a verification or a write that changes nothing of what they say', async () => {
    const pro = await customer.order('pro', { at: '01-01' });
    await pro.capture();
    await database.at('2026-01-01T00:00:02Z');
    await pro.verify();
    await customer.cancel('at the end');
    await customer.cancel('at the end');
    expect(await reasons()).toEqual(['purchase', 'cancel']);
    // Also where the events before are deleted.
    await database.query("delete from billing.outbox where destination = 'event'");
    await database.query(
      'update public.subscriptions set revision = revision + 1, updated_at = now() where user_id = $1',
      [
        customer.id,
      ],
    );
    expect(await reasons()).toEqual([]);
  });

  test('of grants, of a tier that is written by hand, and of nothing for a new user', async () => {
    expect(await events()).toEqual([]);
    await grantTier(database, customer.email, 'premium', '2099-01-01Z');
    expect(await newest()).toMatchObject({ tier: 'premium', reason: 'grant' });
    await actAsOwner(database, { action: 'revoke_grant', email: customer.email });
    expect(await newest()).toMatchObject({ tier: 'free' });
    const admin = await database.connect();
    await admin.query('set role service_role');
    await admin.query("update public.profiles set subscription_tier = 'basic' where user_id = $1", [customer.id]);
    expect(await newest()).toEqual(await read());
    expect(await newest()).toMatchObject({ tier: 'basic', reason: 'manual' });
  });

  test('of a row that is written by hand say it, also where its writer moves the next look of the sweep', async () => {
    await customer.buy('pro', { at: '01-01' });
    const write = (assignment: string) =>
      database.query(`update public.subscriptions set ${assignment} where user_id = $1`, [customer.id]);
    await database.at('01-02');
    await write("current_period_end = '2028-01-01Z'");
    expect(await newest()).toMatchObject({ reason: 'manual', current_period_end: '2028-01-01T00:00:00+00:00' });
    expect(await newest()).toEqual(await read());
    await write("current_period_end = '2029-01-01Z', due_at = '2029-01-01Z'");
    expect(await newest()).toMatchObject({ reason: 'manual', current_period_end: '2029-01-01T00:00:00+00:00' });
    const before = await events();
    await database.sweep('01-05');
    await database.query('select billing.settle_access($1, $2)', [customer.id, customer.email]);
    expect(await newest()).toEqual(await read());
    expect(await events()).toEqual(before);
  });

  test('of one transaction with several changes are one, with its result; a rollback leaves none', async () => {
    const session = await database.connect();
    const write = 'update public.profiles set subscription_tier = $2 where user_id = $1';
    for (const end of ['rollback', 'commit']) {
      await session.query('begin');
      for (const tier of ['basic', 'premium', 'pro']) await session.query(write, [customer.id, tier]);
      await session.query(end);
    }
    expect((await events()).map(({ data }) => data.tier)).toEqual(['pro']);
  });

  test('of a payment that becomes captured twice in one transaction is one', async () => {
    const pro = await customer.order('pro', { at: '01-01' });
    const session = await database.connect();
    await session.query('begin');
    for (const status of ['captured', 'failed', 'captured']) {
      await session.query('update public.payments set status = $2 where id = $1', [pro.id, status]);
    }
    await session.query('commit');
    expect((await paid()).map(([type]) => type).sort()).toEqual(['payment.captured', 'payment.failed']);
  });

  test('name no address, no name and no page of the gateway', async () => {
    await customer.bill(months(1), 'pro');
    const text = JSON.stringify(await events());
    expect(text).not.toContain(customer.email);
    expect(text).not.toMatch(/manage_url|short_url|display_name|username|signature/);
  });

  test('of a deleted user are not written, and those before are gone after 90 days, also if none was delivered', async () => {
    const pro = await customer.buy('basic', { at: '01-01' });
    await customer.bill(months(1), 'pro');
    const before = (await events()).length;
    expect(before).toBeGreaterThan(1);
    await database.query('delete from auth.users where id = $1', [customer.id]);
    await customer.event('cancelled', '01-10', { planId: 'plan_pro', ...months(1) });
    await pro.refund(100);
    expect(await events()).toHaveLength(before);
    expect(await database.query("select from billing.outbox where payload #> '{data,user_id}' = 'null'")).toEqual([]);
    await database.sweep('2026-05-01');
    expect(await events()).toEqual([]);
  });

  test('are not written while the setting is off', async () => {
    await database.set('events = false');
    const pro = await customer.buy('pro', { at: '01-01' });
    await pro.refund(99900);
    expect(await events()).toEqual([]);
  });

  test('have growing ids for one user when two transactions end at once', async () => {
    const [one, two] = [await database.connect(), await database.connect()];
    await two.query('begin');
    await two.query('select txid_current()');
    await one.query("update public.profiles set subscription_tier = 'basic' where user_id = $1", [customer.id]);
    await two.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [customer.id]);
    await two.query('commit');
    expect((await events()).map(({ data }) => data.tier)).toEqual(['basic', 'pro']);
  });
});
