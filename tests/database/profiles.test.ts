import { beforeEach, describe, expect, test } from 'vitest';
import { openSession } from '../helpers/database/session.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { paymentFailed, type SubscriptionEvent } from '../helpers/gateway/events.ts';
import { type Customer, customerOf } from '../helpers/records/customer.ts';
import { paymentOf } from '../helpers/records/purchases.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { day, months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const readProfile = (userId: string) =>
  database.one('select username, display_name, subscription_tier from public.profiles where user_id = $1', [userId]);

describe('a sign-up', () => {
  test.each<[string, string | null, string]>([
    ['without an address', null, 'user'],
    ['with an empty address', '', 'user'],
    ['with an address that has no local part', '@example.com', 'user'],
    ['with a local part of 61 characters', `${'x'.repeat(61)}@example.com`, 'x'.repeat(60)],
    ['with 61 characters of four bytes each', `${'🙂'.repeat(61)}@example.com`, '🙂'.repeat(60)],
  ])('%s inserts a free profile, named by its local part, as another may be', async (_, email, username) => {
    await createUser(database, { email: `${username}@example.org` });
    const { id } = await createUser(database, { email });
    expect(await readProfile(id)).toEqual({ username, display_name: null, subscription_tier: 'free' });
  });

  test.each<[string, unknown, string | null]>([
    ['full_name before name and display_name', { full_name: 'Asha Rao', name: 'asha', display_name: 'A' }, 'Asha Rao'],
    ['name before display_name', { name: 'asha', display_name: 'A' }, 'asha'],
    ['the first that is not blank', { full_name: ' ', name: '', display_name: ' A ' }, 'A'],
    ['the first that is a text', { full_name: { first: 'Asha' }, name: 7, display_name: 'A' }, 'A'],
    ['at most 200 characters', { full_name: '🙂'.repeat(201) }, '🙂'.repeat(200)],
    ['no name', { avatar_url: 'https://app.example/a.png' }, null],
    ['no object', ['Asha'], null],
  ])('with metadata, from which the display name is %s', async (_, metadata, display_name) => {
    const id = crypto.randomUUID();
    const json = JSON.stringify(metadata);
    await database.query('insert into auth.users (id, raw_user_meta_data) values ($1, $2)', [id, json]);
    expect(await readProfile(id)).toMatchObject({ display_name, username: 'user' });
  });

  test.each([
    ['the app refuses the profile', "table public.profiles add constraint a check (username <> 'user') not valid"],
    ['the view of the profiles does not exist', 'view billing.profiles rename to renamed'],
    ['the outbox does not exist', 'table billing.outbox rename to renamed'],
  ])('succeeds without a profile when %s', async (_, change) => {
    const admin = await database.connect();
    await admin.query(`begin; alter ${change}`);
    const id = crypto.randomUUID();
    await admin.query('insert into auth.users (id) values ($1)', [id]);
    const users = await admin.query('select id from auth.users');
    const profiles = await admin.query('select from public.profiles');
    await admin.query('rollback');
    expect([users.rows, profiles.rows]).toEqual([[{ id }], []]);
  });
});

test('the tier in the app’s own policies is that of the profile, and free without one', async () => {
  const { id: userId } = await createUser(database);
  const session = await openSession(database, { role: 'authenticated', userId });
  const tiers = `select public.current_tier() as tier, public.has_tier('pro') as pro, public.has_tier('free') as free,
    public.has_tier(null) as unknown`;
  const free = { tier: 'free', pro: false, free: true, unknown: null };
  for (
    const [change, expected] of [
      ['update public.profiles set subscription_tier = null', free],
      ["update public.profiles set subscription_tier = 'pro'", { tier: 'pro', pro: true, free: false, unknown: null }],
      ['delete from public.profiles', free],
    ] as const
  ) {
    await database.query(change);
    expect((await session.query(tiers)).rows, change).toEqual([expected]);
  }
});

describe('a change of tier', () => {
  const customer = useCustomer(database);
  /** `free → pro: payment pay_1`, oldest first. */
  const changes = async ({ id } = customer) =>
    (await database.query('select * from billing.tier_changes where user_id = $1 order by id', [id]))
      .map((row) => `${row.from_tier} → ${row.to_tier}: ${row.cause} ${row.reference}`);
  const update = 'update public.profiles set subscription_tier = $2 where user_id = $1';
  const setTier = async (...tiers: (string | null)[]) => {
    for (const tier of tiers) await database.service.query(update, [customer.id, tier]);
  };

  test('has the payment as its cause, also after the user was deleted; a renewal is none', async () => {
    expect(await changes()).toEqual([]);
    const { paymentId } = await customer.buy('pro');
    await customer.buy('pro');
    const expected = [`free → pro: payment ${paymentId}`];
    expect(await changes()).toEqual(expected);
    await database.query('delete from auth.users where id = $1', [customer.id]);
    expect(await changes()).toEqual(expected);
  });

  test('has each event of the gateway as its cause, with its subscription', async () => {
    const period = { start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' };
    await customer.event('activated', '01-01', { ...period, planId: 'plan_pro' });
    await customer.event('charged', '01-02', { ...period, planId: 'plan_premium' });
    await customer.event('cancelled', '01-03');
    expect(await changes()).toEqual([
      `free → pro: subscription.activated ${customer.gatewayId}`,
      `pro → premium: subscription.charged ${customer.gatewayId}`,
      `premium → free: subscription.cancelled ${customer.gatewayId}`,
    ]);
  });

  test('by an update has the cause direct, also after an event on the same connection; one for each profile', async () => {
    const other = await database.customer();
    await database.send(paymentFailed(paymentOf(await customer.order('pro'))));
    await setTier('pro');
    await database.query("update public.profiles set subscription_tier = 'pro'");
    expect([await changes(), await changes(other)]).toEqual(Array(2).fill(['free → pro: direct null']));
  });

  test('is none by a write of the same tier or of a name; null and free are the same', async () => {
    await setTier('free', null, 'free');
    await database.query("update public.profiles set display_name = 'Asha'");
    expect(await changes()).toEqual([]);
    await setTier(null, 'pro', null);
    expect(await changes()).toEqual(['null → pro: direct null', 'pro → null: direct null']);
  });

  test('is from null for a profile that is inserted with a tier, also by a purchase; inserted as free is none', async () => {
    const remove = () => database.query('delete from public.profiles where user_id = $1', [customer.id]);
    const insert = 'insert into public.profiles (user_id, subscription_tier) values ($1, $2)';
    for (const tier of ['free', null, 'pro']) {
      await remove();
      await database.query(insert, [customer.id, tier]);
    }
    await remove();
    const { paymentId } = await customer.buy('premium');
    expect(await changes()).toEqual(['null → pro: direct null', `null → premium: payment ${paymentId}`]);
  });
});

describe('a sign-up after the events of a gateway subscription', () => {
  let late: Customer;
  beforeEach(() => {
    late = customerOf(database, { id: crypto.randomUUID(), email: `${uniqueId('user')}@example.com` });
  });
  const january = { planId: 'plan_pro', ...months(1) };
  const announce = async (
    name: SubscriptionEvent['name'],
    at: string | null,
    fields: Partial<SubscriptionEvent> = {},
  ) => {
    const createdAt = at === null ? null : day(at);
    expect(await late.event(name, '01-31', { createdAt, ...fields })).toBe('unmatched');
  };
  const insert = (session: Pick<typeof database, 'query'> | typeof database.service = database) =>
    session.query('insert into auth.users (id, email) values ($1, $2)', [late.id, late.email]);

  test('a user inserted after the events of a gateway subscription gets its tier and period', async () => {
    await announce('charged', '01-31', { planId: 'plan_pro', ...months(2) });
    await announce('activated', '01-30', january);
    await insert();
    const pro = { tier: 'pro', plan_tier: 'pro', gateway_subscription_id: late.gatewayId };
    expect(await late.subscription()).toMatchObject({ ...pro, ...months(2) });
    expect(await late.tier()).toBe('pro');
    const changes = 'select from_tier, to_tier, cause from billing.tier_changes where user_id = $1';
    const change = { from_tier: 'free', to_tier: 'pro', cause: 'subscription of a new user' };
    expect(await database.query(changes, [late.id])).toEqual([change]);
  });

  test('the insert of a user succeeds although the access cannot be settled; the sweep settles it', async () => {
    await announce('activated', '01-30', january);
    await database.query("alter table public.subscriptions add constraint broken check (tier <> 'pro') not valid");
    await insert();
    await database.query('alter table public.subscriptions drop constraint broken');
    expect(await late.state()).toBe('free: none');
    await database.query('select billing.sweep()');
    expect(await late.tier()).toBe('pro');
  });

  test('a user inserted during the delivery of the event is settled by the sweep', async () => {
    const signingUp = await database.connect();
    await signingUp.query('begin');
    await insert(signingUp);
    await announce('activated', '01-30', january);
    await signingUp.query('commit');
    await database.query('select billing.sweep()');
    expect(await late.tier()).toBe('pro');
  });

  test('subscriptions whose plan is added give access after the next sweep; a user whose profile is refused stops no other', async () => {
    const waiting = [await database.customer(), await database.customer(), await database.customer()]
      .sort((one, other) => one.id < other.id ? -1 : 1);
    for (const each of waiting) {
      expect(await each.event('activated', '01-01', { ...months(1), planId: 'plan_new' })).toBe('unmatched');
    }
    const condition = `user_id <> '${waiting[0]?.id}' or subscription_tier = 'free'`;
    await database.query(`alter table public.profiles add constraint refused check (${condition})`);
    await database.setPlan('premium', "gateway_plan_id = 'plan_new'");
    await database.query('select billing.sweep()');
    await database.query('alter table public.profiles drop constraint refused');
    for (const each of waiting.slice(1)) expect(await each.state()).toBe('premium: premium active to 2026-02-01');
    expect(await waiting[0]?.tier()).toBe('free');
  });
});
