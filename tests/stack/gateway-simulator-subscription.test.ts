import { describe, expect, test } from 'vitest';
import { signHex } from '../../scripts/stack/gateway/delivery.ts';
import {
  approved,
  at,
  call,
  type Entity,
  events,
  KEY_SECRET,
  look,
  moveTo,
  NOW,
  quiet,
  read,
  simulate,
  simulator,
  stateOf,
  subscribe,
  useSimulator,
  WEBHOOK_SECRET,
  webhooks,
} from './gateway-simulator-rig.ts';

useSimulator();

const [PRO, BASIC] = ['plan_Pro00000000001', 'plan_Basic000000001'];
const approve = (id: string, fields: Entity = {}) =>
  simulate('authorise', { subscription_id: id, outcome: 'approved', ...fields });
const post = async (id: string, name: string, body: Entity) =>
  (await call('POST', `/v1/subscriptions/${id}/${name}`, body)).body;
const item = { name: 'Pro', amount: 99900, currency: 'INR' };

test('POST /v1/plans creates a plan, which GET reads and lists, newest first and in parts', async () => {
  const { body: plan } = await call('POST', '/v1/plans', { period: 'monthly', interval: 3, item });
  expect(plan).toMatchObject({
    ...{ id: expect.stringMatching(/^plan_[A-Za-z0-9]{14}$/), entity: 'plan', period: 'monthly', interval: 3 },
    ...{ item: { ...item, active: true, unit_amount: 99900 }, notes: [], created_at: NOW },
  });
  const yearly = { period: 'yearly', interval: 1, item, notes: { tier: 'pro' } };
  const { body: second } = await call('POST', '/v1/plans', yearly);
  expect(second).toMatchObject(yearly);
  expect(await read(`plans/${plan.id}`)).toEqual(plan);
  expect(await read('plans')).toEqual({ entity: 'collection', count: 2, items: [second, plan] });
  expect((await read('plans?count=1')).items).toEqual([second]);
  expect((await read('plans?count=1&skip=1')).items).toEqual([plan]);
  expect((await call('GET', '/v1/plans?count=101')).status).toBe(400);
});

test('a plan that was never created is 999.00 INR each month, until POST /simulate/plan sets it', async () => {
  await subscribe({ plan_id: 'plan_New' });
  expect(await read('plans/plan_New'))
    .toMatchObject({ period: 'monthly', interval: 1, item: { amount: 99900, currency: 'INR' } });
  const changes = { id: 'plan_New', name: 'New', amount: 120000, currency: 'USD', period: 'yearly', interval: 2 };
  const { plan } = await simulate('plan', changes);
  expect(plan).toMatchObject({ period: 'yearly', interval: 2, item: { name: 'New', amount: 120000, currency: 'USD' } });
  expect(await read('plans/plan_New')).toEqual(plan);
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
  expect(await list('?plan_id=plan_Unknown0000000')).toEqual([]);
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
    expect(payment).toMatchObject({
      amount: 99800,
      currency: 'INR',
      status: 'captured',
      method: 'upi',
      created_at: NOW,
    });

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
    for (const { body, signature, created_at } of sent) {
      expect([signature, created_at]).toEqual([await signHex(WEBHOOK_SECRET, body), NOW]);
    }
  });

  test('deliver chooses and orders the events, and irregular changes their bodies', async () => {
    const order = ['subscription.charged', 'payment.captured', 'subscription.activated'];
    await approve((await subscribe()).id, { deliver: { events: order }, irregular: { created_at: 'missing' } });
    expect((await webhooks()).map(({ event, created_at }) => [event, created_at]))
      .toEqual(order.map((event) => [event, undefined]));
  });

  test('refused: a failed payment, the subscription as it was, and an approval can follow', async () => {
    const created = await subscribe();
    const { id } = created;
    const refused = await simulate('authorise', { subscription_id: id, outcome: 'refused', method: 'card' });
    const metadata = { payment_id: refused.gateway_payment_id };
    expect(refused).toMatchObject({ gateway_subscription_id: id, gateway_signature: null });
    expect(refused.error).toMatchObject({ code: 'BAD_REQUEST_ERROR', reason: 'payment_cancelled', metadata });
    expect(await read(`subscriptions/${id}`)).toEqual(created);
    expect(await read(`payments/${refused.gateway_payment_id}`))
      .toMatchObject({ status: 'failed', captured: false, amount: 99900, method: 'card', vpa: null });
    expect(await events()).toEqual(['payment.failed']);
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

  test('after start_at charges at once, and the cycle begins then', async () => {
    const { id } = await subscribe({ start_at: at('01-11') });
    await moveTo('01-12');
    await approve(id);
    expect(await stateOf(id)).toBe('active 2026-01-12 to 2026-02-12, 1 paid, 11 left, next 2026-02-12');
  });

  test('of a subscription that is active or cancelled → 400', async () => {
    const id = await approved();
    expect((await approve(id)).error.description).toBe('A subscription that is active can not be authorised.');
    await post(id, 'cancel', {});
    expect((await approve(id)).error.description).toBe('A subscription that is cancelled can not be authorised.');
  });
});

test('the page at short_url is served without a key, and its data names plan and amount', async () => {
  const subscription = await subscribe({ quantity: 3 });
  const page = await fetch(subscription.short_url);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
  const html = await page.text();
  expect(html).toContain('<title>Approve a subscription · Gateway simulator</title>');
  for (const [, path] of html.matchAll(/(?:href|src)="(\/s\/[^"]+)"/g)) {
    const file = await fetch(simulator.url + path);
    expect([path, file.status]).toEqual([path, 200]);
    await file.body?.cancel();
  }
  const data = await fetch(`${simulator.url}/simulate/subscription/${subscription.id}`);
  expect(await data.json()).toMatchObject({ subscription, plan: { item: { amount: 99900 } }, amount: 299700 });
});

describe('PATCH /v1/subscriptions/:id', () => {
  /** A subscription paid by card, and a cheaper plan. */
  async function onCard(fields: Entity = {}, answer: Entity = {}) {
    await simulate('plan', { id: BASIC, amount: 9900 });
    const id = await approved(fields, { method: 'card', ...answer });
    return {
      id,
      change: (changes: Entity = {}) => call('PATCH', `/v1/subscriptions/${id}`, { plan_id: BASIC, ...changes }),
    };
  }
  const amounts = async () => (await look('state')).payments.map(({ amount }: Entity) => amount);

  test('"now" changes the plan at once, and the next charge has the new price', async () => {
    const { change, id } = await onCard();
    const before = await read(`subscriptions/${id}`);
    const { status, body } = await change({ schedule_change_at: 'now' });
    expect([status, body]).toEqual([200, { ...before, plan_id: BASIC }]);
    expect((await webhooks()).map(({ event, payload }) => [event, payload]))
      .toEqual([['subscription.updated', { subscription: { entity: body } }]]);
    expect([await moveTo('02-10'), await amounts()]).toEqual([['charged 2026-02-10'], [9900, 99900]]);
  });

  test('"cycle_end" changes the plan before the next charge', async () => {
    const { change, id } = await onCard();
    const { body } = await change({ schedule_change_at: 'cycle_end' });
    const scheduled = { has_scheduled_changes: true, change_scheduled_at: at('02-10') };
    expect(body).toMatchObject({ plan_id: PRO, ...scheduled });
    expect(await moveTo('02-10')).toEqual(['updated 2026-02-10', 'charged 2026-02-10']);
    expect(await read(`subscriptions/${id}`))
      .toMatchObject({ plan_id: BASIC, has_scheduled_changes: false, change_scheduled_at: null });
    expect(await amounts()).toEqual([9900, 99900]);
  });

  test('of an authorised subscription changes the price of its first charge', async () => {
    const { change } = await onCard({ start_at: at('02-01') });
    expect((await change()).body).toMatchObject({ status: 'authenticated', plan_id: BASIC });
    await moveTo('02-01');
    expect(await amounts()).toEqual([9900, 500]);
  });

  test.each<[string, Entity, Entity]>([
    ['paid by upi', { method: 'upi' }, {}],
    ['paid by emandate', { method: 'emandate' }, {}],
    ['to a plan with another period', {}, { plan_id: 'plan_Yearly' }],
    ['at another time', {}, { schedule_change_at: 'later' }],
    ['without a plan', {}, { plan_id: undefined }],
  ])('of a subscription %s → 400, nothing changes', async (_, answer, changes) => {
    await simulate('plan', { id: 'plan_Yearly', period: 'yearly' });
    const { change, id } = await onCard({}, answer);
    const before = await read(`subscriptions/${id}`);
    expect((await change(changes)).status).toBe(400);
    expect([await read(`subscriptions/${id}`), await events()]).toEqual([before, []]);
  });
});

describe('POST …/pause and …/resume', () => {
  const [pause, resume] = [{ pause_at: 'now' }, { resume_at: 'now' }];

  test('a paused subscription is not charged, and a resumed one from the next cycle on', async () => {
    const id = await approved();
    const active = await read(`subscriptions/${id}`);
    expect(await post(id, 'pause', pause)).toEqual({ ...active, status: 'paused', charge_at: null });
    expect([await events(), await moveTo('03-20')]).toEqual([['subscription.paused'], []]);
    await post(id, 'resume', resume);
    expect(await stateOf(id)).toBe('active 2026-03-10 to 2026-04-10, 1 paid, 9 left, next 2026-04-10');
    expect((await webhooks()).map(({ event, created_at }) => [event, created_at]))
      .toEqual([['subscription.resumed', at('03-20')]]);
    expect(await moveTo('04-10')).toEqual(['charged 2026-04-10']);
  });

  test('within one cycle change nothing', async () => {
    const id = await approved();
    const active = await read(`subscriptions/${id}`);
    await post(id, 'pause', pause);
    await moveTo('01-20');
    expect(await post(id, 'resume', resume)).toEqual(active);
  });

  test('a cancellation at the end of the cycle takes effect in a pause', async () => {
    const id = await approved();
    await post(id, 'cancel', { cancel_at_cycle_end: true });
    await post(id, 'pause', pause);
    await webhooks();
    expect(await moveTo('12-01')).toEqual(['cancelled 2026-02-10']);
  });

  test.each(['authenticated', 'activated', 'pending', 'halted', 'paused', 'cancelled', 'completed'])(
    'and PATCH are possible in some statuses only, after %s',
    async (event) => {
      const [id, status] = [await approved({}, { method: 'card' }), event === 'activated' ? 'active' : event];
      await simulate('subscription', { event, subscription_id: id, ...quiet });
      const path = `/v1/subscriptions/${id}`;
      const changed = await call('PATCH', path, { plan_id: BASIC });
      const resumed = await call('POST', `${path}/resume`, resume);
      if (status === 'paused') await simulate('subscription', { event, subscription_id: id, ...quiet });
      const paused = await call('POST', `${path}/pause`, pause);
      expect([changed, resumed, paused].map((answer) => answer.status)).toEqual([
        ['active', 'authenticated'].includes(status) ? 200 : 400,
        status === 'paused' ? 200 : 400,
        status === 'active' ? 200 : 400,
      ]);
      for (const [{ body }, what] of [[changed, 'updated'], [resumed, 'resumed'], [paused, 'paused']] as const) {
        if (body.error) expect(body.error.description).toBe(`Subscription can not be ${what} in ${status} status.`);
      }
    },
  );
});
