import { expect, test } from 'vitest';
import { type Entity, useSimulator } from './gateway-simulator-rig.ts';
import { at, startBilling } from './billing-rig.ts';

useSimulator();

const BASIC = 'plan_Basic000000001';
const card = { method: 'card' };

/** A subscription and the calls that change it. */
async function subscribed(fields: Entity = {}, answer: Entity = {}) {
  const billing = await startBilling();
  await billing.simulate('plan', { id: BASIC, amount: 9900 });
  const id = await billing.approved(fields, answer);
  return {
    ...billing,
    id,
    change: (changes: Entity) => billing.api('PATCH', `/v1/subscriptions/${id}`, changes),
    post: (call: string, body: Entity) => billing.api('POST', `/v1/subscriptions/${id}/${call}`, body),
    amounts: async () =>
      (await billing.api('GET', '/simulate/state')).body.payments.map(({ amount }: Entity) => amount),
  };
}

test('PATCH with "now" changes the plan at once, and the next charge has the new price', async () => {
  const { amounts, change, id, moveTo, read, webhooks } = await subscribed({}, card);
  const before = await read(id);
  const { status, body } = await change({ plan_id: BASIC, schedule_change_at: 'now' });
  expect([status, body]).toEqual([200, { ...before, plan_id: BASIC }]);
  const [updated] = await webhooks();
  expect([updated?.event, updated?.payload]).toEqual(['subscription.updated', { subscription: { entity: body } }]);
  expect(await moveTo('2026-02-10T12:00:00Z')).toEqual(['charged 2026-02-10T12:00:00Z']);
  expect(await amounts()).toEqual([9900, 99900]);
});

test('PATCH with "cycle_end" changes the plan before the next charge', async () => {
  const { amounts, change, id, moveTo, read } = await subscribed({}, card);
  const { body } = await change({ plan_id: BASIC, schedule_change_at: 'cycle_end' });
  expect(body).toMatchObject({
    plan_id: 'plan_Pro00000000001',
    has_scheduled_changes: true,
    change_scheduled_at: at('2026-02-10T12:00:00Z'),
  });
  expect(await moveTo('2026-02-10T12:00:00Z')).toEqual([
    'updated 2026-02-10T12:00:00Z',
    'charged 2026-02-10T12:00:00Z',
  ]);
  expect(await read(id)).toMatchObject({ plan_id: BASIC, has_scheduled_changes: false, change_scheduled_at: null });
  expect(await amounts()).toEqual([9900, 99900]);
});

test('PATCH of an authorised subscription changes the price of its first charge', async () => {
  const { amounts, change, moveTo } = await subscribed({ start_at: at('2026-02-01T00:00:00Z') }, card);
  expect((await change({ plan_id: BASIC })).body).toMatchObject({ status: 'authenticated', plan_id: BASIC });
  await moveTo('2026-02-01T00:00:00Z');
  expect(await amounts()).toEqual([9900, 500]);
});

test.each(['upi', 'emandate'])('PATCH of a subscription paid by %s → 400', async (method) => {
  const { change, id, read, webhooks } = await subscribed({}, { method });
  const before = await read(id);
  expect((await change({ plan_id: BASIC })).status).toBe(400);
  expect(await read(id)).toEqual(before);
  expect(await webhooks()).toEqual([]);
});

test.each(['created', 'pending', 'halted', 'paused', 'cancelled', 'completed'])(
  'PATCH of a subscription that is %s → 400',
  async (event) => {
    const { api, change, id, simulate, subscribe } = await subscribed({}, card);
    if (event !== 'created') await simulate('subscription', { event, subscription_id: id, deliver: { drop: true } });
    const answer = event === 'created'
      ? await api('PATCH', `/v1/subscriptions/${(await subscribe()).id}`, { plan_id: BASIC })
      : await change({ plan_id: BASIC });
    expect([answer.status, answer.body.error.description])
      .toEqual([400, `Subscription can not be updated in ${event} status.`]);
  },
);

test.each<[Entity, string]>([
  [{}, 'plan_id'],
  [{ plan_id: BASIC, schedule_change_at: 'later' }, 'schedule_change_at'],
  [{ plan_id: 'plan_Yearly00000001' }, 'plan_id'],
])('PATCH with %j → 400 that names %s', async (changes, field) => {
  const { change, simulate } = await subscribed({}, card);
  await simulate('plan', { id: 'plan_Yearly00000001', period: 'yearly' });
  const { status, body } = await change(changes);
  expect([status, body.error.field]).toEqual([400, field]);
});

test('a paused subscription is not charged, and a resumed one from the next cycle on', async () => {
  const { id, moveTo, post, read, webhooks } = await subscribed();
  const active = await read(id);
  const paused = await post('pause', { pause_at: 'now' });
  expect([paused.status, paused.body]).toEqual([200, { ...active, status: 'paused', charge_at: null }]);
  expect((await webhooks()).map(({ event }) => event)).toEqual(['subscription.paused']);
  expect(await moveTo('2026-03-20T00:00:00Z')).toEqual([]);

  const resumed = await post('resume', { resume_at: 'now' });
  expect(resumed.body).toMatchObject({
    status: 'active',
    paid_count: 1,
    current_start: at('2026-03-10T12:00:00Z'),
    current_end: at('2026-04-10T12:00:00Z'),
    charge_at: at('2026-04-10T12:00:00Z'),
  });
  expect((await webhooks()).map(({ event, created_at }) => [event, created_at]))
    .toEqual([['subscription.resumed', at('2026-03-20T00:00:00Z')]]);
  expect(await moveTo('2026-04-10T12:00:00Z')).toEqual(['charged 2026-04-10T12:00:00Z']);
});

test('a subscription that is paused and resumed within its cycle is charged at its end', async () => {
  const { id, moveTo, post, read } = await subscribed();
  const active = await read(id);
  await post('pause', { pause_at: 'now' });
  await moveTo('2026-01-20T00:00:00Z');
  expect((await post('resume', { resume_at: 'now' })).body).toEqual(active);
});

test('a cancellation at the end of the cycle takes effect while the subscription is paused', async () => {
  const { moveTo, post, webhooks } = await subscribed();
  await post('cancel', { cancel_at_cycle_end: true });
  await post('pause', { pause_at: 'now' });
  await webhooks();
  expect(await moveTo('2026-12-01T00:00:00Z')).toEqual(['cancelled 2026-02-10T12:00:00Z']);
});

test.each([
  ['pause', { pause_at: 'now' }, ['pending', 'halted', 'paused', 'cancelled', 'completed', 'authenticated']],
  ['resume', { resume_at: 'now' }, ['activated', 'pending', 'halted', 'cancelled', 'completed', 'authenticated']],
])('%s is possible in one status only → 400 in the others', async (call, body, events) => {
  for (const event of events) {
    const { id, post, simulate, webhooks } = await subscribed();
    await simulate('subscription', { event, subscription_id: id, deliver: { drop: true } });
    const answer = await post(call, body);
    expect([event, answer.status, answer.body.error.code]).toEqual([event, 400, 'BAD_REQUEST_ERROR']);
    expect(await webhooks()).toEqual([]);
  }
});

test.each([['pause', { pause_at: 'later' }, 'pause_at'], ['resume', { resume_at: 1 }, 'resume_at']])(
  '%s with %j → 400 that names %s',
  async (call, body, field) => {
    const { post } = await subscribed();
    const { status, body: { error } } = await post(call, body);
    expect([status, error.field]).toEqual([400, field]);
  },
);

test('a fault breaks PATCH only, if it names that method', async () => {
  const { change, id, read, simulate } = await subscribed({}, card);
  const fault = { mode: 'status', status: 503, method: 'PATCH', path: '/v1/subscriptions/:id', times: 1 };
  await simulate('fault', fault);
  expect((await read(id)).status).toBe('active');
  expect((await change({ plan_id: BASIC })).status).toBe(503);
  expect((await change({ plan_id: BASIC })).status).toBe(200);
});
