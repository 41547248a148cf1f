import { createClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { checksFor } from '../../scripts/doctor/checks.ts';
import { root } from '../../scripts/stack/root.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { dataFolderOf, expectGone, freeBasePort, npmStart, type RunningStack } from './running-stack.ts';

// One stack for the purchase and the commands, because a start takes seconds. The clock comes after them: it leaves findings.
const port = freeBasePort();
let stack: RunningStack;
let database: TestDatabase;
let env: Record<string, string>;

beforeAll(async () => {
  stack = npmStart(['--port', String(port), '--ephemeral']);
  env = await stack.ready;
  database = openDatabase(env.DB_URL ?? '', { findings: 'compared elsewhere' });
});
// The clock is reset to a time before the end of two periods that have lapsed, and whose mails were deleted by their age.
const left = { paid_not_entitled: 2, unmailed_payment: 2 };
afterAll(() => stack.end(left));

const patience = { timeout: 30_000, interval: 50 };

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

test('npm run doctor finds no fault in two runs on the local stack, and exits with 0', async () => {
  for (let times = 0; times < 2; times += 1) {
    const { code, stdout } = await new Deno.Command('npm', {
      args: ['run', '--silent', 'doctor', '--', '--json', '--port', String(port)],
      cwd: root,
      stdin: 'null',
      stderr: 'null',
    }).output();
    const results: { check: string; status: string }[] = JSON.parse(new TextDecoder().decode(stdout));
    expect(results.filter(({ status }) => status === 'fail' || status === 'warn')).toEqual([]);
    expect(results.map(({ check }) => check)).toEqual(checksFor({ mode: 'local' }).map(({ name }) => name));
    expect(results.filter(({ status }) => status === 'pass').map(({ check }) => check)).toEqual(
      expect.arrayContaining(['local-stack', 'webhook-ping', 'gateway-key', 'database', 'schedule', 'versions']),
    );
    expect(code).toBe(0);
  }
});

async function shiftClock(...args: string[]): Promise<number> {
  const clock = new Deno.Command('npm', { args: ['run', 'clock', '--', '--port', String(port), ...args], cwd: root });
  return (await clock.output()).code;
}

const tier = async (id: string) =>
  (await database.one('select subscription_tier from public.profiles where user_id = $1', [id])).subscription_tier;

async function buyBasic(): Promise<{ id: string; email: string | null }> {
  const user = await createUser(database);
  const { orderId } = await createPayment(database, { userId: user.id, meta: { tier: 'basic' } });
  await database.query('select public.verify_payment($1, $2, $3, $4)', [
    user.id,
    orderId,
    uniqueId('pay'),
    'signature',
  ]);
  return user;
}

async function subjectsTo(email: string | null): Promise<string[]> {
  const { data }: { data: { to: string[]; subject: string }[] } = await (await fetch(`${env.MAILBOX_URL}/emails`))
    .json();
  return data.filter(({ to }) => to.includes(email ?? '')).map(({ subject }) => subject);
}

test('npm run clock ends a monthly tier after its month and grace, with a mail before and after, and is set back', async () => {
  const { id, email } = await buyBasic();
  const untilSubject = (subject: RegExp) =>
    vi.waitFor(async () => expect(await subjectsTo(email)).toContainEqual(expect.stringMatching(subject)), patience);
  expect(await shiftClock('25 days')).toBe(0);
  await untilSubject(/^Your Basic plan ends on \d+ \w+ \d{4}$/);
  expect(await shiftClock('5 days')).toBe(0);
  expect(await tier(id)).toBe('basic');
  expect(await shiftClock('5 days')).toBe(0);
  expect(await tier(id)).toBe('free');
  await untilSubject(/^Your Basic plan has ended$/);

  expect(await shiftClock('no interval')).toBe(1);
  expect(await shiftClock()).toBe(0);
  expect(await database.one('select billing.clock() = now() as back')).toEqual({ back: true });
});

test('SIGTERM to npm leaves no process and no temporary data', async () => {
  const processes = await stack.processes();
  const data = dataFolderOf(processes);
  expect((await Deno.stat(data)).isDirectory).toBe(true);

  await database.close();
  expect((await stack.end(left)).code).toBe(0);
  await expectGone(processes);
  await expect(Deno.stat(data)).rejects.toThrow(Deno.errors.NotFound);
});
