import { describe, expect, test } from 'vitest';
import { approved, at, moveTo, stateOf, subscribe } from './billing-rig.ts';
import { NOW, startSimulator, until, useSimulator } from './gateway-simulator-rig.ts';
import { call, createOrder, type Entity, events, look, pay, quiet, read, simulate, webhooks } from './simulate.ts';

useSimulator();

const cancel = (id: string, atCycleEnd: 0 | 1 = 1) =>
  call('POST', `/v1/subscriptions/${id}/cancel`, { cancel_at_cycle_end: atCycleEnd });
const DAY = 24 * 3600;

describe('the clock', () => {
  test('is the machine’s unless it is moved; POST /simulate/clock replaces the shift, 0 removes it', async () => {
    expect(await look('clock')).toEqual({ now: NOW, shift_seconds: 0 });
    for (const seconds of [DAY, DAY, -DAY, 0]) {
      expect(await simulate('clock', { shift_seconds: seconds })).toEqual({
        now: NOW + seconds,
        shift_seconds: seconds,
      });
    }
    await startSimulator({ now: Date.now });
    expect(Math.abs((await look('clock')).now - Date.now() / 1000)).toBeLessThan(5);
  });

  test('is the time of new records and of their events; created_at in a request overrides it', async () => {
    await moveTo('01-20');
    for (const [created_at, time] of [[undefined, at('01-20')], [NOW + 5, NOW + 5]]) {
      const { gateway_payment_id: payment_id } = await pay(await createOrder(), { created_at });
      await simulate('refund', { payment_id, event: 'created', created_at });
      await simulate('dispute', { payment_id, event: 'created', created_at });
      const { subscription } = await simulate('subscription', { event: 'activated', created_at });
      const sent = await webhooks();
      expect(sent.map(({ created_at }) => created_at)).toEqual(Array(6).fill(time));
      const { refund, dispute } = Object.assign({}, ...sent.map(({ payload }) => payload));
      expect([refund.entity.created_at, dispute.entity.created_at]).toEqual([time, time]);
      expect(subscription).toMatchObject({ created_at: time, current_start: time });
    }
  });
});

describe('a subscription that was approved', () => {
  test('is charged when its cycle ends, not a second earlier, by a payment and an order of their own', async () => {
    const id = await approved();
    expect(await moveTo('2026-02-09T23:59:59Z')).toEqual([]);
    expect(await moveTo('02-10', { settle: false })).toEqual([]);
    expect((await simulate('due', {})).event_ids).toHaveLength(4);
    const sent = await webhooks();
    expect(sent.map(({ event }) => event))
      .toEqual(['payment.authorized', 'payment.captured', 'order.paid', 'subscription.charged']);
    expect(await stateOf(id)).toBe('active 2026-02-10 to 2026-03-10, 2 paid, 10 left, next 2026-03-10');
    const { subscription, payment: { entity } } = sent[3]?.payload ?? {};
    expect(subscription.entity).toEqual(await read(`subscriptions/${id}`));
    expect(entity).toMatchObject({ amount: 99900, status: 'captured', captured: '1', created_at: at('02-10') });
    expect(await read(`payments/${entity.id}`)).toEqual({ ...entity, captured: true });
    expect(await read(`orders/${entity.order_id}`)).toMatchObject({ status: 'paid', amount_paid: 99900 });
    expect((await read(`invoices?subscription_id=${id}`)).items.map(({ status }: Entity) => status))
      .toEqual(['paid', 'paid']);
    expect((await simulate('due', {})).event_ids).toEqual([]);
  });

  test.each([['yearly', 1], ['monthly', 12]])(
    'has cycles of a year if its plan is %s × %i',
    async (period, interval) => {
      await simulate('plan', { id: 'plan_Year', period, interval });
      const id = await approved({ plan_id: 'plan_Year' });
      expect(await stateOf(id)).toBe('active 2026-01-10 to 2027-01-10, 1 paid, 11 left, next 2027-01-10');
      await moveTo('2028-01-10', quiet);
      expect(await stateOf(id)).toBe('active 2028-01-10 to 2029-01-10, 3 paid, 9 left, next 2029-01-10');
    },
  );

  test('is charged without a control for each cycle of a jump at its own time, on the day of the month', async () => {
    let now = at('01-31');
    await startSimulator({ now: () => now * 1000 });
    const id = await approved();
    now = at('05-01');
    await until(async () => (await stateOf(id)).includes('4 paid'));
    const charged = (await webhooks()).filter(({ event }) => event === 'subscription.charged');
    expect(charged.map(({ created_at }) => created_at)).toEqual([at('02-28'), at('03-31'), at('04-30')]);
    expect(await stateOf(id)).toBe('active 2026-04-30 to 2026-05-31, 4 paid, 8 left, next 2026-05-31');
  });

  test('is completed after its last cycle, and nothing is charged later', async () => {
    const id = await approved({ total_count: 2 });
    expect(await moveTo('2027-12-01')).toEqual(['charged 2026-02-10', 'completed 2026-03-10']);
    expect(await stateOf(id))
      .toBe('completed 2026-02-10 to 2026-03-10, 2 paid, 0 left, next none, ended 2026-03-10');
    expect((await cancel(id)).status).toBe(400);
  });

  test('is cancelled at the end of its cycle instead of a charge, which no field shows before', async () => {
    const id = await approved();
    const before = await read(`subscriptions/${id}`);
    expect((await cancel(id)).body).toEqual(before);
    expect([await events(), (await look('state')).ending_with_their_cycle]).toEqual([[], [id]]);
    expect(await moveTo('12-01')).toEqual(['cancelled 2026-02-10']);
    expect(await stateOf(id))
      .toBe('cancelled 2026-01-10 to 2026-02-10, 1 paid, 11 left, next none, ended 2026-02-10');
  });

  test('is cancelled at once and for good, with a webhook', async () => {
    const id = await approved();
    const { body } = await cancel(id, 0);
    expect((await cancel(await approved({ start_at: at('03-01') }))).body.error.field).toBe('cancel_at_cycle_end');
    expect(await stateOf(id)).toBe('cancelled 2026-01-10 to 2026-02-10, 1 paid, 11 left, next none, ended 2026-01-10');
    expect((await webhooks()).map(({ event, payload }) => [event, payload.subscription.entity]))
      .toEqual([['subscription.cancelled', body]]);
    expect((await cancel(id, 0)).status).toBe(400);
  });

  test('does not expire; one that was not approved until expire_by does, without a webhook', async () => {
    const expire_by = at('01-12');
    const [{ id }, kept] = [await subscribe({ expire_by }), await approved({ expire_by })];
    await moveTo('2026-01-11T23:59:59Z');
    expect(await stateOf(id)).toBe('created, 0 paid, 12 left, next none');
    expect(await moveTo('01-12')).toEqual([]);
    expect(await stateOf(id)).toBe('expired, 0 paid, 12 left, next none');
    expect(await stateOf(kept)).toMatch(/^active/);
    expect((await simulate('authorise', { subscription_id: id, outcome: 'approved' })).error.description)
      .toBe('A subscription that is expired can not be authorised.');
  });

  test('is charged the new price of its plan, once even if the clock is moved back, and quietly on request', async () => {
    const id = await approved();
    await simulate('plan', { id: 'plan_Pro00000000001', amount: 120000 });
    expect(await moveTo('02-10', quiet)).toEqual([]);
    expect([await moveTo('01-10'), await moveTo('02-11')]).toEqual([[], []]);
    expect((await look('state')).payments.map(({ amount }: Entity) => amount)).toEqual([120000, 99900]);
    expect(await stateOf(id)).toMatch(/ 2 paid/);
  });

  test('after POST /simulate/debit is charged before the cycle begins, unless its cancellation came before', async () => {
    await simulate('debit', { hours_before: 36 });
    const [charged, cancelled] = [await approved(), await approved()];
    expect(await moveTo('2026-02-08T11:59:59Z')).toEqual([]);
    await cancel(cancelled);
    expect(await moveTo('2026-02-08T12:00:00Z')).toEqual(['charged 2026-02-08T12:00:00.000Z']);
    expect(await stateOf(charged)).toBe('active 2026-02-10 to 2026-03-10, 2 paid, 10 left, next 2026-03-10');
    await cancel(charged);
    expect(await moveTo('03-10')).toEqual(['cancelled 2026-02-10', 'cancelled 2026-03-10']);
  });
});

describe('POST /simulate/subscription-fault', () => {
  /** An approved subscription whose next charges fail. */
  async function failing(times?: number): Promise<string> {
    const subscription_id = await approved();
    await simulate('subscription-fault', { subscription_id, charges: 'fail', times });
    return subscription_id;
  }

  test('a charge that fails is tried on the next three days, and then the subscription is halted', async () => {
    const id = await failing();
    expect(await moveTo('02-10')).toEqual(['pending 2026-02-10']);
    expect(await stateOf(id)).toBe('pending 2026-02-10 to 2026-03-10, 1 paid, 10 left, next 2026-02-11, 1 failed');
    expect(await moveTo('02-12')).toEqual(['pending 2026-02-11', 'pending 2026-02-12']);
    await simulate('clock', { shift_seconds: at('02-13') - NOW });
    const [failed, halted] = await webhooks();
    expect([failed?.event, halted?.event]).toEqual(['payment.failed', 'subscription.halted']);
    const payment = failed?.payload.payment.entity;
    expect(payment).toMatchObject({ status: 'failed', captured: false, amount: 99900, error_reason: 'payment_failed' });
    expect(halted?.payload.payment.entity).toEqual({ ...payment, captured: '0' });
    expect(await moveTo('03-01')).toEqual([]);
    expect(await stateOf(id)).toBe('halted 2026-02-10 to 2026-03-10, 1 paid, 10 left, next 2026-03-10, 4 failed');
  });

  test('a new method activates a halted subscription, without a charge of its unpaid cycles', async () => {
    const id = await failing();
    expect((await moveTo('04-15')).at(-1)).toBe('halted 2026-02-13');
    await simulate('update-method', { subscription_id: id });
    expect(await events()).toEqual(['subscription.updated', 'subscription.activated']);
    expect(await stateOf(id)).toBe('active 2026-04-10 to 2026-05-10, 1 paid, 8 left, next 2026-05-10');
    expect(await moveTo('05-10')).toEqual(['charged 2026-05-10']);
  });

  test('a retry that succeeds, or a new method, pays the open cycle of a pending subscription', async () => {
    await failing(2);
    expect(await moveTo('02-12')).toEqual(['pending 2026-02-10', 'pending 2026-02-11', 'charged 2026-02-12']);
    await simulate('clock', { shift_seconds: 0 });
    const subscription_id = await failing();
    await moveTo('2026-02-11T18:00:00Z');
    await simulate('update-method', { subscription_id, deliver: { drop: ['payment.authorized', 'order.paid'] } });
    expect(await events()).toEqual(['subscription.updated', 'payment.captured', 'subscription.charged']);
    expect(await stateOf(subscription_id)).toMatch(/^active 2026-02-10 to 2026-03-10, 2 paid/);
  });
});

describe('POST /simulate/subscription and /simulate/cycle', () => {
  const made = async (fields: Entity = {}): Promise<string> =>
    (await simulate('subscription', { event: 'charged', ...quiet, ...fields })).subscription.id;
  const event = async (subscription_id: string, event: string) =>
    await simulate('subscription', { event, subscription_id, ...quiet });
  const cycle = async (subscription_id: string, fields: Entity = {}) =>
    await simulate('cycle', { subscription_id, ...fields });

  test('an activation makes a subscription whose cycles have 30 days and that does not bill itself', async () => {
    const fields = { event: 'activated', user_id: 'asha', notes: { seats: 3 } };
    const { subscription: { id, notes } } = await simulate('subscription', fields);
    expect(notes).toEqual({ seats: 3, user_id: 'asha' });
    expect(await stateOf(id)).toBe('active 2026-01-10 to 2026-02-09, 0 paid, 12 left, next 2026-02-09');
    expect(await moveTo('12-01')).toEqual(['activated 2026-01-10']);
    await event(id, 'charged');
    expect(await stateOf(id)).toMatch(/^active 2026-01-10 to 2026-02-09, 1 paid/);
    await event(id, 'charged');
    expect(await stateOf(id)).toMatch(/^active 2026-02-09 to 2026-03-11, 2 paid/);
  });

  test('a cycle ends with the cancellation that was asked for, the last cycle with the completion', async () => {
    const id = await made();
    await cancel(id);
    await cycle(id, { created_at: at('02-09') });
    expect(await stateOf(id)).toMatch(/^cancelled .* 1 paid, .* ended 2026-02-09$/);
    expect([await events(), (await cycle(id)).error.field]).toEqual([['subscription.cancelled'], 'subscription_id']);
    const short = await made({ total_count: 2 });
    await cycle(short, quiet);
    expect(await stateOf(short)).toBe('active 2026-02-09 to 2026-03-11, 2 paid, 0 left, next 2026-03-11');
    await cycle(short);
    expect(await events()).toEqual(['subscription.completed']);
    expect(await stateOf(short)).toMatch(/^completed .* 2 paid, 0 left, next none/);
  });
});

test('POST /simulate/cycles: cycles end at midnight in India, 18:30 in UTC, until {} sets the default', async () => {
  const periodOf = async () => {
    const { id } = (await call('POST', '/v1/subscriptions', { plan_id: 'plan_Month000000001', total_count: 12 })).body;
    await simulate('authorise', { subscription_id: id, outcome: 'approved', ...quiet });
    const { current_start, current_end, status } = await read(`subscriptions/${id}`);
    return [status, ...[current_start, current_end].map((at) => new Date(at * 1000).toISOString())];
  };
  expect(await simulate('cycles', { end_at: 'india_midnight' })).toEqual({ end_at: 'india_midnight' });
  expect(await periodOf()).toEqual(['active', '2026-01-09T18:30:00.000Z', '2026-02-09T18:30:00.000Z']);
  await simulate('clock', { shift_seconds: 18.5 * 3600 });
  expect(await periodOf()).toEqual(['active', '2026-01-10T18:30:00.000Z', '2026-02-10T18:30:00.000Z']);
  await simulate('cycles', {});
  await simulate('clock', { shift_seconds: 60 });
  expect(await periodOf()).toEqual(['active', '2026-01-10T00:01:00.000Z', '2026-02-10T00:01:00.000Z']);
});

test.each(
  [
    ['monthly', '2027-03-01', ['2027-04-01', '2027-05-01', '2027-06-01']],
    ['monthly', '2027-01-31', ['2027-02-28', '2027-03-31', '2027-04-30']],
    ['monthly', '2027-12-01', ['2028-01-01', '2028-02-01', '2028-03-01']],
    ['yearly', '2028-02-29', ['2029-02-28', '2030-02-28', '2031-02-28', '2032-02-29']],
    ['yearly', '2027-01-01', ['2028-01-01', '2029-01-01']],
    ['weekly', '2027-02-27', ['2027-03-06', '2027-03-13']],
  ] as const,
)('a %s subscription that begins in India on %s is charged on %j', async (period, day, charged) => {
  const midnight = (indian: string) => Date.parse(`${indian}T00:00:00+05:30`) / 1000;
  const to = (time: number) => simulate('clock', { shift_seconds: time - NOW, ...quiet });
  await simulate('cycles', { end_at: 'india_midnight' });
  await simulate('plan', { id: 'plan_Indian0000001', period });
  await to(midnight(day) + 10 * 3600); // in the morning, which is the same day in UTC
  const id = await approved({ plan_id: 'plan_Indian0000001' });
  for (const [index, end] of charged.entries()) {
    expect(await read(`subscriptions/${id}`)).toMatchObject({ current_end: midnight(end), paid_count: index + 1 });
    await to(midnight(end) - 1);
    expect((await read(`subscriptions/${id}`)).paid_count).toBe(index + 1);
    await to(midnight(end));
  }
  expect((await read(`subscriptions/${id}`)).paid_count).toBe(charged.length + 1);
});
