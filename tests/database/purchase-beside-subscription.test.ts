import { beforeEach, describe, expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import { refundEvent, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import type { Customer, CustomerOrder } from '../helpers/records/customer.ts';
import { placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { day, months, type Period } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
let customer: Customer;
beforeEach(async () => {
  customer = await database.customer();
});

const iso = ({ start, end }: Period) => (
  { start: new Date(start).toISOString(), end: new Date(end).toISOString() }
);
/** A running period as a client sees it. */
const running = (tier: string, gateway_subscription_id: string | null, period: Period) => (
  { tier, plan_tier: tier, status: 'active', gateway_subscription_id, ...iso(period) }
);
/** Pro that was bought on 1 January for a year. */
const proYear = running('pro', null, months(1, 12));
const endMails = async () => (await customer.mails()).filter((key) => key.startsWith('subscription-ended'));
const accessFindings = async () => (await customer.findings()).filter((row) => !row.startsWith('missed_webhook'));
/** The number of subscriptions that end at a time. */
async function expire(time: string): Promise<unknown> {
  await database.at(time);
  return (await database.one('select billing.expire_subscriptions() as ended')).ended;
}
/** A gateway subscription that is activated and charged on 1 February. */
async function bill(tier: string, cycle: Period): Promise<void> {
  const of = { planId: `plan_${tier}`, ...cycle };
  expect(await customer.event('activated', '02-01', of)).toBe('applied');
  await customer.event('charged', '2026-02-01T00:00:05Z', { ...of, payment: payment() });
}
const payment = () => ({ id: `pay_of_${customer.gatewayId}`, amount: 49900 });

describe('a purchased year of pro, with premium billed by the gateway over it', () => {
  const cancelled = (time: string, planId?: string) =>
    customer.event('cancelled', time, planId === undefined ? {} : { planId });
  /** Reconciles the gateway subscription with an answer of the gateway. */
  async function read(time: string, status: string): Promise<void> {
    await database.at(time);
    const { id } = await database.one('select id from public.subscriptions');
    await database.rpc('apply_gateway_subscription', id, customer.gatewayId, JSON.stringify({ status }));
  }
  test.each<[string, () => Promise<unknown>]>([
    ['cancelled at the gateway, by an event without a plan', () => cancelled('02-10')],
    ['refunded', () => database.send(refundEvent(payment(), payment().amount))],
    ['cancelled by the user for its end', async () => {
      await database.at('02-10');
      await customer.cancel('at the end');
      expect(await customer.state()).toBe('premium: premium active to 2026-03-01');
      await cancelled('03-01', 'plan_premium');
    }],
    ['halted and lapsed, and then cancelled', async () => {
      await read('2026-03-03T12:00:00Z', 'halted');
      expect(await customer.tier()).toBe('premium');
      expect(await expire('2026-03-04T00:00:00.001Z')).toBe(1);
      await cancelled('03-05', 'plan_premium');
    }],
    ['read as expired, and later announced as cancelled', async () => {
      await read('03-02', 'expired');
      expect(await customer.subscription()).toEqual(proYear);
      await cancelled('03-05');
    }],
  ])('is pro until its end when premium is %s', async (_, ends) => {
    await customer.buy('pro', { at: '01-01' });
    await bill('premium', months(2));
    expect(await customer.state()).toBe('premium: premium active to 2026-03-01');
    await ends();
    expect(await customer.subscription()).toEqual(proYear);
    expect(await customer.tier()).toBe('pro');
    expect(await accessFindings()).toEqual([]);
    expect(await endMails()).toEqual([]);
    expect(await expire('2027-01-04')).toBe(0);
    expect(await expire('2027-01-04T00:00:00.001Z')).toBe(1);
    expect(await customer.tier()).toBe('free');
    expect(await endMails()).toHaveLength(1);
  });
});

describe('a year of premium that the gateway billed, with a purchased month of basic over it', () => {
  let basic: CustomerOrder;
  beforeEach(async () => {
    await bill('premium', months(2, 12));
    basic = await customer.buy('basic', { at: '02-10' });
    expect(await customer.state()).toBe('basic: basic active to 2026-03-10');
    expect(await customer.subscription()).toMatchObject({ gateway_subscription_id: null });
    expect(await customer.cancellation()).toEqual({ at: 'cycle end', state: 'pending' });
    expect(await accessFindings()).toEqual([]);
  });
  const premiumYear = () => running('premium', customer.gatewayId, months(2, 12));
  const endsWithCycle = async () =>
    (await database.one('select cancel_at_period_end as ends from public.subscriptions')).ends;
  /** Marks the cancellation of the gateway subscription as delivered, as a dispatcher does. */
  const deliverCancellation = () =>
    database.one(
      `update billing.outbox set attempts = 1, delivered_at = billing.clock()
       where kind = 'cancel-subscription' and delivered_at is null and parked_at is null returning id`,
    );

  test('is basic for the month, premium again after it, and is billed no further cycle', async () => {
    await deliverCancellation();
    expect(await expire('03-13')).toBe(0);
    expect(await expire('2026-03-13T00:00:00.001Z')).toBe(1);
    expect(await customer.subscription()).toEqual(premiumYear());
    expect(await customer.tier()).toBe('premium');
    expect(await endsWithCycle()).toBe(true);
    expect(await endMails()).toEqual([]);
    await customer.event('cancelled', '2027-02-01', { planId: 'plan_premium' });
    expect(await customer.subscription()).toEqual({ ...premiumYear(), status: 'cancelled' });
    expect(await customer.tier()).toBe('free');
    expect(await endMails()).toHaveLength(1);
  });

  test.each([['pending', 'withdrawn', false], ['delivered', 'delivered', true]])(
    'is premium again at once when basic is refunded; the cancellation, so far %s, is %s, and the end planned: %s',
    async (before, state, ends) => {
      if (before === 'delivered') await deliverCancellation();
      await basic.refund();
      expect(await customer.subscription()).toEqual(premiumYear());
      expect(await customer.tier()).toBe('premium');
      expect(await customer.cancellation()).toMatchObject({ state });
      expect(await endsWithCycle()).toBe(ends);
      expect(await endMails()).toEqual([]);
    },
  );
});

// A client of the contract may leave created_at out, or send the old one of the gateway's documentation, and needs to send
// only id, current_start, current_end and notes.user_id. Contract: Fields that an event needs, Gateway subscriptions.
describe.each([
  ['without created_at', null],
  ['with an old created_at', Date.parse('2019-09-10T07:25:14Z')],
])('events %s', (_, oldTime) => {
  const [first, second] = [
    { start: day('2126-01-01'), end: day('2126-02-01') },
    { start: day('2126-02-01'), end: day('2126-03-01') },
  ];
  let events = 0;
  function event(name: SubscriptionEvent['name'], period: Partial<Period> = {}) {
    events += 1;
    const createdAt = oldTime === null ? null : new Date(oldTime + events * 1000).toISOString();
    const of = { userId: customer.id, id: customer.gatewayId };
    return database.send(subscriptionEvent({ name, ...of, createdAt, ...period }));
  }
  const attached = (tier: string) => ({ tier, plan_tier: tier, gateway_subscription_id: customer.gatewayId });
  async function buy(tier: string): Promise<unknown> {
    const order = await placeOrder(database, { user: customer, tier });
    return (await verifyPurchase(database.service, order)).valid_until;
  }

  test('verify, activated, charged, cancelled: each changes its fields', async () => {
    const end = await buy('pro');
    expect(await customer.subscription()).toMatchObject({ status: 'active', gateway_subscription_id: null, end });
    const until = [['activated', first], ['charged', second], ['cancelled', second]] as const;
    for (const [name, period] of until) {
      const status = name === 'cancelled' ? name : 'active';
      await event(name, period);
      expect(await customer.subscription()).toEqual({ ...attached('pro'), ...iso(period), status });
      expect(await customer.tier()).toBe(status === 'active' ? 'pro' : 'free');
    }
    expect(await customer.findings()).toEqual([expect.stringMatching(/^paid_not_entitled/)]);
  });

  test('verify, charged, cancelled, verify: it starts now, and an activation after its cancellation gives the tier back', async () => {
    await buy('pro');
    await event('charged', first);
    expect(await customer.subscription()).toMatchObject({ status: 'active', ...iso(first) });
    await event('cancelled');
    expect(await customer.subscription()).toMatchObject({ status: 'cancelled', ...iso(first) });
    expect(await customer.tier()).toBe('free');
    const end = await buy('premium');
    expect(await customer.subscription()).toMatchObject({ tier: 'premium', status: 'active', end });
    expect(await customer.tier()).toBe('premium');
    await event('cancelled');
    expect(await customer.tier()).toBe('free');
    await event('activated', first);
    expect(await customer.subscription()).toEqual({ ...attached('premium'), ...iso(first), status: 'active' });
    expect(await customer.tier()).toBe('premium');
  });
});

test('a row written by hand with a time in the future outranks neither a purchase nor a later activation', async () => {
  await database.at('11-09');
  await database.query(
    `insert into public.subscriptions (user_id, tier, status, current_period_end, updated_at)
       values ($1, 'basic', 'active', '2026-12-09', '2027-11-09')`,
    [customer.id],
  );
  await customer.buy('pro', { at: '11-10' });
  expect(await customer.state()).toBe('pro: pro active to 2027-11-10');
  const cycle = { start: day('11-09'), end: day('12-09') };
  await customer.event('activated', '11-11', { planId: 'plan_premium', ...cycle });
  expect(await customer.tier()).toBe('premium');
});

test('an order made before another one was verified does not outrank it, although its capture arrives later', async () => {
  const premium = await customer.order('premium', { at: '11-09' });
  await premium.capture();
  const basic = await customer.order('basic', { at: '11-10' });
  await database.at('11-11');
  await premium.verify();
  await database.at('11-12');
  await basic.capture();
  expect(await customer.tier()).toBe('premium');
});
