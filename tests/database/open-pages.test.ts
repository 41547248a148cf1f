import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { readCancellation, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
let userId: string;
beforeAll(async () => {
  database = await createTestDatabase({ findings: { charged_twice: 'any', stopped_in_error: 'any' } });
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier, duration_months = 1");
});
beforeEach(async () => {
  await setClock(database, at(0));
  userId = (await createUser(database)).id;
});
afterEach(async () => {
  await setClock(database, null);
  await database.query('delete from auth.users; delete from billing.outbox; update public.plans set trial_days = 0');
});
afterAll(() => database.close());

/** Minutes after the start of June. */
const at = (minutes: number) => new Date(Date.UTC(2026, 5, 1) + minutes * 60_000).toISOString();
const july = Date.UTC(2026, 6, 1);
const withdrawn = { at: 'cycle end', state: 'pending' };

/** A subscription, by its tier and its id at the gateway. */
type Page = { tier: string; id: string };

/** Asks for a subscription to a tier after so many minutes. */
async function start(tier: string, minutes: number): Promise<Page> {
  await setClock(database, at(minutes));
  return await store(tier, await callRpc(service, 'create_subscription', userId, tier));
}
async function change(tier: string, minutes: number): Promise<Page> {
  await setClock(database, at(minutes));
  return await store(tier, await callRpc(service, 'create_change', userId, tier, 'period_end'));
}
async function store(tier: string, made: Record<string, unknown>): Promise<Page> {
  expect(made).toMatchObject({ outcome: 'created' });
  const id = uniqueId('sub');
  await callRpc(service, 'store_subscription', made.id, id, 'https://gateway.example/s/1');
  return { tier, id };
}

async function event({ tier, id }: Page, name: SubscriptionEvent['name'], minutes: number, more = {}): Promise<void> {
  await setClock(database, at(minutes));
  const event = { name, userId, id, planId: `plan_${tier}`, createdAt: at(minutes), ...more };
  await deliver(service, subscriptionEvent(event));
}
const authorise = (page: Page, minutes: number) => event(page, 'authenticated', minutes);

/** Authorised, and charged for a month. */
async function begin(page: Page, minutes: number): Promise<void> {
  await authorise(page, minutes);
  const cycle = { start: at(minutes), end: new Date(july + minutes * 60_000).toISOString() };
  await event(page, 'activated', minutes, cycle);
  await event(page, 'charged', minutes, { ...cycle, payment: { id: uniqueId('pay'), amount: 99_900 } });
}
/** The gateway may have got the cancellation. */
const send = ({ id }: Page) =>
  database.query("update billing.outbox set attempts = 1 where key = 'cancel-subscription/' || $1", [id]);
const cancellation = ({ id }: Page) => readCancellation(database, id);

describe('an authorisation', () => {
  test('cancels every other subscription that was asked for before it, and those are not offered again', async () => {
    const [basic, pro] = [await start('basic', 0), await start('pro', 5)];
    await begin(basic, 10);
    expect(await cancellation(pro)).toEqual(withdrawn);
    expect(await cancellation(basic)).toBeNull();
    const next = await start('pro', 15);
    expect(next.id).not.toBe(pro.id);
    await event(basic, 'activated', 20, { createdAt: at(10), start: at(10), end: new Date(july).toISOString() });
    expect(await cancellation(next)).toBeNull();
  });

  test('cancels one that the gateway is still making', async () => {
    const basic = await start('basic', 0);
    const made = await callRpc(service, 'create_subscription', userId, 'pro');
    await begin(basic, 10);
    const id = uniqueId('sub');
    expect(await callRpc(service, 'store_subscription', made.id, id, 'https://gateway.example/s')).toEqual({
      outcome: 'withdrawn',
    });
    expect(await readCancellation(database, id)).toEqual(withdrawn);
  });

  test('by an idempotency key the cancelled one has that status', async () => {
    const basic = await start('basic', 0);
    const made = await callRpc(service, 'create_subscription', userId, 'pro', 'key');
    await callRpc(service, 'store_subscription', made.id, uniqueId('sub'), 'https://gateway.example/s');
    await begin(basic, 10);
    expect(await callRpc(service, 'create_subscription', userId, 'pro', 'key')).toMatchObject({
      outcome: 'existing',
      status: 'cancelled',
    });
  });

  test('of a change cancels a start that is open, and the other way round', async () => {
    const old = await start('pro', 0);
    await begin(old, 1);
    const [changed, started] = [await change('basic', 5), await start('premium', 6)];
    await authorise(changed, 10);
    expect(await cancellation(started)).toEqual(withdrawn);
    const again = await start('premium', 15);
    await event(changed, 'cancelled', 16);
    const other = await change('basic', 17);
    await begin(again, 20);
    expect(await cancellation(other)).toEqual(withdrawn);
  });
});

describe('of two subscriptions that were authorised in the same moment', () => {
  test('the newer rules, and exactly one goes on', async () => {
    const [basic, pro] = [await start('basic', 0), await start('pro', 5)];
    await begin(basic, 10);
    await begin(pro, 11);
    expect(await cancellation(pro)).toEqual({ at: 'cycle end', state: 'withdrawn' });
    expect(await cancellation(basic)).toEqual(withdrawn);
    expect(await readTier(database, userId)).toBe('pro');
    expect(await readSubscription(database, userId)).toMatchObject({ gateway_subscription_id: pro.id });
  });

  test('the newer rules; if its cancellation was sent, it ends with its cycle and a finding says so', async () => {
    const [basic, pro] = [await start('basic', 0), await start('pro', 5)];
    await begin(basic, 10);
    await send(pro);
    await begin(pro, 11);
    expect(await cancellation(pro)).toEqual(withdrawn);
    expect(await readSubscription(database, userId)).toMatchObject({ gateway_subscription_id: pro.id });
    expect(await database.query('select finding, subject from billing.findings where user_id = $1', [userId])).toEqual([
      { finding: 'stopped_in_error', subject: pro.id },
    ]);
  });

  test.each([false, true])(
    'changes, the newer first: %j: exactly one starts',
    async (newerFirst) => {
      const old = await start('premium', 0);
      await begin(old, 1);
      const pages = [await change('basic', 5), await change('pro', 6)];
      const [first, second] = newerFirst ? pages.toReversed() : pages;
      if (!first || !second) throw new Error('no changes');
      await authorise(first, 10);
      await authorise(second, 10);
      const states = [await cancellation(first), await cancellation(second)].map((row) => row?.state ?? 'withdrawn');
      expect(states).toEqual(newerFirst ? ['withdrawn', 'pending'] : ['pending', 'withdrawn']);
      expect(await cancellation(old)).toMatchObject({ state: 'pending' });
    },
  );

  test.each([false, true])('a change and a start, the start first: %j: only the start bills', async (startFirst) => {
    const old = await start('pro', 0);
    await begin(old, 1);
    const [changed, started] = [await change('basic', 5), await start('premium', 6)];
    if (!startFirst) await authorise(changed, 10);
    await begin(started, 11);
    if (startFirst) await authorise(changed, 11);
    expect(await cancellation(changed)).toEqual(withdrawn);
    expect(await cancellation(started)).toEqual(startFirst ? null : { at: 'cycle end', state: 'withdrawn' });
    expect(await cancellation(old)).toMatchObject({ state: 'pending' });
    expect(await readTier(database, userId)).toBe('premium');
  });

  test.each([false, true])('trials, the newer first: %j: the newer alone is charged', async (newerFirst) => {
    await database.query('update public.plans set trial_days = 7');
    const [basic, pro] = [await start('basic', 0), await start('pro', 5)];
    const acts = [() => authorise(basic, 10), () => authorise(pro, 11)];
    for (const act of newerFirst ? acts.toReversed() : acts) await act();
    expect(await cancellation(basic)).toEqual(withdrawn);
    expect((await cancellation(pro))?.state ?? 'withdrawn').toBe('withdrawn');
    expect(await readTier(database, userId)).toBe('pro');
  });
});

describe('a trial', () => {
  beforeEach(() => database.query("update public.plans set trial_days = 7 where tier = 'basic'"));
  const day = 24 * 60;

  test('is cancelled when another subscription starts, so that it never displaces that one', async () => {
    const trial = await start('basic', 0);
    await authorise(trial, 1);
    const pro = await start('pro', 2 * day);
    await begin(pro, 2 * day + 1);
    expect(await cancellation(trial)).toEqual(withdrawn);
    expect(await cancellation(pro)).toBeNull();
    await event(trial, 'cancelled', 2 * day + 2);
    expect(await readTier(database, userId)).toBe('pro');
  });

  test('that a change follows runs to its end, and until the first charge of the new one', async () => {
    const trial = await start('basic', 0);
    await authorise(trial, 1);
    const pro = await change('pro', day);
    await authorise(pro, day + 1);
    // The service tells the gateway two days before the end, and the gateway cancels a trial at once.
    await event(trial, 'cancelled', 5 * day);
    expect(await readTier(database, userId)).toBe('basic');
    await setClock(database, at(7 * day + 60));
    await database.query('select billing.expire_subscriptions()');
    expect(await readTier(database, userId)).toBe('basic');
    await begin(pro, 7 * day + 120);
    expect(await readTier(database, userId)).toBe('pro');
  });
});
