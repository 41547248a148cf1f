import { beforeEach, expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import type { SubscriptionEvent } from '../helpers/gateway/events.ts';
import { type Customer, customerOf } from '../helpers/records/customer.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { day, months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
let customer: Customer;
/** A customer whose user is not inserted yet. */
beforeEach(() => {
  customer = customerOf(database, { id: crypto.randomUUID(), email: `${uniqueId('user')}@example.com` });
});

const january = { planId: 'plan_pro', ...months(1) };
const announce = async (
  name: SubscriptionEvent['name'],
  at: string | null,
  fields: Partial<SubscriptionEvent> = {},
) => {
  const createdAt = at === null ? null : day(at);
  expect(await customer.event(name, '01-31', { createdAt, ...fields })).toBe('unmatched');
};
const insert = (session: Pick<typeof database, 'query'> | typeof database.service = database) =>
  session.query('insert into auth.users (id, email) values ($1, $2)', [customer.id, customer.email]);

test('a user inserted after the events of a gateway subscription gets its tier and period', async () => {
  await announce('charged', '01-31', { planId: 'plan_pro', ...months(2) });
  await announce('activated', '01-30', january);
  await insert();
  const february = { start: '2026-02-01T00:00:00.000Z', end: '2026-03-01T00:00:00.000Z' };
  const [pro, gateway_subscription_id] = [{ tier: 'pro', plan_tier: 'pro', status: 'active' }, customer.gatewayId];
  expect(await customer.subscription()).toEqual({ ...pro, ...february, gateway_subscription_id });
  expect(await customer.tier()).toBe('pro');
  const changes = 'select from_tier, to_tier, cause from billing.tier_changes where user_id = $1';
  expect(await database.query(changes, [customer.id])).toEqual([
    { from_tier: 'free', to_tier: 'pro', cause: 'subscription of a new user' },
  ]);
});

test.each<[string, () => Promise<void>]>([
  ['only a cancellation', () => announce('cancelled', null)],
  ['an activation and its cancellation', async () => {
    await announce('activated', '01-30', january);
    await announce('cancelled', '2026-01-30T12:00:00Z', { planId: 'plan_pro' });
  }],
  ['an activation of an unknown plan', () => announce('activated', null, { ...january, planId: 'plan_unknown' })],
])('a user inserted after %s has the tier free', async (_, events) => {
  await events();
  await insert();
  expect(await customer.tier()).toBe('free');
});

test('the insert of a user succeeds although the access cannot be settled; the sweep settles it', async () => {
  await announce('activated', '01-30', january);
  await database.query("alter table public.subscriptions add constraint broken check (tier <> 'pro') not valid");
  await insert();
  await database.query('alter table public.subscriptions drop constraint broken');
  expect(await customer.state()).toBe('free: none');
  await database.query('select billing.sweep()');
  expect(await customer.tier()).toBe('pro');
});

test('a user inserted during the delivery of the event is settled by the sweep', async () => {
  const signingUp = await database.connect();
  await signingUp.query('begin');
  await insert(signingUp);
  await announce('activated', '01-30', january);
  await signingUp.query('commit');
  await database.query('select billing.sweep()');
  expect(await customer.tier()).toBe('pro');
});

test('subscriptions whose plan is added give access after the next sweep; a user whose trigger fails stops no other', async () => {
  const customers = [await database.customer(), await database.customer(), await database.customer()]
    .sort((one, other) => one.id < other.id ? -1 : 1);
  for (const each of customers) {
    expect(await each.event('activated', '01-01', { ...months(1), planId: 'plan_new' })).toBe('unmatched');
  }
  await database.query(`
    create function public.refuse_user() returns trigger language plpgsql as $$
    begin
      raise exception 'refused';
    end $$;
    create trigger refuse_user before update on public.profiles
    for each row when (new.user_id = '${customers[0]?.id}') execute function public.refuse_user()`);
  await database.setPlan('premium', "gateway_plan_id = 'plan_new'");
  await database.query('select billing.sweep()');
  await database.query('drop function public.refuse_user cascade');
  for (const each of customers.slice(1)) expect(await each.state()).toBe('premium: premium active to 2026-02-01');
  expect(await customers[0]?.tier()).toBe('free');
});
