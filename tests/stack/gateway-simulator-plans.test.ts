import { expect, test } from 'vitest';
import { type Entity, useSimulator } from './gateway-simulator-rig.ts';
import { at, startBilling } from './billing-rig.ts';

useSimulator();

const item = { name: 'Pro', amount: 99900, currency: 'INR' };
const NOW = at('2026-01-10T12:00:00Z');

test('POST /v1/plans creates a plan, which GET reads and lists, newest first', async () => {
  const { api } = await startBilling();
  const { status, body: plan } = await api('POST', '/v1/plans', { period: 'monthly', interval: 3, item });
  expect(status).toBe(200);
  expect(plan).toMatchObject({
    id: expect.stringMatching(/^plan_[A-Za-z0-9]{14}$/),
    entity: 'plan',
    period: 'monthly',
    interval: 3,
    item: { ...item, active: true, unit_amount: 99900 },
    notes: [],
    created_at: NOW,
  });
  const { body: second } = await api('POST', '/v1/plans', {
    period: 'yearly',
    interval: 1,
    item,
    notes: { tier: 'pro' },
  });
  expect(second.notes).toEqual({ tier: 'pro' });
  expect((await api('GET', `/v1/plans/${plan.id}`)).body).toEqual(plan);
  expect((await api('GET', '/v1/plans')).body).toEqual({ entity: 'collection', count: 2, items: [second, plan] });
  expect((await api('GET', '/v1/plans?count=1')).body.items).toEqual([second]);
  expect((await api('GET', '/v1/plans?count=1&skip=1')).body.items).toEqual([plan]);
  expect((await api('GET', '/v1/plans?count=101')).status).toBe(400);
  expect((await api('GET', '/v1/plans/plan_Unknown0000000')).body.error.description).toBe(
    'The id provided does not exist',
  );
});

test.each<[Entity, string]>([
  [{ interval: 1, item }, 'period'],
  [{ period: 'fortnightly', interval: 1, item }, 'period'],
  [{ period: 'daily', interval: 6, item }, 'interval'],
  [{ period: 'monthly', interval: 0, item }, 'interval'],
  [{ period: 'monthly', interval: 1, item: { ...item, amount: 99 } }, 'item.amount'],
  [{ period: 'monthly', interval: 1, item: { ...item, currency: 'rupee' } }, 'item.currency'],
  [{ period: 'monthly', interval: 1, item, notes: 'pro' }, 'notes'],
])('POST /v1/plans with %j → 400 that names %s', async (fields, field) => {
  const { api } = await startBilling();
  const { status, body } = await api('POST', '/v1/plans', fields);
  expect([status, body.error.field]).toEqual([400, field]);
});

test('POST /v1/subscriptions creates a subscription with a page, and no webhook', async () => {
  const { api, read, webhooks } = await startBilling();
  const fields = {
    plan_id: 'plan_Pro00000000001',
    total_count: 6,
    customer_notify: 0,
    quantity: 2,
    start_at: at('2026-02-01T00:00:00Z'),
    expire_by: at('2026-01-20T00:00:00Z'),
    notes: { user_id: '7f3c1f0e-9a4b-4c55-8f0a-2d6f1f0b9c11' },
  };
  const { status, body } = await api('POST', '/v1/subscriptions', fields);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    ...fields,
    id: expect.stringMatching(/^sub_[A-Za-z0-9]{14}$/),
    entity: 'subscription',
    status: 'created',
    customer_notify: false,
    short_url: expect.stringMatching(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/s/${body.id}$`)),
    current_start: null,
    current_end: null,
    charge_at: fields.start_at,
    end_at: at('2026-08-01T00:00:00Z'),
    paid_count: 0,
    remaining_count: 6,
    created_at: NOW,
  });
  expect(await read(body.id)).toEqual(body);
  expect(await webhooks()).toEqual([]);
});

test('GET /v1/subscriptions lists those of a plan, newest first, in parts', async () => {
  const { api, subscribe } = await startBilling();
  const [first, second] = [await subscribe(), await subscribe()];
  const other = await subscribe({ plan_id: 'plan_Basic000000001' });
  const list = async (query: string) => (await api('GET', `/v1/subscriptions${query}`)).body.items;
  expect(await list('')).toEqual([other, second, first]);
  expect(await list('?plan_id=plan_Pro00000000001')).toEqual([second, first]);
  expect(await list('?plan_id=plan_Pro00000000001&count=1&skip=1')).toEqual([first]);
  expect(await list('?plan_id=plan_Unknown0000000')).toEqual([]);
});

test('a plan that was never created is 999.00 INR each month, until POST /simulate/plan sets it', async () => {
  const { api, simulate, subscribe } = await startBilling();
  await subscribe({ plan_id: 'plan_New00000000001' });
  const path = '/v1/plans/plan_New00000000001';
  const created = (await api('GET', path)).body;
  expect(created).toMatchObject({ period: 'monthly', interval: 1, item: { amount: 99900, currency: 'INR' } });
  const changes = { id: created.id, name: 'New', amount: 120000, currency: 'USD', period: 'yearly', interval: 2 };
  const { plan } = await simulate('plan', changes);
  expect(plan).toMatchObject({ id: created.id, period: 'yearly', interval: 2, item: { name: 'New', amount: 120000 } });
  expect((await api('GET', path)).body).toEqual(plan);
});

test.each<[Entity, string]>([
  [{ plan_id: undefined }, 'plan_id'],
  [{ total_count: undefined }, 'total_count'],
  [{ total_count: 0 }, 'total_count'],
  [{ quantity: 0 }, 'quantity'],
  [{ start_at: NOW }, 'start_at'],
  [{ expire_by: NOW - 1 }, 'expire_by'],
  [{ notes: Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`n${i}`, i])) }, 'notes'],
  [{ notes: { long: 'x'.repeat(257) } }, 'notes'],
  [{ customer_notify: 'yes' }, 'customer_notify'],
  [{ amount: 100 }, ''],
])('POST /v1/subscriptions with %j → 400 that names %s', async (fields, field) => {
  const { api } = await startBilling();
  const body = { plan_id: 'plan_Pro00000000001', total_count: 12, ...fields };
  const answer = await api('POST', '/v1/subscriptions', body);
  expect([answer.status, answer.body.error.field]).toEqual([400, field]);
  expect((await api('GET', '/v1/subscriptions')).body.count).toBe(0);
});

test.each(['POST /v1/plans', 'GET /v1/subscriptions', 'PATCH /v1/subscriptions/sub_Unknown0000000'])(
  '%s without the key → 401',
  async (route) => {
    const { base } = await startBilling();
    const [method = '', path = ''] = route.split(' ');
    const response = await fetch(base + path, { method });
    await response.body?.cancel();
    expect(response.status).toBe(401);
  },
);
