import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { freeBasePort, npmStart, type RunningStack } from '../stack/running-stack.ts';
import { type Settings, shiftClock, subscribe } from '../stack/subscriber.ts';

const paid = 'Payment received: your Basic plan is active';
const renewed = 'Your Basic plan has been renewed';
const unpaid = 'Your Basic plan could not be renewed yet';
const halted = 'Your Basic plan could not be renewed';
const completed = 'Your Basic subscription is complete';
const ended = 'Your Basic plan has ended';

// All lives share one stack, because a start takes seconds. Its clock only moves on.
const port = freeBasePort();
const clock = (shift: string) => shiftClock(port, shift);
let stack: RunningStack;
let settings: Settings;
let database: TestDatabase;
beforeAll(async () => {
  stack = npmStart(['--port', String(port), '--ephemeral']);
  settings = await stack.ready;
  database = openDatabase(settings.DB_URL ?? '', { findings: 'compared elsewhere' });
});
afterAll(async () => {
  await database.close();
  await stack.end();
});

const setPlan = (fields: string) => database.query(`update public.plans set ${fields} where tier = 'basic'`);

test('npm run clock: approved, renewed, unpaid, halted, and paid again', async () => {
  const customer = await subscribe(settings, 'basic');
  expect(customer.verified).toMatchObject({ tier: 'basic', startsAt: null });
  const first = (await customer.atGateway()).current_end;
  expect(Date.parse(customer.verified.validUntil) / 1000).toBe(first);
  await customer.sees({ currentTier: 'basic', billing: { status: 'active', payment_attention: false } });
  await customer.hasMails(paid);

  await clock('1 month');
  const { current_end: second, paid_count } = await customer.atGateway();
  expect([second > first, paid_count]).toEqual([true, 2]);
  await customer.hasMails(paid, renewed);
  const until = `select extract(epoch from s.current_period_end)::integer as until
    from public.subscriptions s where s.gateway_subscription_id = $1`;
  expect(await database.one(until, [customer.id])).toEqual({ until: second });

  await customer.simulate('subscription-fault', { charges: 'fail' });
  await clock('1 month');
  await customer.sees({ currentTier: 'basic', billing: { status: 'pending', payment_attention: true } });
  await customer.hasMails(paid, renewed, unpaid);
  await clock('2 days');
  await customer.sees({ currentTier: 'basic', billing: { status: 'pending' } });
  await clock('1 day');
  await customer.sees({
    currentTier: 'free',
    subscription: { status: 'cancelled', ended_reason: 'lapsed' },
    billing: { status: 'halted', payment_attention: true, next_charge_at: null },
  });
  await customer.hasMails(paid, renewed, unpaid, halted, ended);

  // The new method is active without a charge. The next cycle is charged.
  await customer.simulate('update-method');
  await customer.sees({ currentTier: 'free', billing: { status: 'active', payment_attention: false } });
  await clock('28 days');
  await customer.sees({ currentTier: 'basic', subscription: { status: 'active', ended_reason: null } });
});

test('npm run clock: a cancellation is sent 48 hours before the end of the cycle, and access ends with it', async () => {
  const customer = await subscribe(settings, 'basic');
  await customer.request('subscriptions/cancel', { at_period_end: true });
  const end = (await customer.atGateway()).current_end;
  await clock(`${end - await now() - 49 * 3600} seconds`);
  expect(await customer.willBeBilled()).toBe(true);
  await clock('61 minutes');
  await customer.endsWithItsCycle();
  await customer.sees({ currentTier: 'basic', billing: { next_charge_at: null } });
  await clock('48 hours');
  await customer.sees({ currentTier: 'free', billing: null, subscription: { ended_reason: 'cancelled' } });
  expect(await customer.atGateway()).toMatchObject({ status: 'cancelled', paid_count: 1 });
});

test('npm run clock: a refunded cycle ends access until the next one, and a pause ends it until it resumes', async () => {
  const refunded = await subscribe(settings, 'basic');
  const paused = await subscribe(settings, 'basic');
  await refunded.simulate('refund', { payment_id: refunded.paid.gateway_payment_id, subscription_id: undefined });
  await refunded.sees({ currentTier: 'free', subscription: { ended_reason: 'refunded' } });
  await clock('1 day');
  await paused.atGateway('/pause', { pause_at: 'now' });
  await paused.sees({ currentTier: 'basic', billing: { status: 'paused', next_charge_at: null } });

  await clock('40 days');
  await paused.sees({ currentTier: 'free', billing: { status: 'paused' } });
  await refunded.sees({ currentTier: 'basic', subscription: { ended_reason: null } });
  await paused.atGateway('/resume', { resume_at: 'now' });
  await paused.sees({ currentTier: 'free', billing: { status: 'active' } });
  await clock('32 days');
  await paused.sees({ currentTier: 'basic', billing: { status: 'active' } });
  expect((await paused.atGateway()).paid_count).toBe(2);
});

test('npm run clock: a trial is charged at its end, and the last agreed cycle completes the subscription', async () => {
  await setPlan('trial_days = 7, billing_cycles = 1');
  const customer = await subscribe(settings, 'basic');
  await setPlan('trial_days = 0, billing_cycles = null');
  const start = (await customer.atGateway()).start_at;
  expect(Date.parse(customer.verified.validUntil) / 1000).toBe(start);
  await customer.sees({ currentTier: 'basic', billing: { status: 'authenticated' } });
  await customer.hasMails();

  await clock('7 days');
  await customer.sees({ currentTier: 'basic', billing: { status: 'active' } });
  await customer.hasMails(paid);
  expect((await customer.atGateway()).paid_count).toBe(1);
  await clock('32 days');
  await customer.sees({ currentTier: 'free', subscription: { ended_reason: 'lapsed' }, billing: null });
  await customer.hasMails(paid, completed, ended);
});

async function now(): Promise<number> {
  const row = await database.one('select extract(epoch from billing.clock())::integer as now');
  return Number(row.now);
}
