import { createClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { dataFolderOf, expectGone, freeBasePort, npmStart, type Process, type RunningStack } from './running-stack.ts';

// One stack for all tests, because a start takes seconds. The last one kills its function.
const port = freeBasePort();
let stack: RunningStack;
let env: Record<string, string>;
let database: TestDatabase;
beforeAll(async () => {
  stack = npmStart(['--port', String(port), '--ephemeral']);
  env = await stack.ready;
  database = openDatabase(value('DB_URL'), { findings: 'compared elsewhere' });
});
afterAll(() => stack.end());

const patience = { timeout: 30_000, interval: 50 };
const value = (name: string) => env[name] ?? '';
const api = (path: string, init: RequestInit = {}) =>
  fetch(`${value('API_URL')}${path}`, {
    ...init,
    headers: { apikey: value('PUBLISHABLE_KEY'), 'content-type': 'application/json', ...init.headers },
  });
/** Runs what `npm run <script>` runs. */
async function run(script: string, args: string[]) {
  const command = ['run', '-A', `scripts/${script}.ts`, ...args];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: command, cwd: root }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}
const processOf = async (part: string): Promise<Process> =>
  (await stack.processes()).find(({ command }) => command.includes(part)) ?? expect.fail(`no process ${part}`);

test('npm start prints the values in their order and ready last, and every address answers', async () => {
  const lines = stack.stdout.filter((line) => line !== '' && !line.startsWith('>'));
  expect(lines.map((line) => line.split('=', 1)[0])).toEqual([
    ...['API_URL', 'FUNCTIONS_URL', 'DB_URL', 'STUDIO_URL', 'MAILBOX_URL', 'GATEWAY_URL', 'PUBLISHABLE_KEY'],
    ...['SECRET_KEY', 'GATEWAY_KEY_ID', 'GATEWAY_KEY_SECRET', 'GATEWAY_WEBHOOK_SECRET', 'REVALIDATE_URL', 'APP_URL'],
    ...['CONSOLE_URL', 'ready'],
  ]);
  const at = (offset: number) => `http://127.0.0.1:${port + offset}`;
  expect(env).toMatchObject({
    ...{ API_URL: at(0), FUNCTIONS_URL: `${at(0)}/functions/v1`, STUDIO_URL: at(2), MAILBOX_URL: at(3) },
    ...{ GATEWAY_URL: at(4), REVALIDATE_URL: `${at(6)}/api/revalidate`, APP_URL: at(6) },
    DB_URL: `postgresql://postgres:postgres@127.0.0.1:${port + 1}/postgres`,
    CONSOLE_URL: expect.stringMatching(new RegExp(`^${at(7)}/\\?token=[0-9a-f]{48}$`)),
  });
  const answers = await Promise.all([
    api('/auth/v1/health'),
    api('/rest/v1/plans'),
    fetch(`${value('FUNCTIONS_URL')}/api/subscriptions`),
    ...['STUDIO_URL', 'MAILBOX_URL', 'GATEWAY_URL', 'APP_URL'].map((name) => fetch(value(name))),
    fetch(value('CONSOLE_URL'), { redirect: 'manual' }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 401, 200, 200, 200, 200, 303]);
  expect(await database.one("select current_setting('timezone') as zone")).toEqual({ zone: 'UTC' });
});

test('rights that the migrations revoke stay revoked after the first requests', async () => {
  expect((await api('/rest/v1/plans')).status).toBe(200);
  const written = await api('/rest/v1/plans', { method: 'POST', body: '{"tier":"mine","name":"Mine","price":0}' });
  expect(await written.json()).toMatchObject({ code: '42501' });
  const granted = await database.query(`
    select r, p from unnest(array['anon', 'authenticated']) r, unnest(array['insert', 'delete', 'truncate']) p
    where has_table_privilege(r, 'public.payments', p)`);
  expect(granted).toEqual([]);
});

test('schema billing is in Studio and not in the API, system information in neither; Studio is local', async () => {
  const profile = { 'accept-profile': 'billing' };
  const outside = await api('/rest/v1/outbox', { headers: { ...profile, apikey: value('SECRET_KEY') } });
  const inside = await fetch(`${value('STUDIO_URL')}/rest/v1/outbox`, { headers: profile });
  const system = [await api('/_system/info'), await api('/%5Fsystem/info')];
  expect([outside, inside, ...system].map(({ status }) => status)).toEqual([406, 200, 404, 404]);
  const client = Deno.createHttpClient({ allowHost: true });
  for (const headers of [{ host: `attacker.example:${port + 2}` }, { origin: 'http://attacker.example' }]) {
    const answer = await fetch(`${value('STUDIO_URL')}/rest/v1/plans`, { headers: Object.entries(headers), client });
    await answer.body?.cancel();
    expect([headers, answer.status]).toEqual([headers, 403]);
  }
  client.close();
});

test('a wrong start says why: taken ports, wrong options', async () => {
  const taken = npmStart(['--port', String(port), '--ephemeral']);
  const misused = run('start', ['--reset', '--ephemeral']);
  expect((await taken.exited).code).toBe(1);
  expect(taken.stderr).toEqual(expect.arrayContaining([
    `port ${port} (API) is taken by another program`,
    `port ${port + 4} (gateway simulator) is taken by another program`,
  ]));
  expect(taken.stdout).not.toContain('ready');
  expect(await misused).toMatchObject({ code: 2, stderr: expect.stringMatching(/--reset.*Usage: npm start/s) });
});

test('the API answers again after Lite is killed, and after its database connections are terminated', async () => {
  const untilAnswered = () => vi.waitFor(async () => expect((await api('/rest/v1/plans')).status).toBe(200), patience);
  const lite = await processOf('lite-process.ts');
  Deno.kill(lite.pid, 'SIGKILL');
  await untilAnswered();
  expect((await processOf('lite-process.ts')).pid).not.toBe(lite.pid);
  await database.query(`
    select pg_terminate_backend(pid) from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()`);
  await untilAnswered();
});

const email = `${crypto.randomUUID()}@example.com`;
let headers: Record<string, string> = { 'content-type': 'application/json' };
async function json(url: string, body?: unknown) {
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  return await (await fetch(url, init)).json();
}
const seen = () => json(`${value('FUNCTIONS_URL')}/api/subscriptions`);
const untilMail = (subject: RegExp) =>
  vi.waitFor(async () => {
    const mails: { id: string; to: string[]; subject: string }[] = (await json(`${value('MAILBOX_URL')}/emails`)).data;
    return mails.find((mail) => mail.to.includes(email) && subject.test(mail.subject))?.id ??
      expect.fail(subject.source);
  }, patience);

test('sign up, order, pay → the tier and the mail without verify', async () => {
  const supabase = createClient(value('API_URL'), value('PUBLISHABLE_KEY'), { auth: { persistSession: false } });
  const { data, error } = await supabase.auth.signUp({ email, password: 'correct horse battery' });
  await supabase.auth.stopAutoRefresh();
  expect(error).toBeNull();
  headers = { ...headers, authorization: `Bearer ${data.session?.access_token}` };
  expect(await seen()).toEqual({ subscription: null, currentTier: 'free', payments: [], billing: null });
  const ordered = await json(`${value('FUNCTIONS_URL')}/api/payments/orders`, { tier: 'basic' });
  expect(ordered).toMatchObject({ order: { amount: 9900, currency: 'INR' }, key_id: env.GATEWAY_KEY_ID });
  await json(`${value('GATEWAY_URL')}/simulate/pay`, { order_id: ordered.order.id, outcome: 'captured' });
  const payments = [{ id: ordered.payment_id, status: 'captured' }];
  const expected = { currentTier: 'basic', payments, subscription: { tier: 'basic', status: 'active' } };
  await vi.waitFor(async () => expect(await seen()).toMatchObject(expected), patience);
  const { text } = await json(`${value('MAILBOX_URL')}/emails/${await untilMail(/^Payment received/)}`);
  for (const part of ['Basic', '₹99.00']) expect(text).toContain(part);
});

test('npm run doctor finds no fault, and exits with 0', async () => {
  const { code, stdout } = await run('doctor', ['--json', '--port', String(port)]);
  const results: { check: string; status: string }[] = JSON.parse(stdout);
  expect([code, results.filter(({ status }) => /fail|warn/.test(status))]).toEqual([0, []]);
  const passed = results.filter(({ status }) => status === 'pass').map(({ check }) => check);
  const expected = ['local-stack', 'webhook-ping', 'gateway-key', 'database', 'schedule', 'versions'];
  expect(passed).toEqual(expect.arrayContaining(expected));
});

test('npm run clock ends the tier after its month and grace, with a mail before and after, and is set back', async () => {
  const shiftClock = async (...shift: string[]) => (await run('clock', ['--port', String(port), ...shift])).code;
  expect(await shiftClock('25 days')).toBe(0);
  await untilMail(/^Your Basic plan ends on \d+ \w+ \d{4}$/);
  expect(await shiftClock('10 days')).toBe(0);
  expect(await seen()).toMatchObject({ currentTier: 'free' });
  await untilMail(/^Your Basic plan has ended$/);
  expect(await shiftClock()).toBe(0);
  expect(await database.one('select billing.clock() = now() as back')).toEqual({ back: true });
});

test('SIGTERM while the database is made ends the CLI, which waits for it', async () => {
  const early = npmStart(['--port', String(freeBasePort()), '--ephemeral']);
  const processes = await vi.waitFor(async () => {
    const running = await early.processes();
    expect(running.map(({ command }) => command).join()).toMatch(/supabase db push|initdb/);
    return running;
  }, patience);
  expect((await early.end()).code).toBe(0);
  await expectGone(processes);
});

test('a killed function stops the stack, which shows its last lines and leaves no process and no data', async () => {
  await database.close();
  const processes = await stack.processes();
  const data = dataFolderOf(processes);
  Deno.kill((await processOf('functions/api/index.ts')).pid, 'SIGKILL');
  expect((await stack.exited).code).toBe(1);
  const index = stack.stderr.findIndex((line) => line.startsWith('The function ended with code'));
  expect(stack.stderr.slice(index + 1).join('\n')).toContain('"event":"request"');
  await expectGone(processes);
  await expect(Deno.stat(data)).rejects.toThrow(Deno.errors.NotFound);
});
