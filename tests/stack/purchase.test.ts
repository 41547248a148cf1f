import { createClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { dataFolderOf, expectGone, freeBasePort, npmStart, type RunningStack } from './running-stack.ts';

const patience = { timeout: 30_000, interval: 50 };

let stack: RunningStack;
let env: Record<string, string>;
beforeAll(async () => {
  stack = npmStart(['--port', String(freeBasePort()), '--ephemeral']);
  env = await stack.ready;
});
afterAll(() => stack.end());

test('npm start: sign up, order, pay → the tier and the mail without verify', async () => {
  const email = `${crypto.randomUUID()}@example.com`;
  const supabase = createClient(env.API_URL ?? '', env.PUBLISHABLE_KEY ?? '', { auth: { persistSession: false } });
  const { data, error } = await supabase.auth.signUp({ email, password: 'correct horse battery' });
  await supabase.auth.stopAutoRefresh();
  expect(error).toBeNull();
  const headers = { authorization: `Bearer ${data.session?.access_token}`, 'content-type': 'application/json' };
  const json = async (url: string, body?: unknown) => {
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(url, init);
    return { status: response.status, body: await response.json() };
  };

  const plans = await json(`${env.FUNCTIONS_URL}/api/subscriptions/plans`);
  const { scenario, ...plan } = plans.body.plans[0];
  expect({ scenario, ...plan }).toMatchObject({ tier: 'basic', price: 9900, scenario: 'buy' });
  const ordered = await json(`${env.FUNCTIONS_URL}/api/payments/orders`, { tier: 'basic' });
  expect(ordered).toMatchObject({
    status: 201,
    body: { order: { amount: 9900, currency: 'INR' }, key_id: env.GATEWAY_KEY_ID, plan },
  });

  const payment = { order_id: ordered.body.order.id, outcome: 'captured' };
  expect((await json(`${env.GATEWAY_URL}/simulate/pay`, payment)).status).toBe(200);
  const subscription = await vi.waitFor(async () => {
    const { body } = await json(`${env.FUNCTIONS_URL}/api/subscriptions`);
    expect(body).toMatchObject({
      currentTier: 'basic',
      payments: [{ id: ordered.body.payment_id, status: 'captured' }],
    });
    return body.subscription;
  }, patience);
  expect(subscription).toMatchObject({ tier: 'basic', status: 'active', plan: { name: 'Basic' } });

  const mails = await vi.waitFor(async () => {
    const { body } = await json(`${env.MAILBOX_URL}/emails`);
    const mine = body.data.filter(({ to }: { to: string[] }) => to.includes(email));
    expect(mine).toHaveLength(1);
    return mine;
  }, patience);
  const mail = await json(`${env.MAILBOX_URL}/emails/${mails[0].id}`);
  expect(mail.body.text).toContain('Basic');
  expect(mail.body.text).toContain('₹99.00');
});

test('SIGTERM to npm leaves no process and no temporary data', async () => {
  const processes = await stack.processes();
  const data = dataFolderOf(processes);
  expect((await Deno.stat(data)).isDirectory).toBe(true);

  expect((await stack.end()).code).toBe(0);
  await expectGone(processes);
  await expect(Deno.stat(data)).rejects.toThrow(Deno.errors.NotFound);
});
