import { expect, test } from 'vitest';
import { signHex } from '../../scripts/stack/gateway/delivery.ts';
import { type Entity, KEY_SECRET, useSimulator, WEBHOOK_SECRET } from './gateway-simulator-rig.ts';
import { at, startBilling } from './billing-rig.ts';

useSimulator();

const NOW = at('2026-01-10T12:00:00Z');
const NEXT = at('2026-02-10T12:00:00Z');

test('an approval charges the first cycle, with a signature over payment and subscription', async () => {
  const { api, read, simulate, subscribe, webhooks } = await startBilling();
  await simulate('plan', { id: 'plan_Pro00000000001', amount: 49900 });
  const { id } = await subscribe({ quantity: 2, notes: { user_id: 'asha' } });
  const answer = await simulate('authorise', { subscription_id: id, outcome: 'approved' });
  expect(answer).toEqual({
    gateway_payment_id: expect.stringMatching(/^pay_[A-Za-z0-9]{14}$/),
    gateway_subscription_id: id,
    gateway_signature: await signHex(KEY_SECRET, `${answer.gateway_payment_id}|${id}`),
  });
  const active = await read(id);
  expect(active).toMatchObject({
    status: 'active',
    current_start: NOW,
    current_end: NEXT,
    charge_at: NEXT,
    start_at: NOW,
    end_at: at('2027-01-10T12:00:00Z'),
    paid_count: 1,
    remaining_count: 11,
    notes: { user_id: 'asha' },
  });
  const payment = (await api('GET', `/v1/payments/${answer.gateway_payment_id}`)).body;
  expect(payment).toMatchObject({ amount: 99800, currency: 'INR', status: 'captured', method: 'upi', created_at: NOW });

  const sent = await webhooks();
  expect(sent.map(({ event, contains }) => [event, contains])).toEqual([
    ['subscription.authenticated', ['subscription']],
    ['payment.authorized', ['payment']],
    ['payment.captured', ['payment']],
    ['order.paid', ['payment', 'order']],
    ['subscription.activated', ['subscription', 'payment']],
    ['subscription.charged', ['subscription', 'payment']],
  ]);
  expect(sent[0]?.payload.subscription.entity).toMatchObject({ status: 'authenticated', current_end: null });
  expect(sent[5]?.payload).toEqual({
    subscription: { entity: active },
    payment: { entity: { ...payment, captured: '1' } },
  });
  for (const { body, signature, created_at } of sent) {
    expect(signature).toBe(await signHex(WEBHOOK_SECRET, body));
    expect(created_at).toBe(NOW);
  }
});

test('deliver chooses and orders the events of an approval, and irregular changes their bodies', async () => {
  const { simulate, subscribe, webhooks } = await startBilling();
  const order = ['subscription.charged', 'payment.captured', 'subscription.activated'];
  await simulate('authorise', {
    subscription_id: (await subscribe()).id,
    outcome: 'approved',
    deliver: { events: order },
    irregular: { created_at: 'missing' },
  });
  const sent = await webhooks();
  expect(sent.map(({ event }) => event)).toEqual(order);
  expect(sent.map(({ created_at }) => created_at)).toEqual([undefined, undefined, undefined]);
});

test('a refusal leaves the subscription as it was, with a failed payment, and can be followed by an approval', async () => {
  const { api, read, simulate, subscribe, webhooks } = await startBilling();
  const created = await subscribe();
  const refused = await simulate('authorise', { subscription_id: created.id, outcome: 'refused', method: 'card' });
  expect(refused).toMatchObject({
    gateway_subscription_id: created.id,
    gateway_signature: null,
    error: {
      code: 'BAD_REQUEST_ERROR',
      reason: 'payment_cancelled',
      metadata: { payment_id: refused.gateway_payment_id },
    },
  });
  expect(await read(created.id)).toEqual(created);
  expect((await api('GET', `/v1/payments/${refused.gateway_payment_id}`)).body)
    .toMatchObject({ status: 'failed', captured: false, amount: 99900, method: 'card', vpa: null });
  expect((await webhooks()).map(({ event }) => event)).toEqual(['payment.failed']);
  await simulate('authorise', { subscription_id: created.id, outcome: 'approved' });
  expect(await read(created.id)).toMatchObject({ status: 'active', paid_count: 1 });
});

test('with a later start_at an approval takes a small payment, refunds it, and charges at start_at', async () => {
  const { api, moveTo, read, simulate, subscribe, webhooks } = await startBilling();
  const start_at = at('2026-01-31T00:00:00Z');
  const { id } = await subscribe({ start_at });
  const answer = await simulate('authorise', { subscription_id: id, outcome: 'approved' });
  expect(answer.gateway_signature).toBe(await signHex(KEY_SECRET, `${answer.gateway_payment_id}|${id}`));
  expect(await read(id)).toMatchObject({
    status: 'authenticated',
    current_end: null,
    charge_at: start_at,
    paid_count: 0,
  });
  const path = `/v1/payments/${answer.gateway_payment_id}`;
  expect((await api('GET', path)).body).toMatchObject({ amount: 500, captured: true, status: 'refunded' });
  expect((await api('GET', `${path}/refunds`)).body.items).toMatchObject([{ amount: 500, status: 'processed' }]);
  expect((await webhooks()).map(({ event }) => event)).toEqual([
    'payment.authorized',
    'payment.captured',
    'order.paid',
    'refund.created',
    'refund.processed',
    'subscription.authenticated',
  ]);
  expect(await moveTo('2026-01-30T23:59:59Z')).toEqual([]);
  expect(await moveTo('2026-01-31T09:00:00Z')).toEqual([
    'activated 2026-01-31T00:00:00Z',
    'charged 2026-01-31T00:00:00Z',
  ]);
  expect(await read(id)).toMatchObject({
    status: 'active',
    current_start: start_at,
    current_end: at('2026-02-28T00:00:00Z'),
    paid_count: 1,
  });
});

test('an approval after start_at charges at once, and the cycle begins then', async () => {
  const { moveTo, read, simulate, subscribe } = await startBilling();
  const { id } = await subscribe({ start_at: at('2026-01-11T00:00:00Z') });
  await moveTo('2026-01-12T00:00:00Z');
  await simulate('authorise', { subscription_id: id, outcome: 'approved' });
  expect(await read(id)).toMatchObject({
    status: 'active',
    start_at: at('2026-01-12T00:00:00Z'),
    current_end: at('2026-02-12T00:00:00Z'),
  });
});

test('the page at short_url is served without a key, and its data names plan and amount', async () => {
  const { base, subscribe } = await startBilling();
  const subscription = await subscribe({ quantity: 3 });
  const page = await fetch(subscription.short_url);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
  const html = await page.text();
  expect(html).toContain('<title>Approve a subscription · Gateway simulator</title>');
  for (const [, path] of html.matchAll(/(?:href|src)="(\/s\/[^"]+)"/g)) {
    const file = await fetch(base + path);
    expect([path, file.status]).toEqual([path, 200]);
    await file.body?.cancel();
  }
  const data = await fetch(`${base}/simulate/subscription/${subscription.id}`);
  expect(await data.json()).toMatchObject({ subscription, plan: { item: { amount: 99900 } }, amount: 299700 });
  expect((await fetch(`${base}/simulate/subscription/sub_Unknown0000000`)).status).toBe(400);
});

test.each<[Entity, string]>([
  [{ outcome: 'approved' }, 'subscription_id'],
  [{ subscription_id: 'sub_Unknown0000000', outcome: 'approved' }, 'subscription_id'],
  [{ subscription_id: 'sub_Unknown0000000', outcome: 'maybe' }, 'outcome'],
])('POST /simulate/authorise with %j → 400 that names %s', async (fields, field) => {
  const { api } = await startBilling();
  const { status, body } = await api('POST', '/simulate/authorise', fields);
  expect([status, body.error.field]).toEqual([400, field]);
});

test('POST /simulate/authorise of a subscription that is active or cancelled → 400', async () => {
  const { api, approved } = await startBilling();
  const subscription_id = await approved();
  const again = () => api('POST', '/simulate/authorise', { subscription_id, outcome: 'approved' });
  expect((await again()).status).toBe(400);
  await api('POST', `/v1/subscriptions/${subscription_id}/cancel`);
  expect((await again()).body.error.description).toBe('A subscription that is cancelled can not be authorised.');
});
