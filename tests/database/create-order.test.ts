import { beforeEach, describe, expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import type { Customer, CustomerOrder } from '../helpers/records/customer.ts';
import { readPayment } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { shortTime } from '../helpers/records/time.ts';

const database = useDatabase();
let user: Customer;
beforeEach(async () => {
  await later(0);
  user = await database.customer();
});

const start = Date.parse('2026-06-01T00:00:00Z');
const later = (seconds: number) => database.at(new Date(start + seconds * 1000).toISOString());
const day = 86_400;

const create = (tier = 'pro', key: string | null = null, { id }: { id: string } = user, keyId: string | null = null) =>
  database.rpc('create_order', id, tier, key, keyId);
const store = (id: unknown, orderId: string) => database.rpc('store_order', id, orderId);
const payments = () => database.query('select id from public.payments where user_id = $1', [user.id]);

async function orderUnder(key: string): Promise<{ id: string; orderId: string }> {
  const created = await create('pro', key);
  expect(created).toMatchObject({ outcome: 'created', order_id: null });
  const [id, orderId] = [String(created.payment_id), uniqueId('order')];
  expect(await store(id, orderId)).toEqual({ outcome: 'stored' });
  return { id, orderId };
}
const existing = ({ id: payment_id, orderId: order_id }: { id: string; orderId: string }) => (
  { outcome: 'existing', payment_id, order_id, amount: 99900 }
);

describe('a new order', () => {
  test('is not a renewal that failed a moment ago', async () => {
    const fields = { current_start: 1780272000, paid_count: 0 };
    await user.event('pending', '2026-06-01T00:00:00Z', { planId: 'plan_pro', fields });
    expect(await create()).toMatchObject({ outcome: 'created' });
    expect(await payments()).toHaveLength(2);
  });

  test('writes the payment before the call to the gateway, with the plan and its price', async () => {
    const { plan, payment_id, ...order } = await create();
    const prefill = { email: user.email, name: user.email?.split('@')[0] };
    const sold = { amount: 99900, currency: 'INR' };
    const row = { id: Object(plan).id, gateway_plan_id: 'plan_pro', is_default: true };
    const price = { ...row, lookup_key: 'pro', ...sold, interval: 'year', interval_count: 1 };
    expect(order).toEqual({ outcome: 'created', order_id: null, ...sold, price, running: null, prefill });
    expect(plan).toMatchObject({ tier: 'pro', name: 'Pro', price: 99900, duration_months: 12 });
    const unpaid = { gateway_order_id: null, gateway_payment_id: null, fulfilled_at: null };
    const ofPro = { tier: 'pro', plan_id: Object(plan).id, duration_months: 12, meta: { tier: 'pro' } };
    const stored = { user_id: user.id, status: 'created', ...sold, amount: '99900', ...ofPro, ...unpaid };
    expect(await readPayment(database, String(payment_id))).toMatchObject(stored);
  });

  test('of an unknown user, or of a tier that is not on offer, is refused and writes nothing', async () => {
    expect(await create('pro', null, { id: crypto.randomUUID() })).toEqual({ outcome: 'user_not_found' });
    await database.setPlan('pro', 'is_active = false');
    for (const tier of ['unknown', 'pro']) expect(await create(tier)).toEqual({ outcome: 'plan_not_found' });
    expect(await payments()).toEqual([]);
  });

  test('returns the running tier and its end, until it is cancelled or over', async () => {
    const cancelling = await database.customer();
    for (const customer of [user, cancelling]) await (await customer.order('basic')).capture();
    const running = { tier: 'basic', until: '2026-07-01T00:00:00.000Z' };
    expect(await create('pro', null, cancelling)).toMatchObject({ outcome: 'created', running });
    await cancelling.cancel('at once');
    expect(await create('premium', null, cancelling)).toMatchObject({ running: null });
    await later(30 * day - 1);
    expect(await create()).toMatchObject({ running });
    await later(30 * day);
    expect(await create('premium')).toMatchObject({ running: null });
  });

  test.each([
    ['replace', 'basic', '2026-06-02', '2026-07-02 then 2026-06-02'],
    ['extend', 'basic', '2026-07-01', '2026-08-01 then 2026-08-01'],
    ['extend', 'pro', '2026-06-02', '2027-06-02 then 2027-06-02'],
  ])('under %s a purchase of %s starts as said, on %s; the next: %s', async (setting, tier, starts, further) => {
    await database.set(`early_renewal = '${setting}'`);
    await (await user.order('basic')).capture();
    await later(day);
    const order = await user.order(tier);
    const { early_renewal, tier: running, until, starts_at } = Object(order.answer.running);
    expect([early_renewal, running, shortTime(until), shortTime(starts_at)])
      .toEqual([setting, 'basic', '2026-07-01', starts]);
    await order.capture();
    expect(shortTime((await order.row()).period_start)).toBe(starts);
    const next = Object((await create(tier)).running);
    expect(`${shortTime(next.until)} then ${shortTime(next.starts_at)}`).toBe(further);
  });

  test.each([
    ['asha@example.com', "update public.profiles set display_name = 'Asha Rao', username = 'a'", 'Asha Rao'],
    ['cleo@example.com', "update public.profiles set display_name = null, username = ''", null],
    ['', 'delete from public.profiles', null],
  ])('of a user with the address %j after %s has the name %j for the checkout', async (email, write, name) => {
    user = await database.customer({ email });
    await database.query(`${write} where user_id = $1`, [user.id]);
    expect((await create()).prefill).toEqual({ email: email || null, name });
  });
});

test.each([['a free plan', 'price = 0'], ['a plan of before that the gateway does not take', 'price = 99']])(
  '%s is not sold: no order is stored',
  async (_, assignment) => {
    await database.query('alter table public.plans disable trigger check_plan');
    await database.setPlan('pro', assignment);
    await database.query('alter table public.plans enable trigger check_plan');
    expect(await create()).toEqual({ outcome: 'plan_not_found' });
    expect(await database.query('select from public.payments where user_id = $1', [user.id])).toEqual([]);
  },
);

describe('an open order', () => {
  test('is returned for 30 minutes; after that a new order is created', async () => {
    const order = await user.order('pro');
    for (const seconds of [0, 60, 1799]) {
      await later(seconds);
      expect(await create()).toMatchObject(existing(order));
      await database.send(paymentFailed({ id: uniqueId('pay'), order_id: order.orderId }));
    }
    await later(1800);
    const next = await create();
    expect(next).toMatchObject({ outcome: 'created' });
    expect(next.payment_id).not.toBe(order.id);
  });

  test.each<[string, (order: CustomerOrder) => Promise<unknown>]>([
    ['paid', (order) => order.capture()],
    ['paid and refunded before its capture arrived', (order) => order.refund()],
    ['given a plan of another price', () => database.setPlan('pro', 'price = 109900')],
    ['given a plan of another length', () => database.setPlan('pro', 'duration_months = 6')],
  ])('that was %s is not returned', async (_, change) => {
    await change(await user.order('pro'));
    expect(await create()).toMatchObject({ outcome: 'created' });
  });

  test('of another user, also with the same key, or another tier is not returned', async () => {
    await orderUnder('key');
    for (const key of [null, 'key']) {
      expect(await create('pro', key, await database.customer())).toMatchObject({ outcome: 'created' });
    }
    expect(await create('premium')).toMatchObject({ outcome: 'created', amount: 199900 });
  });

  test.each([null, 'key'])('without a gateway id is in flight for 30 seconds, then abandoned (key %j)', async (key) => {
    await create('pro', key);
    await later(29);
    expect(await create('pro', key)).toEqual({ outcome: 'in_flight' });
    await later(30);
    const { outcome, payment_id } = await create('pro', key);
    expect(outcome).toBe('created');
    await store(payment_id, uniqueId('order'));
    await later(60);
    expect(await create('pro', key)).toMatchObject({ outcome: 'existing', payment_id });
  });

  test.each([null, 'key'])(
    'without a gateway id, made while the clock was ahead, is abandoned (key %j)',
    async (key) => {
      await later(25 * 3600);
      await create('pro', key);
      await later(0);
      expect(await create('pro', key)).toMatchObject({ outcome: 'created' });
    },
  );

  test.each([null, 'key'])('of another API key id is not returned, with the Idempotency-Key %j', async (key) => {
    const ids = new Set();
    for (const keyId of ['key_test_1', 'key_live_1']) {
      const { outcome, payment_id } = await create('pro', key, user, keyId);
      expect(outcome).toBe('created');
      await store(payment_id, uniqueId('order'));
      expect(await create('pro', key, user, keyId)).toMatchObject({ outcome: 'existing', payment_id });
      ids.add(payment_id);
      await later(60);
    }
    expect(ids.size).toBe(2);
  });
});

describe('an idempotency key', () => {
  test('is one of at most twenty of an order; a known key is still answered', async () => {
    const order = await orderUnder('key 1');
    for (let count = 2; count <= 20; count += 1) {
      await later(count);
      expect(await create('pro', `key ${count}`)).toMatchObject(existing(order));
    }
    await later(60);
    expect(await create('pro', 'key 21')).toEqual({ outcome: 'rate_limited', retry_after: 1740 });
    expect(await create('pro', 'key 20')).toMatchObject(existing(order));
    expect(await create()).toMatchObject(existing(order));
    await later(1800);
    expect(await create('pro', 'key 21')).toMatchObject({ outcome: 'created' });
  });

  test('names its order, paid or not on offer any more, for seven days, then another one, also of another tier', async () => {
    const order = await user.order('pro');
    for (const key of [null, 'key']) expect(await create('pro', key)).toMatchObject(existing(order));
    await later(7200);
    expect(await create('pro', 'key')).toMatchObject(existing(order));
    await database.setPlan('pro', 'price = 100, is_active = false');
    expect(await create('pro', 'key')).toMatchObject(existing(order));
    await database.rpc('verify_payment', user.id, order.orderId, uniqueId('pay'), 'signature');
    await later(7 * day - 1);
    expect(await create('pro', 'key')).toMatchObject(existing(order));
    for (const tier of ['premium', 'unknown']) {
      expect(await create(tier, 'key')).toEqual({ outcome: 'key_conflict' });
    }
    expect(await payments()).toEqual([{ id: order.id }]);
    await later(7 * day);
    expect(await create('premium', 'key')).toMatchObject({ outcome: 'created' });
  });

  test('that returned an open order keeps it, also after a repeat without a key', async () => {
    const order = await user.order('pro');
    expect(await create()).toMatchObject(existing(order));
    expect(await create('pro', 'key')).toMatchObject(existing(order));
    await later(3600);
    expect(await create('pro', 'key')).toMatchObject(existing(order));
  });

  test('is deleted with a discarded order', async () => {
    const { payment_id } = await create('pro', 'key');
    await database.rpc('discard_order', payment_id);
    expect(await create('premium', 'key')).toMatchObject({ outcome: 'created' });
  });
});

test('ten new orders an hour: the eleventh gets retry_after, and an open one is still returned', async () => {
  for (let order = 0; order < 10; order++) {
    await later(order * 60);
    await database.setPlan('pro', 'price = price + 1');
    expect((await user.order('pro')).answer).toMatchObject({ outcome: 'created' });
  }
  expect(await create()).toMatchObject({ outcome: 'existing' });
  expect(await create('premium')).toEqual({ outcome: 'rate_limited', retry_after: 3060 });
  expect(await create('premium', null, await database.customer())).toMatchObject({ outcome: 'created' });
  await later(3599);
  expect(await create('premium')).toEqual({ outcome: 'rate_limited', retry_after: 1 });
  await later(3600);
  expect(await create('premium')).toMatchObject({ outcome: 'created' });
});

describe('store_order and discard_order', () => {
  test('store an id once: the same id again is stored, another id or an unknown payment is refused', async () => {
    const { id, orderId } = await user.order('pro');
    expect(await store(id, orderId)).toEqual({ outcome: 'stored' });
    for (const [payment, order] of [[id, uniqueId('order')], [crypto.randomUUID(), orderId]] as const) {
      expect(await store(payment, order)).toEqual({ outcome: 'payment_not_found' });
    }
    expect(await readPayment(database, id)).toMatchObject({ gateway_order_id: orderId });
  });

  test('delete a payment without an order, and no other', async () => {
    const { id } = await user.order('pro');
    const { payment_id } = await create('premium');
    for (const payment of [id, payment_id, payment_id, crypto.randomUUID()]) {
      expect(await database.rpc('discard_order', payment)).toEqual({ outcome: 'discarded' });
    }
    expect(await payments()).toEqual([{ id }]);
  });

  test.each(["status = 'failed'", "gateway_payment_id = 'pay_of_no_order'"])('keep one with %s', async (field) => {
    const { payment_id } = await create();
    await database.query(`update public.payments set ${field} where id = $1`, [payment_id]);
    await database.rpc('discard_order', payment_id);
    expect(await payments()).toHaveLength(1);
  });
});
