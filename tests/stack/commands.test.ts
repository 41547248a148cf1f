import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { checksFor } from '../../scripts/doctor/checks.ts';
import { root } from '../../scripts/stack/root.ts';
import { isLong } from '../helpers/project/is-long.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { freeBasePort, npmStart, type RunningStack } from './running-stack.ts';

// The commands run on one stack, because a start takes seconds. The clock comes last: it leaves findings.
const port = freeBasePort();
let stack: RunningStack;
let database: TestDatabase;
let mailboxUrl: string;
let gatewayUrl: string;
let key: string;

beforeAll(async () => {
  stack = npmStart(['--port', String(port), '--ephemeral']);
  const { DB_URL = '', MAILBOX_URL = '', GATEWAY_URL = '', GATEWAY_KEY_ID, GATEWAY_KEY_SECRET } = await stack.ready;
  database = openDatabase(DB_URL, { findings: 'compared elsewhere' });
  mailboxUrl = MAILBOX_URL;
  gatewayUrl = GATEWAY_URL;
  key = btoa(`${GATEWAY_KEY_ID}:${GATEWAY_KEY_SECRET}`);
});
afterAll(async () => {
  await database.close();
  // The clock is reset to a time before the end of two periods that have lapsed, and whose mails were deleted by their age.
  await stack.end({ paid_not_entitled: 2, unmailed_payment: 2 });
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
  const { data }: { data: { to: string[]; subject: string }[] } = await (await fetch(`${mailboxUrl}/emails`)).json();
  return data.filter(({ to }) => to.includes(email ?? '')).map(({ subject }) => subject);
}

async function gateway(path: string, body: unknown) {
  const headers = { authorization: `Basic ${key}` };
  const response = await fetch(gatewayUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return await response.json();
}

// `npm test` renews one in subscription-life.test.ts.
test.runIf(isLong)(
  'npm run clock renews a subscription that the gateway bills, without a mail about its end',
  async () => {
    const { id: user_id, email } = await createUser(database);
    const plan_id = 'plan_Basic000000001';
    await database.query(`update public.plans set gateway_plan_id = $1 where tier = 'basic'`, [plan_id]);
    const { id } = await gateway('/v1/subscriptions', { plan_id, total_count: 12, notes: { user_id } });
    await gateway('/simulate/authorise', { subscription_id: id, outcome: 'approved' });
    const periodEnd = async () => {
      const [row] = await database.query('select current_period_end from public.subscriptions where user_id = $1', [
        user_id,
      ]);
      return row && Date.parse(String(row.current_period_end)) / 1000;
    };
    const cycleEnd = async () => {
      const headers = { authorization: `Basic ${key}` };
      return (await (await fetch(`${gatewayUrl}/v1/subscriptions/${id}`, { headers })).json()).current_end;
    };
    await vi.waitFor(async () => expect(await periodEnd()).toBe(await cycleEnd()), { timeout: 30_000, interval: 50 });
    const first = await cycleEnd();

    // The renewal is known when the command ends.
    expect(await shiftClock('40 days')).toBe(0);
    expect(await cycleEnd()).toBeGreaterThan(first);
    expect(await periodEnd()).toBe(await cycleEnd());
    expect(await tier(user_id)).toBe('basic');
    expect((await subjectsTo(email)).filter((subject) => subject.includes('ended'))).toEqual([]);
    await shiftClock();
  },
);

test('npm run clock ends a monthly tier after its month and grace, and resets the clock', async () => {
  const { id } = await buyBasic();
  expect(await tier(id)).toBe('basic');

  expect(await shiftClock('1 month 2 days')).toBe(0);
  expect(await tier(id)).toBe('basic');
  expect(await shiftClock('2 days')).toBe(0);
  expect(await tier(id)).toBe('free');

  expect(await shiftClock('no interval')).toBe(1);
  expect(await shiftClock()).toBe(0);
  expect(await database.one('select private.clock() = now() as back')).toEqual({ back: true });
});

test('npm run clock sends one mail in the last week of a period, and one after its end', async () => {
  const { email } = await buyBasic();
  const untilSubject = (subject: RegExp) =>
    vi.waitFor(async () => expect(await subjectsTo(email)).toContainEqual(expect.stringMatching(subject)), {
      timeout: 30_000,
      interval: 50,
    });
  await shiftClock('25 days');
  await untilSubject(/^Your Basic plan ends on \d+ \w+ \d{4}$/);
  await shiftClock('15 days');
  await untilSubject(/^Your Basic plan has ended$/);
  await shiftClock();
});
