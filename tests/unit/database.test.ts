import { describe, expect, test } from 'vitest';
import { createDatabase, DatabaseError } from '../../supabase/functions/api/database/database.ts';

const userId = '3b1f8f0e-1d2c-4a5b-8c7d-9e0f1a2b3c4d';
const empty = { subscription: null, currentTier: 'free', payments: [] };
const payment = { userId, orderId: 'order_1', paymentId: 'pay_1', signature: 'abc' };
const order = { userId, tier: 'pro', idempotencyKey: null };
const delivery = { bodySha256: '00', eventId: 'evt_1', body: '{}' };

/** A database whose calls return these results in order. Errors are thrown. */
function scripted(ends: unknown[]) {
  const calls: { name: string; parameters: unknown }[] = [];
  const database = createDatabase((name, parameters) => {
    calls.push({ name, parameters });
    const end = ends[calls.length - 1];
    return end instanceof Error ? Promise.reject(end) : Promise.resolve(end);
  });
  return { database, calls };
}

const failure = (code: string | undefined) => new DatabaseError('get_subscription', code);

describe('a call', () => {
  test('of getSubscription passes the user and returns the answer as JSON', async () => {
    const { database, calls } = scripted([empty]);
    expect(JSON.parse(await database.getSubscription(userId))).toEqual(empty);
    expect(calls).toEqual([{ name: 'get_subscription', parameters: { p_user_id: userId } }]);
  });

  test('of getSubscription returns JSON text unchanged, including large numbers', async () => {
    const text = '{"subscription":null,"currentTier":"free","payments":[{"amount":9007199254740993, "meta":{}}]}';
    expect(await scripted([text]).database.getSubscription(userId)).toBe(text);
  });

  test('of verifyPayment passes the payment and returns what it bought', async () => {
    const { database, calls } = scripted([{ outcome: 'applied', tier: 'pro', valid_until: 'then' }]);
    expect(await database.verifyPayment(payment)).toEqual({ outcome: 'applied', tier: 'pro', valid_until: 'then' });
    expect(calls).toEqual([{
      name: 'verify_payment',
      parameters: { p_user_id: userId, p_order_id: 'order_1', p_payment_id: 'pay_1', p_signature: 'abc' },
    }]);
  });

  test.each(['payment_not_found', 'plan_not_found'])('of verifyPayment returns the outcome %s', async (outcome) => {
    expect(await scripted([{ outcome }]).database.verifyPayment(payment)).toEqual({ outcome });
  });

  test.each([
    null,
    {
      tier: 'pro',
      until: '2027-11-20T13:02:04.662Z',
      early_renewal: 'replace',
      starts_at: '2027-10-20T13:02:04.662Z',
    },
  ])(
    'of createOrder passes the request and returns the payment, with running %j',
    async (running) => {
      const plan = { tier: 'pro', name: 'Pro' };
      const prefill = { email: 'asha@example.com', name: null };
      const payment = { payment_id: 'p', amount: 99900, currency: 'INR', plan, running, prefill };
      const { database, calls } = scripted([
        { outcome: 'created', order_id: null, ...payment },
        { outcome: 'existing', order_id: 'order_1', ...payment },
      ]);
      expect(await database.createOrder({ ...order, idempotencyKey: 'k' })).toEqual({ outcome: 'created', ...payment });
      expect(await database.createOrder({ ...order, start: 'now' }))
        .toEqual({ outcome: 'existing', order_id: 'order_1', ...payment });
      expect(calls).toEqual([
        { name: 'create_order', parameters: { p_user_id: userId, p_tier: 'pro', p_idempotency_key: 'k' } },
        { name: 'create_order', parameters: { p_user_id: userId, p_tier: 'pro', p_start: 'now' } },
      ]);
    },
  );

  test('of getOrder and applyOrderRead pass the request and return the order', async () => {
    const state = {
      order_id: 'order_1',
      status: 'open',
      tier: 'pro',
      amount: 99900,
      currency: 'INR',
      valid_until: null,
      attempts: 0,
      last_error: null,
    };
    const { database, calls } = scripted([
      { outcome: 'read', payment_id: 'p', order: state },
      { outcome: 'order_not_found' },
      { applied: 1, order: { ...state, status: 'paid', valid_until: 'then' } },
      { applied: 0, order: state },
    ]);
    expect(await database.getOrder(userId, 'order_1', true)).toEqual({
      outcome: 'read',
      payment_id: 'p',
      order: state,
    });
    expect(await database.getOrder(userId, 'order_2', false)).toEqual({ outcome: 'order_not_found' });
    expect(await database.applyOrderRead('p', [{ id: 'pay_1' }])).toMatchObject({
      applied: 1,
      order: { status: 'paid' },
    });
    expect(await database.applyOrderRead('p', null)).toEqual({ applied: 0, order: state });
    expect(calls).toEqual([
      { name: 'get_order', parameters: { p_user_id: userId, p_order_id: 'order_1', p_can_read: true } },
      { name: 'get_order', parameters: { p_user_id: userId, p_order_id: 'order_2', p_can_read: false } },
      { name: 'apply_order_read', parameters: { p_payment_id: 'p', p_items: '[{"id":"pay_1"}]' } },
      { name: 'apply_order_read', parameters: { p_payment_id: 'p', p_items: undefined } },
    ]);
  });

  test('of verifyReturnedPayment passes no user', async () => {
    const { database, calls } = scripted([{ outcome: 'payment_not_found' }]);
    expect(await database.verifyReturnedPayment({ orderId: 'order_1', paymentId: 'pay_1', signature: 's' }))
      .toEqual({ outcome: 'payment_not_found' });
    expect(calls).toEqual([{
      name: 'verify_returned_payment',
      parameters: { p_order_id: 'order_1', p_payment_id: 'pay_1', p_signature: 's' },
    }]);
  });

  test('of listPlansForUser returns plans with a known scenario', async () => {
    const plans = [{ tier: 'pro', scenario: 'renew' }];
    const { database } = scripted([{ plans }, { plans: [{ tier: 'pro', scenario: 'other' }] }, {
      plans: [{ tier: 'pro' }],
    }]);
    expect(await database.listPlansForUser(userId)).toEqual({ plans });
    await expect(database.listPlansForUser(userId)).rejects.toThrow();
    await expect(database.listPlansForUser(userId)).rejects.toThrow();
  });

  test('of applyGatewayEvent passes the delivery and returns the outcome', async () => {
    const { database, calls } = scripted([{ outcome: 'stale' }]);
    expect(await database.applyGatewayEvent(delivery)).toEqual({ outcome: 'stale' });
    expect(calls).toEqual([{
      name: 'apply_gateway_event',
      parameters: { p_body_sha256: '00', p_event_id: 'evt_1', p_body: '{}' },
    }]);
  });

  test('of getHealth returns times or nulls', async () => {
    const health = { oldest_undelivered_at: null, last_webhook_at: '2027-01-02T03:04:05.000Z', last_sweep_at: null };
    expect(await scripted([health]).database.getHealth([])).toEqual(health);
  });
});

describe('a result of another shape is an error:', () => {
  test.each([undefined, null, '', '{}', 'null', [], {}, { ...empty, currentTier: null }, { ...empty, payments: null }])(
    'getSubscription with %j',
    async (result) => {
      await expect(scripted([result]).database.getSubscription(userId)).rejects.toThrow();
    },
  );

  test.each([null, {}, { outcome: 'applied' }, { outcome: 'new', tier: 'pro', valid_until: 'then' }])(
    'verifyPayment with %j',
    async (result) => {
      await expect(scripted([result]).database.verifyPayment(payment)).rejects.toThrow();
    },
  );

  test.each([undefined, {}, 'pro', { tier: 'pro' }, { tier: 'pro', until: null }, { tier: 'pro', until: 'then' }, {
    until: '2027-11-20T13:02:04.662Z',
  }])(
    'createOrder with running %j',
    async (running) => {
      const payment = { payment_id: 'p', amount: 99900, currency: 'INR', plan: {}, running };
      await expect(scripted([{ outcome: 'created', ...payment }]).database.createOrder(order)).rejects.toThrow();
    },
  );

  test.each([null, {}, { outcome: null }])('applyGatewayEvent with %j', async (result) => {
    await expect(scripted([result]).database.applyGatewayEvent(delivery)).rejects.toThrow();
  });
});

describe('a failure', () => {
  test.each(['40001', '40P01'])('%s is retried once', async (code) => {
    const { database, calls } = scripted([failure(code), empty]);
    expect(JSON.parse(await database.getSubscription(userId))).toEqual(empty);
    expect(calls).toHaveLength(2);
    expect(calls[1]).toEqual(calls[0]);
  });

  test.each(['40001', '40P01'])('%s twice throws the second error', async (code) => {
    const second = failure(code);
    const { database, calls } = scripted([failure(code), second, empty]);
    await expect(database.getSubscription(userId)).rejects.toBe(second);
    expect(calls).toHaveLength(2);
  });

  test.each(['55P03', '57014', '23505', '42501', '40003', 'PGRST000', '', undefined])(
    '%s is not retried',
    async (code) => {
      const first = failure(code);
      const { database, calls } = scripted([first, empty]);
      await expect(database.getSubscription(userId)).rejects.toBe(first);
      expect(calls).toHaveLength(1);
    },
  );

  test('that is not a DatabaseError is not retried', async () => {
    const first = Object.assign(new Error('40001'), { code: '40001' });
    const { database, calls } = scripted([first, empty]);
    await expect(database.getSubscription(userId)).rejects.toBe(first);
    expect(calls).toHaveLength(1);
  });

  test('has a message with only the call and its SQLSTATE', () => {
    expect(new DatabaseError('verify_payment', '23505').message).toBe('verify_payment failed: 23505');
    expect(new DatabaseError('verify_payment', undefined).message).toBe('verify_payment failed');
    for (const words of ['', 'user "a" failed', 'db.example.com', 'x'.repeat(65), 'A\nB']) {
      expect(new DatabaseError('verify_payment', words)).toMatchObject({
        code: undefined,
        message: 'verify_payment failed',
      });
    }
  });
});
