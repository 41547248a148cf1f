import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { actAsOwner, grantTier } from '../helpers/records/support-actions.ts';
import { months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);
beforeEach(() => database.set('sends_events = true'));

type Event = { type: string; timestamp: string; data: Record<string, unknown> };

/** The events about the user, oldest first. */
async function events(userId = customer.id): Promise<Event[]> {
  const sql = `select payload, key from billing.outbox
    where destination = 'event' and payload #>> '{data,user_id}' = $1 order by id`;
  const rows = await database.query(sql, [userId]);
  expect(rows.filter(({ key }) => !/^evt_[a-z0-9_]+$/.test(String(key)))).toEqual([]);
  return rows.map(({ payload }) => payload as Event);
}
const types = async () => (await events()).map(({ type }) => type);
/** What the newest event about the access says. */
async function newest() {
  const { data } = (await events()).findLast(({ type }) => type === 'subscription.updated') ?? { data: {} };
  return data;
}
/** What the user reads, as the events say it. */
async function read() {
  const answer = await database.one('select public.get_subscription($1)::jsonb as body', [customer.id]);
  const { payments: _, billing, ...rest } = answer.body as Record<string, unknown>;
  if (billing && typeof billing === 'object') Reflect.deleteProperty(billing, 'manage_url');
  return { user_id: customer.id, ...rest, billing };
}

describe('events', () => {
  test('of a purchase say what was paid and, once, the access that the user then reads', async () => {
    const pro = await customer.buy('pro', { at: '01-01' });
    expect((await types()).sort()).toEqual(['payment.captured', 'subscription.updated']);
    expect(await newest()).toEqual(await read());
    expect(await newest()).toMatchObject({ currentTier: 'pro', subscription: { status: 'active' } });
    const paid = (await events()).find(({ type }) => type === 'payment.captured');
    expect(paid).toMatchObject({
      timestamp: '2026-01-01T00:00:00.000Z',
      data: { id: pro.id, amount: 99900, currency: 'INR', status: 'captured', gateway_payment_id: pro.paymentId },
    });
    await pro.capture();
    await pro.verify();
    expect(await types()).toHaveLength(2);
  });

  test('of a refund, in parts and one that fails later, say each time what is refunded', async () => {
    const pro = await customer.buy('pro', { at: '01-01' });
    const refunded = async () =>
      (await events()).flatMap(({ type, data }) => type === 'payment.refunded' ? [data.refunded_amount] : []);
    await pro.refund(40000);
    expect(await newest()).toMatchObject({ currentTier: 'pro' });
    await pro.refund(59900, { id: 'rfnd_rest' });
    expect(await newest()).toMatchObject({ currentTier: 'free', subscription: { ended_reason: 'refunded' } });
    await pro.refund(59900, { id: 'rfnd_rest', status: 'failed' });
    expect(await newest()).toMatchObject({ currentTier: 'pro' });
    expect(await refunded()).toEqual([40000, 99900, 40000]);
    expect(await newest()).toEqual(await read());
  });

  test('of a subscription follow its cycles, a failed charge, and its cancellation', async () => {
    const cycle = months(1);
    await customer.event('activated', '01-01', { planId: 'plan_pro', ...cycle });
    await customer.charge(cycle, 'pro');
    expect(await newest()).toEqual(await read());
    await customer.event('pending', '02-01', { planId: 'plan_pro' });
    expect(await newest()).toMatchObject({ billing: { status: 'pending', payment_attention: true } });
    await customer.charge(months(2), 'pro', { planId: 'plan_pro' });
    await customer.cancel('at the end');
    expect(await newest()).toMatchObject({ subscription: { cancel_at_period_end: true } });
    expect(await newest()).toEqual(await read());
    const before = (await events()).length;
    await database.sweep('02-02');
    expect(await events()).toHaveLength(before);
    await customer.event('cancelled', '03-01', { planId: 'plan_pro', ...months(2) });
    await database.expire('03-02');
    expect(await newest()).toMatchObject({ currentTier: 'free' });
  });

  test('of grants, of a tier that is written by hand, and of nothing for a new user', async () => {
    expect(await events()).toEqual([]);
    await grantTier(database, customer.email, 'premium', '2099-01-01Z');
    expect(await newest()).toMatchObject({ currentTier: 'premium' });
    await actAsOwner(database, { action: 'revoke_grant', email: customer.email });
    expect(await newest()).toMatchObject({ currentTier: 'free' });
    const admin = await database.connect();
    await admin.query('set role service_role');
    await admin.query("update public.profiles set subscription_tier = 'basic' where user_id = $1", [customer.id]);
    expect(await newest()).toEqual(await read());
    expect(await newest()).toMatchObject({ currentTier: 'basic' });
  });

  test('of one transaction with several changes are one, with its result; a rollback leaves none', async () => {
    const session = await database.connect();
    const write = 'update public.profiles set subscription_tier = $2 where user_id = $1';
    for (const end of ['rollback', 'commit']) {
      await session.query('begin');
      for (const tier of ['basic', 'premium', 'pro']) await session.query(write, [customer.id, tier]);
      await session.query(end);
    }
    expect((await events()).map(({ data }) => data.currentTier)).toEqual(['pro']);
  });

  test('name no address, no name and no page of the gateway', async () => {
    await customer.event('activated', '01-01', { planId: 'plan_pro', ...months(1) });
    await customer.charge(months(1), 'pro');
    const text = JSON.stringify(await events());
    expect(text).not.toContain(customer.email);
    expect(text).not.toMatch(/manage_url|short_url|display_name|username|signature/);
  });

  test('of a deleted user are not written, and those before are gone after 90 days, also if none was delivered', async () => {
    await customer.event('activated', '01-01', { planId: 'plan_pro', ...months(1) });
    await customer.charge(months(1), 'pro');
    const before = (await events()).length;
    expect(before).toBeGreaterThan(1);
    await database.query('delete from auth.users where id = $1', [customer.id]);
    await customer.event('cancelled', '01-10', { planId: 'plan_pro', ...months(1) });
    expect(await events()).toHaveLength(before);
    await database.sweep('2026-05-01');
    expect(await events()).toEqual([]);
  });

  test('are not written while the setting is off', async () => {
    await database.set('sends_events = false');
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
    expect((await events()).map(({ data }) => data.currentTier)).toEqual(['basic', 'pro']);
  });
});
