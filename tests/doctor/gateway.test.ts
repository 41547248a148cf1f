import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { authorisedPayments } from '../../scripts/doctor/checks/authorised-payments.ts';
import { gatewayKey } from '../../scripts/doctor/checks/gateway-key.ts';
import { gatewayPlans } from '../../scripts/doctor/checks/gateway-plans.ts';
import { silence } from '../../scripts/doctor/checks/silence.ts';
import { webhookEndpoint } from '../../scripts/doctor/checks/webhook-endpoint.ts';
import { handledEvents } from '../../scripts/doctor/handled-events.ts';
import { root } from '../../scripts/stack/root.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { diagnose, hosted, local } from './doctor.ts';
import { documentedPlan, type GatewayAccount, startGateway } from './fake-gateway.ts';

const account: GatewayAccount = {
  keyId: 'rzp_live_AbCdEfGhIjKlMn',
  keySecret: 'the-key-secret',
  hasPlans: true,
  plans: [],
  payments: [],
  endpoints: [],
  mayChangeEndpoints: true,
};
const gateway = startGateway(account);
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.close();
  await gateway.stop();
});
beforeEach(async () => {
  Object.assign(account, { keyId: 'rzp_live_AbCdEfGhIjKlMn', hasPlans: true, plans: [], payments: [], endpoints: [] });
  await database.query('delete from public.payments; delete from billing.gateway_events');
  await database.query('update public.plans set gateway_plan_id = null');
});

const environment = () => ({
  GATEWAY_API_URL: `${gateway.url}/`,
  GATEWAY_KEY_ID: account.keyId,
  GATEWAY_KEY_SECRET: 'the-key-secret',
  GATEWAY_WEBHOOK_SECRET: 'the-webhook-secret',
});
const project = () => hosted({ databaseUrl: database.url, environment: environment() });
const withoutDatabase = () => hosted({ environment: environment() });
const refused = () => ({ ...project(), environment: { ...environment(), GATEWAY_KEY_SECRET: 'another' } });
const hoursAgo = (hours: number) => Math.floor(Date.now() / 1000) - hours * 3600;

describe('gateway-key', () => {
  test('passes for a live key in a hosted project', async () => {
    expect(await diagnose(gatewayKey, project()))
      .toEqual({ status: 'pass', message: 'rzp_live_AbCdEfGhIjKlMn is accepted, a live key' });
  });

  test('fails where the gateway refuses the key', async () => {
    expect(await diagnose(gatewayKey, refused())).toMatchObject({
      status: 'fail',
      message: 'the gateway refuses the key',
      remedy: expect.stringContaining('GATEWAY_KEY_SECRET'),
    });
  });

  test('warns about a test key in a hosted project', async () => {
    account.keyId = 'rzp_test_AbCdEfGhIjKlMn';
    expect(await diagnose(gatewayKey, project())).toMatchObject({
      status: 'warn',
      message: 'rzp_test_AbCdEfGhIjKlMn is a test key: no real money',
      remedy: 'Set the live key before customers pay.',
    });
  });

  test('fails for a live key in the local stack', async () => {
    expect(await diagnose(gatewayKey, { ...local(), hasSimulator: false, environment: environment() })).toMatchObject({
      status: 'fail',
      message: 'rzp_live_AbCdEfGhIjKlMn is a live key: the local stack would take real money',
    });
  });

  test('warns about open orders of the last five days that another key created', async () => {
    const { id } = await createUser(database);
    const order = (keyId: string, age: string) =>
      database.query(
        `insert into public.payments (user_id, amount, gateway_order_id, gateway_key_id, created_at)
        values ($1, 100, $2, $3, now() - $4::interval)`,
        [id, uniqueId('order'), keyId, age],
      );
    await order('rzp_live_AbCdEfGhIjKlMn', '1 hour');
    await order('rzp_test_older', '6 days');
    expect(await diagnose(gatewayKey, project())).toMatchObject({ status: 'pass' });
    await order('rzp_test_older', '1 hour');
    expect(await diagnose(gatewayKey, project())).toMatchObject({
      status: 'warn',
      message: 'open orders of another key, unknown under this one: 1 of rzp_test_older',
    });
  });

  test('is skipped without the variables of the gateway', async () => {
    expect(await diagnose(gatewayKey, hosted({ environment: { GATEWAY_KEY_ID: 'rzp_live_x' } })))
      .toEqual({ status: 'skip', message: 'GATEWAY_API_URL, GATEWAY_KEY_SECRET not given' });
  });
});

describe('webhook-endpoint', () => {
  const url = 'http://127.0.0.1:1/functions/v1/api/webhooks/gateway';
  const on = Object.fromEntries(handledEvents.map((event) => [event, true]));
  const other = (id: number) => ({
    id: `other${id}`,
    url: `https://other.example/${id}`,
    active: true,
    disabled_at: 0,
    events: {},
  });
  const endpoint = { id: 'ours', url, active: true, disabled_at: 0, events: on };

  test('passes where the endpoint is on the second page of the list, active and with all our events', async () => {
    account.endpoints = [...Array.from({ length: 10 }, (_, id) => other(id)), endpoint];
    expect(await diagnose(webhookEndpoint, project()))
      .toEqual({ status: 'pass', message: 'registered and active, with 22 events' });
  });

  test('fails where the endpoint is not registered, with the manual steps', async () => {
    account.endpoints = [other(1)];
    const { status, message, remedy } = await diagnose(webhookEndpoint, project());
    expect({ status, message }).toEqual({ status: 'fail', message: 'the webhook endpoint is not registered' });
    expect(remedy).toContain(url);
    expect(handledEvents.filter((event) => !remedy?.includes(event))).toEqual([]);
  });

  test.each([{ active: false }, { disabled_at: 1790000000 }])(
    'fails where the endpoint is switched off: %j',
    async (fields) => {
      account.endpoints = [{ ...endpoint, ...fields }];
      expect(await diagnose(webhookEndpoint, project())).toMatchObject({
        status: 'fail',
        message: 'the webhook endpoint is switched off',
        remedy: expect.stringContaining('Switch it on'),
      });
    },
  );

  test('fails where the endpoint lacks events', async () => {
    account.endpoints = [{ ...endpoint, events: { ...on, 'order.paid': false, 'refund.failed': false } }];
    expect(await diagnose(webhookEndpoint, project()))
      .toMatchObject({ status: 'fail', message: 'the webhook endpoint lacks events: order.paid, refund.failed' });
  });

  test('warns where the gateway does not list endpoints, with the manual steps', async () => {
    account.endpoints = 'refused';
    expect(await diagnose(webhookEndpoint, project())).toEqual({
      status: 'warn',
      message: 'the gateway does not list its endpoints (400)',
      remedy: expect.stringContaining(`${url}, the secret GATEWAY_WEBHOOK_SECRET, and the events payment.captured`),
    });
  });

  test('is skipped for the local stack', async () => {
    expect(await diagnose(webhookEndpoint, local({ environment: environment() })))
      .toEqual({ status: 'skip', message: 'no gateway reaches this machine' });
  });

  test('requires the events of the gateway guide, and the service handles each of them', async () => {
    const guide = await Deno.readTextFile(`${root}/supabase/docs/gateway.md`);
    const [, section = ''] = /### Events to subscribe to\n(.*?)\n##/s.exec(guide) ?? [];
    const named = [...section.matchAll(/`([a-z]+(?:[._][a-z_]+)+)`/g)].map(([, event]) => event);
    expect(named).toEqual([...handledEvents]);
    for (const event of handledEvents) {
      const { outcome } = await database.one(
        "select billing.apply_event(jsonb_build_object('event', $1::text), '\\x00', now()) as outcome",
        [event],
      );
      expect(outcome, event).not.toBe('ignored: not handled');
    }
  });
});

describe('gateway-plans', () => {
  const bill = (months: number | null) =>
    database.query(
      "update public.plans set gateway_plan_id = 'plan_00000000000001', duration_months = $1 where tier = 'basic'",
      [months],
    );

  test('pass where the gateway bills no plan', async () => {
    expect(await diagnose(gatewayPlans, project()))
      .toEqual({ status: 'pass', message: 'no plan is billed by the gateway' });
  });

  test.each([
    [1, { period: 'monthly', interval: 1 }],
    [6, { period: 'monthly', interval: 6 }],
    [12, { period: 'yearly', interval: 1 }],
    [null, { period: 'yearly', interval: 1 }],
    [0, { period: 'monthly', interval: 12 }],
  ])('pass where %s months are %j', async (months, period) => {
    await bill(months);
    account.plans = [documentedPlan('plan_00000000000001', period)];
    expect(await diagnose(gatewayPlans, project()))
      .toEqual({ status: 'pass', message: 'basic (plan_00000000000001) matches the plan at the gateway' });
  });

  test.each([
    [{ amount: 9901 }, '9901 INR at the gateway, 9900 INR here'],
    [{ currency: 'USD' }, '9900 USD at the gateway, 9900 INR here'],
    [{ interval: 2 }, 'monthly × 2 at the gateway, 1 months here'],
    [{ period: 'weekly', interval: 4 }, 'weekly × 4 at the gateway, 1 months here'],
  ])('fail where the gateway has %j', async (fields, difference) => {
    await bill(1);
    account.plans = [documentedPlan('plan_00000000000001', fields)];
    expect(await diagnose(gatewayPlans, project())).toMatchObject({
      status: 'fail',
      message: `the plan of basic (plan_00000000000001) differs: ${difference}`,
      remedy: expect.stringContaining('make a new one there'),
    });
  });

  test('fail where the gateway does not know a plan', async () => {
    await bill(1);
    expect(await diagnose(gatewayPlans, project())).toMatchObject({
      status: 'fail',
      message: 'the gateway has no plan of basic (plan_00000000000001)',
    });
  });

  test('fail where the account has no subscriptions', async () => {
    await bill(1);
    account.hasPlans = false;
    expect(await diagnose(gatewayPlans, project()))
      .toMatchObject({ status: 'fail', message: 'the account at the gateway has no subscriptions' });
  });

  test('fail where the key is refused', async () => {
    await bill(1);
    expect(await diagnose(gatewayPlans, refused()))
      .toMatchObject({ status: 'fail', message: 'the gateway refuses the key' });
  });

  test('are skipped without a database', async () => {
    expect(await diagnose(gatewayPlans, withoutDatabase()))
      .toEqual({ status: 'skip', message: 'DATABASE_URL is not given' });
  });
});

describe('authorised-payments', () => {
  const payment = (status: string, hours: number, id = uniqueId('pay')) => ({
    id,
    status,
    order_id: null,
    created_at: hoursAgo(hours),
  });

  test('pass where all payments older than an hour are captured or failed', async () => {
    account.payments = [payment('authorized', 0), payment('captured', 2), payment('failed', 3)];
    expect(await diagnose(authorisedPayments, withoutDatabase()))
      .toEqual({ status: 'pass', message: 'no payment is left authorised' });
  });

  test('warn about authorised payments of all pages', async () => {
    account.payments = [
      ...Array.from({ length: 150 }, () => payment('captured', 2)),
      payment('authorized', 3, 'pay_first'),
      payment('authorized', 4, 'pay_second'),
    ];
    expect(await diagnose(authorisedPayments, withoutDatabase())).toEqual({
      status: 'warn',
      message: 'payments authorised for more than an hour and not captured: 2 (pay_first, pay_second)',
      remedy: expect.stringContaining('automatic capture'),
    });
  });

  test('fail where the key is refused', async () => {
    expect(await diagnose(authorisedPayments, refused())).toMatchObject({ status: 'fail' });
  });
});

describe('silence', () => {
  const paid = (order_id: string | null, hours = 2, status = 'captured') => ({
    id: uniqueId('pay'),
    status,
    order_id,
    created_at: hoursAgo(hours),
  });
  const order = async () => {
    const id = uniqueId('order');
    await database.query('insert into public.payments (amount, gateway_order_id) values (100, $1)', [id]);
    return id;
  };
  const event = (orderId: string, deliveries: number) =>
    database.query(
      `insert into billing.gateway_events (body_sha256, event, subject_id, outcome, deliveries)
      values (sha256($1::text::bytea), 'order.paid', $1, 'already', $2)`,
      [orderId, deliveries],
    );

  test('passes where a webhook announced each of our paid orders', async () => {
    const announced = await order();
    await event(announced, 1);
    account.payments = [paid(announced), paid('order_of_another_shop'), paid(null)];
    expect(await diagnose(silence, project()))
      .toEqual({ status: 'pass', message: '1 paid orders, each announced by a webhook' });
  });

  test('fails where no webhook announced a paid order, also after its reconciliation', async () => {
    const [announced, reconciled, never] = [await order(), await order(), await order()];
    await event(announced, 2);
    await event(reconciled, 0);
    account.payments = [paid(announced), paid(reconciled), paid(never, 3, 'refunded')];
    expect(await diagnose(silence, project())).toEqual({
      status: 'fail',
      message: `paid at the gateway without a webhook here: 2 of 3 orders (${[reconciled, never].sort().join(', ')})`,
      remedy: expect.stringContaining('switch the endpoint on'),
    });
  });

  test('passes where our orders were paid within the last hour, more than seven days ago, or not at all', async () => {
    account.payments = [paid(await order(), 0), paid(await order(), 8 * 24), paid(await order(), 2, 'failed')];
    expect(await diagnose(silence, project()))
      .toEqual({ status: 'pass', message: 'none of our orders was paid in the last seven days' });
  });

  test('is skipped where the simulator lists no payments', async () => {
    account.payments = [];
    const simulated = local({ databaseUrl: database.url, environment: environment() });
    const missing = { ...simulated.environment, GATEWAY_API_URL: `${gateway.url}/older` };
    expect(await diagnose(silence, { ...simulated, environment: missing }))
      .toEqual({ status: 'skip', message: 'the gateway simulator does not show its payments' });
  });
});
