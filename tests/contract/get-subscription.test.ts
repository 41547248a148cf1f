import { describe, expect, test } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { answer, fullAnswer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { requestSubscription } from '../helpers/http/requests.ts';
import { everyTarget } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { readAllRows } from '../helpers/records/read-records.ts';
import { createPayment } from '../helpers/records/records.ts';

// A payment captured by hand. Findings are compared while the user's subscription runs.
const project = useProject({ findings: { captured_not_fulfilled: everyTarget.length }, at: '2027-06-01T00:00:00Z' });
const nothingYet = { subscription: null, currentTier: 'free', payments: [], billing: null };

describe.each(everyTarget)('%s', (target) => {
  const service = useService(target, project);

  test('GET /api/subscriptions of a new user → 200 with no subscription, free, no payments', async () => {
    const user = await project.signUp();
    const { status, headers, body } = await fullAnswer(requestSubscription(service, user.accessToken));
    expect({ status, body }).toEqual({ status: 200, body: nothingYet });
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('private, no-store');
  });

  test('GET /api/subscriptions of a subscriber → 200 with every field of subscription, plan, tier and payment', async () => {
    const user = await createCaller(project.database);
    const plan = await project.database.one("select id from public.plans where tier = 'pro'");
    const subscription = await project.database.one(
      `insert into public.subscriptions
         (user_id, plan_id, tier, status, current_period_start, current_period_end, gateway_subscription_id, created_at)
       values ($1, $2, 'pro', 'active', '2027-03-01T10:00:00.125Z', '2028-03-01T10:00:00.125Z', $3, '2027-03-01T10:00:00Z')
       returning id`,
      [user.id, plan.id, `sub_${user.id}`],
    );
    const payment = await project.database.one(
      `insert into public.payments (user_id, subscription_id, amount, status, gateway_order_id, gateway_payment_id,
         gateway_signature, meta, captured_at, created_at)
       values ($1, $2, 99900, 'captured', $3, $4, 'abc', '{"tier": "pro"}',
         '2027-03-01T10:00:01Z', '2027-03-01T09:59:00Z')
       returning id`,
      [user.id, subscription.id, `order_${user.id}`, `pay_${user.id}`],
    );
    await project.database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [user.id]);

    expect(await answer(requestSubscription(service, user.accessToken))).toEqual({
      status: 200,
      body: {
        subscription: {
          id: subscription.id,
          user_id: user.id,
          plan_id: plan.id,
          tier: 'pro',
          status: 'active',
          current_period_start: '2027-03-01T10:00:00.125+00:00',
          current_period_end: '2028-03-01T10:00:00.125+00:00',
          cancelled_at: null,
          cancel_at_period_end: false,
          ended_reason: null,
          gateway_subscription_id: `sub_${user.id}`,
          created_at: '2027-03-01T10:00:00+00:00',
          plan: {
            id: plan.id,
            tier: 'pro',
            name: 'Pro',
            price: 99900,
            currency: 'INR',
            duration_months: 12,
            features: ['Everything in Basic', 'Analytics', 'Priority support'],
            is_active: true,
            grace_days: 3,
            billing_cycles: null,
            trial_days: 0,
            gateway_plan_id: null,
            created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/),
          },
        },
        currentTier: 'pro',
        payments: [{
          id: payment.id,
          user_id: user.id,
          subscription_id: subscription.id,
          amount: 99900,
          currency: 'INR',
          status: 'captured',
          tier: null,
          gateway_order_id: `order_${user.id}`,
          gateway_payment_id: `pay_${user.id}`,
          gateway_signature: 'abc',
          gateway_subscription_id: null,
          meta: { tier: 'pro' },
          captured_at: '2027-03-01T10:00:01+00:00',
          confirmed_at: null,
          fulfilled_at: null,
          period_start: null,
          period_end: null,
          refunded_amount: 0,
          dispute_status: null,
          created_at: '2027-03-01T09:59:00+00:00',
        }],
        billing: null,
      },
    });
  });

  test('GET /api/subscriptions with a cancelled subscription → 200 with it', async () => {
    const user = await createCaller(project.database);
    await project.database.query(
      `insert into public.subscriptions (user_id, tier, status, cancelled_at)
       values ($1, 'basic', 'cancelled', '2027-03-01T10:00:00Z')`,
      [user.id],
    );
    expect(await answer(requestSubscription(service, user.accessToken))).toMatchObject({
      status: 200,
      body: {
        subscription: { status: 'cancelled', cancelled_at: '2027-03-01T10:00:00+00:00', plan_id: null, plan: null },
        currentTier: 'free',
        payments: [],
      },
    });
  });

  test('GET /api/subscriptions of a user whose profile has no tier → 200, free', async () => {
    const user = await createCaller(project.database);
    await project.database.query('update public.profiles set subscription_tier = null where user_id = $1', [user.id]);
    expect(await answer(requestSubscription(service, user.accessToken))).toEqual({ status: 200, body: nothingYet });
  });

  test('GET /api/subscriptions of a user without a profile → 200, free', async () => {
    const user = await createCaller(project.database);
    await project.database.query('delete from public.profiles where user_id = $1', [user.id]);
    expect(await answer(requestSubscription(service, user.accessToken))).toEqual({ status: 200, body: nothingYet });
  });

  test('GET /api/subscriptions with eleven payments → the ten newest, newest first', async () => {
    const user = await createCaller(project.database);
    for (let i = 0; i < 11; i++) await createPayment(project.database, { userId: user.id });
    // The order of insertion differs from the order of `created_at`.
    await project.database.query(
      "update public.payments set created_at = created_at - random() * interval '1 year' where user_id = $1",
      [user.id],
    );
    const rows = await project.database.query(
      'select id from public.payments where user_id = $1 order by created_at desc limit 10',
      [user.id],
    );
    expect(await paymentIds(user.accessToken)).toEqual(rows.map((row) => row.id));
  });

  test('GET /api/subscriptions with eleven payments of the same time → the ten greatest ids, the greatest first', async () => {
    const user = await createCaller(project.database);
    for (let i = 0; i < 11; i++) await createPayment(project.database, { userId: user.id });
    await project.database.query("update public.payments set created_at = '2027-01-01' where user_id = $1", [user.id]);
    const rows = await project.database.query(
      'select id from public.payments where user_id = $1 order by id desc limit 10',
      [user.id],
    );
    expect(await paymentIds(user.accessToken)).toEqual(rows.map((row) => row.id));
  });

  test('GET /api/subscriptions while another user has records → 200 without them', async () => {
    const [user, other] = [await createCaller(project.database), await createCaller(project.database)];
    await createPayment(project.database, { userId: other.id });
    await project.database.query(
      "insert into public.subscriptions (user_id, tier, status) values ($1, 'pro', 'cancelled')",
      [other.id],
    );
    expect(await answer(requestSubscription(service, user.accessToken))).toEqual({ status: 200, body: nothingYet });
  });

  test('GET /api/subscriptions → 200 and nothing written', async () => {
    const user = await createCaller(project.database);
    const before = await readAllRows(project.database);
    expect((await answer(requestSubscription(service, user.accessToken))).status).toBe(200);
    expect(await readAllRows(project.database)).toEqual(before);
  });

  test('GET /api/subscriptions without a session → 401', async () => {
    expect(await answer(service.request('/api/subscriptions'))).toEqual(refusal(401, 'Unauthorized'));
  });

  test('GET /api/subscriptions when the database refuses → 500', async () => {
    const user = await createCaller(project.database);
    await whileBroken(project.database, 'get_subscription', async () => {
      expect(await answer(requestSubscription(service, user.accessToken)))
        .toEqual(refusal(500, 'Failed to get subscription'));
      expect(await answer(service.request('/api/subscriptions'))).toEqual(refusal(401, 'Unauthorized'));
    });
    expect(await answer(requestSubscription(service, user.accessToken))).toEqual({ status: 200, body: nothingYet });
  });

  async function paymentIds(accessToken: string): Promise<unknown[]> {
    const { payments }: { payments: { id: unknown }[] } = await (await requestSubscription(service, accessToken))
      .json();
    return payments.map((payment) => payment.id);
  }
});
