import { describe, expect, test } from 'vitest';
import { signHex } from '../../scripts/stack/gateway/delivery.ts';
import { approved, at, moveTo, stateOf, subscribe } from './billing-rig.ts';
import { KEY_SECRET, NOW, simulator, useSimulator } from './gateway-simulator-rig.ts';
import { call, type Entity, events, look, read, simulate, webhooks } from './simulate.ts';

useSimulator();

const card = { method: 'card' };
const [PRO, BASIC] = ['plan_Pro00000000001', 'plan_Basic000000001'];
const approve = (id: string, fields: Entity = {}) =>
  simulate('authorise', { subscription_id: id, outcome: 'approved', ...fields });
const post = async (id: string, name: string, body: Entity) =>
  (await call('POST', `/v1/subscriptions/${id}/${name}`, body)).body;

test('POST /v1/plans creates a plan, which GET reads', async () => {
  const fields = { period: 'monthly', interval: 3, item: { name: 'Pro', amount: 99900, currency: 'INR' } };
  const { body: plan } = await call('POST', '/v1/plans', fields);
  expect(plan).toMatchObject({
    ...{ ...fields, id: expect.stringMatching(/^plan_[A-Za-z0-9]{14}$/), entity: 'plan', notes: [], created_at: NOW },
    item: { ...fields.item, active: true, unit_amount: 99900 },
  });
  expect(await read(`plans/${plan.id}`)).toEqual(plan);
  expect(await read('plans')).toEqual({ entity: 'collection', count: 1, items: [plan] });
});

test('a plan that was never created is 999.00 INR each month, until POST /simulate/plan sets it', async () => {
  await subscribe({ plan_id: 'plan_New' });
  expect(await read('plans/plan_New'))
    .toMatchObject({ period: 'monthly', interval: 1, item: { amount: 99900, currency: 'INR' } });
  await simulate('plan', {
    id: 'plan_New',
    name: 'New',
    amount: 120000,
    currency: 'USD',
    period: 'yearly',
    interval: 2,
  });
  expect(await read('plans/plan_New'))
    .toMatchObject({ period: 'yearly', interval: 2, item: { name: 'New', amount: 120000, currency: 'USD' } });
});

test('POST /v1/subscriptions creates a subscription with a page, and no webhook', async () => {
  const fields = { customer_notify: 0, quantity: 2, start_at: at('02-01'), expire_by: at('01-20'), total_count: 6 };
  const made = await subscribe({ ...fields, notes: { user_id: 'asha' } });
  expect(made).toMatchObject({
    ...{ ...fields, id: expect.stringMatching(/^sub_[A-Za-z0-9]{14}$/), entity: 'subscription', plan_id: PRO },
    ...{ status: 'created', customer_notify: false, short_url: `${simulator.url}/s/${made.id}`, created_at: NOW },
    ...{ charge_at: fields.start_at, end_at: at('08-01'), notes: { user_id: 'asha' } },
  });
  expect(await read(`subscriptions/${made.id}`)).toEqual(made);
  expect([await stateOf(made.id), await events()]).toEqual(['created, 0 paid, 6 left, next 2026-02-01', []]);
});

test('GET /v1/subscriptions lists those of a plan, newest first, in parts', async () => {
  const [first, second, other] = [await subscribe(), await subscribe(), await subscribe({ plan_id: BASIC })];
  const list = async (query: string) => (await read(`subscriptions${query}`)).items;
  expect(await list('')).toEqual([other, second, first]);
  expect(await list(`?plan_id=${PRO}`)).toEqual([second, first]);
  expect(await list(`?plan_id=${PRO}&count=1&skip=1`)).toEqual([first]);
  expect((await call('GET', '/v1/subscriptions?count=101')).status).toBe(400);
});

describe('POST /simulate/authorise', () => {
  test('approved: charges the first cycle, with a signature over payment and subscription', async () => {
    await simulate('plan', { id: PRO, amount: 49900 });
    const { id } = await subscribe({ quantity: 2, notes: { user_id: 'asha' } });
    const answer = await approve(id);
    expect(answer).toEqual({
      gateway_payment_id: expect.stringMatching(/^pay_[A-Za-z0-9]{14}$/),
      gateway_subscription_id: id,
      gateway_signature: await signHex(KEY_SECRET, `${answer.gateway_payment_id}|${id}`),
    });
    const active = await read(`subscriptions/${id}`);
    expect(await stateOf(id)).toBe('active 2026-01-10 to 2026-02-10, 1 paid, 11 left, next 2026-02-10');
    expect(active).toMatchObject({ start_at: NOW, end_at: at('2027-01-10'), notes: { user_id: 'asha' } });
    const payment = await read(`payments/${answer.gateway_payment_id}`);
    expect(payment).toMatchObject({ amount: 99800, currency: 'INR', status: 'captured', method: 'upi' });

    const sent = await webhooks();
    expect(sent.map(({ event, contains }) => [event, ...contains].join(' '))).toEqual([
      'subscription.authenticated subscription',
      'payment.authorized payment',
      'payment.captured payment',
      'order.paid payment order',
      'subscription.activated subscription payment',
      'subscription.charged subscription payment',
    ]);
    expect(sent[0]?.payload.subscription.entity).toMatchObject({ status: 'authenticated', current_end: null });
    const charged = { subscription: { entity: active }, payment: { entity: { ...payment, captured: '1' } } };
    expect(sent[5]?.payload).toEqual(charged);
  });

  test('refused: a failed payment, the subscription as it was, and an approval can follow', async () => {
    const created = await subscribe();
    const { id } = created;
    const refused = await simulate('authorise', { subscription_id: id, outcome: 'refused', method: 'card' });
    const metadata = { payment_id: refused.gateway_payment_id };
    expect(refused).toMatchObject({ gateway_subscription_id: id, gateway_signature: null });
    expect(refused.error).toMatchObject({ code: 'BAD_REQUEST_ERROR', reason: 'payment_cancelled', metadata });
    expect([await read(`subscriptions/${id}`), await events()]).toEqual([created, ['payment.failed']]);
    await approve(id);
    expect(await stateOf(id)).toMatch(/^active .* 1 paid/);
  });

  test('with a later start_at takes a small payment, refunds it, and charges at start_at', async () => {
    const { id } = await subscribe({ start_at: at('01-31') });
    const { gateway_payment_id: payment, gateway_signature } = await approve(id);
    expect(gateway_signature).toBe(await signHex(KEY_SECRET, `${payment}|${id}`));
    expect(await stateOf(id)).toBe('authenticated, 0 paid, 12 left, next 2026-01-31');
    expect(await read(`payments/${payment}`)).toMatchObject({ amount: 500, captured: true, status: 'refunded' });
    expect((await read(`payments/${payment}/refunds`)).items).toMatchObject([{ amount: 500, status: 'processed' }]);
    expect(await events()).toEqual([
      ...['payment.authorized', 'payment.captured', 'order.paid', 'refund.created', 'refund.processed'],
      'subscription.authenticated',
    ]);
    expect(await moveTo('2026-01-30T23:59:59Z')).toEqual([]);
    expect(await moveTo('2026-01-31T09:00:00Z')).toEqual(['activated 2026-01-31', 'charged 2026-01-31']);
    expect(await stateOf(id)).toBe('active 2026-01-31 to 2026-02-28, 1 paid, 11 left, next 2026-02-28');
  });

  test('after start_at charges at once, and the cycle begins then; again → 400', async () => {
    const { id } = await subscribe({ start_at: at('01-11') });
    await moveTo('01-12');
    await approve(id);
    expect(await stateOf(id)).toBe('active 2026-01-12 to 2026-02-12, 1 paid, 11 left, next 2026-02-12');
    expect((await approve(id)).error.description).toBe('A subscription that is active can not be authorised.');
    await post(id, 'cancel', {});
    expect((await approve(id)).error.description).toBe('A subscription that is cancelled can not be authorised.');
  });
});

test('PATCH changes the plan of a subscription paid by card, now or at the end of the cycle', async () => {
  await simulate('plan', { id: BASIC, amount: 4900 });
  const change = (id: string, schedule_change_at: string) =>
    call('PATCH', `/v1/subscriptions/${id}`, { plan_id: BASIC, schedule_change_at });
  const [now, later, upi] = [await approved({}, card), await approved({}, card), await approved()];
  expect((await change(now, 'now')).body).toMatchObject({ plan_id: BASIC, has_scheduled_changes: false });
  expect((await change(later, 'cycle_end')).body).toMatchObject({ plan_id: PRO, change_scheduled_at: at('02-10') });
  expect((await change(upi, 'now')).status).toBe(400);
  expect(await events()).toEqual(['subscription.updated']);
  expect((await moveTo('02-10')).toSorted())
    .toEqual([...Array(3).fill('charged 2026-02-10'), 'updated 2026-02-10']);
  expect((await look('state')).payments.slice(0, 3).map(({ amount }: Entity) => amount).toSorted())
    .toEqual([4900, 4900, 99900]);
});

test('a paused subscription is not charged, and a resumed one from the next cycle on', async () => {
  const id = await approved();
  expect((await post(id, 'resume', { resume_at: 'now' })).error.description).toContain('in active status');
  expect(await post(id, 'pause', { pause_at: 'now' })).toMatchObject({ status: 'paused', charge_at: null });
  expect([await events(), await moveTo('03-20')]).toEqual([['subscription.paused'], []]);
  await post(id, 'resume', { resume_at: 'now' });
  expect(await stateOf(id)).toBe('active 2026-03-10 to 2026-04-10, 1 paid, 9 left, next 2026-04-10');
  expect([await events(), await moveTo('04-10')]).toEqual([['subscription.resumed'], ['charged 2026-04-10']]);
});
