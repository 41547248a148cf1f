import { createClient } from '@supabase/supabase-js';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { dataFolder } from '../../scripts/stack/data-folder.ts';
import { localSecrets } from '../../scripts/stack/secrets.ts';
import { root } from '../../scripts/stack/root.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { createToken } from '../helpers/http/tokens.ts';
import { createUser } from '../helpers/records/records.ts';
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
async function withHost(host: string, url: string): Promise<Response> {
  using client = Deno.createHttpClient({ allowHost: true });
  const answer = await fetch(url, { headers: { host }, client });
  await answer.body?.cancel();
  return answer;
}
/** Runs what `npm run <script>` runs. */
async function run(script: string, args: string[]) {
  const command = ['run', '-A', `scripts/${script}.ts`, ...args];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: command, cwd: root }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}
const processOf = async (part: string): Promise<Process> =>
  (await stack.processes()).find(({ command }) => command.includes(part)) ?? expect.fail(`no process ${part}`);

test('npm run generate beside the stack: the API description is answered', async () => {
  const file = `${root}/supabase/functions/api/generated/openapi.json`;
  await Deno.writeFile(file, await Deno.readFile(file));
  expect((await api('/functions/v1/api/openapi.json')).status).toBe(200);
});

test('npm start prints the values in their order and ready last, and every address answers', async () => {
  const lines = stack.stdout.filter((line) => line !== '' && !line.startsWith('>'));
  expect(lines.map((line) => line.split('=', 1)[0])).toEqual([
    ...['API_URL', 'FUNCTIONS_URL', 'DB_URL', 'STUDIO_URL', 'MAILBOX_URL', 'GATEWAY_URL', 'PUBLISHABLE_KEY'],
    ...['SECRET_KEY', 'GATEWAY_KEY_ID', 'GATEWAY_KEY_SECRET', 'GATEWAY_WEBHOOK_SECRET', 'REVALIDATE_URL', 'EVENTS_URL'],
    ...['EVENTS_SECRET', 'APP_URL', 'CONSOLE_URL', 'ready'],
  ]);
  const at = (offset: number) => `http://127.0.0.1:${port + offset}`;
  expect(env).toMatchObject({
    ...{ API_URL: at(0), FUNCTIONS_URL: `${at(0)}/functions/v1`, STUDIO_URL: at(2), MAILBOX_URL: at(3) },
    ...{ EVENTS_URL: `${at(3)}/events`, EVENTS_SECRET: expect.stringMatching(/^whsec_/) },
    ...{ GATEWAY_URL: at(4), REVALIDATE_URL: `${at(6)}/api/revalidate`, APP_URL: at(6) },
    DB_URL: expect.stringMatching(new RegExp(`^postgresql://postgres:[0-9a-f]{48}@127.0.0.1:${port + 1}/postgres$`)),
    SECRET_KEY: expect.stringMatching(/^sb_secret_[0-9a-f]{48}$/),
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
  expect(await fetch(`${value('FUNCTIONS_URL')}/api/subscriptions/plans`)).toMatchObject({ status: 200 });
  const connected = "select count(*) > 0 as found from pg_stat_activity where usename = 'subscriptions_api'";
  expect(await database.one(connected)).toEqual({ found: true });
  // A first start shows no error of Postgres.
  expect([...stack.stdout, ...stack.stderr].filter((line) => /FATAL|ERROR/.test(line))).toEqual([]);
});

test('an escape sequence of a request does not reach the terminal', async () => {
  expect((await api('/rest/v1/plans?id=eq.%1b%5b31mRED%c2%9b')).status).toBe(400);
  await vi.waitFor(() => expect(stack.stderr.join('\n')).toContain('"\\x1b[31mRED\\x9b"'), patience);
  expect(stack.stderr.filter((line) => /[^\P{Cc}\t]/u.test(line))).toEqual([]);
});

test('the name of a sign-up is that of the profile, and the metadata can be changed', async () => {
  const supabase = createClient(value('API_URL'), value('PUBLISHABLE_KEY'), { auth: { persistSession: false } });
  const email = `${crypto.randomUUID()}@example.com`;
  await supabase.auth.signUp({
    email,
    password: 'correct horse battery',
    options: { data: { full_name: 'Asha Rao' } },
  });
  await supabase.auth.stopAutoRefresh();
  const { data } = await supabase.auth.updateUser({ data: { language: 'hi' } });
  expect(data.user?.user_metadata).toMatchObject({ full_name: 'Asha Rao', language: 'hi' });
  const named = `select p.display_name as name, u.raw_user_meta_data ->> 'language' as language
    from auth.users u join billing.profiles p on p.user_id = u.id where u.email = $1`;
  expect(await database.one(named, [email])).toEqual({ name: 'Asha Rao', language: 'hi' });
});

test('the policy of the guide works as printed, on a table that is made while the stack runs', async () => {
  const [, sql] =
    /```sql\n([^`]*create policy[^`]*)```/.exec(await Deno.readTextFile(`${root}/supabase/docs/own-plan.md`)) ??
      [];
  await database.query(sql ?? expect.fail('the guide has no policy'));
  await database.query("insert into public.reports (body) values ('November')");
  const supabase = createClient(value('API_URL'), value('PUBLISHABLE_KEY'), { auth: { persistSession: false } });
  const read = async () => (await supabase.from('reports').select('body')).data;
  const email = `${crypto.randomUUID()}@example.com`;
  await supabase.auth.signUp({ email, password: 'correct horse battery' });
  await supabase.auth.stopAutoRefresh();
  await vi.waitFor(async () => expect(await read()).toEqual([]), patience);
  await database.query(
    `insert into billing.support_actions (action, email, tier, until, reason)
     values ('grant', $1, 'premium', now() + interval '1 day', 'a test')`,
    [email],
  );
  expect(await read()).toEqual([{ body: 'November' }]);
});

test('the mailbox gets the events of the service, with signatures that it accepts', async () => {
  const email = `${crypto.randomUUID()}@example.com`;
  const user = await createUser(database, { email });
  await database.query(
    `insert into billing.support_actions (action, email, tier, until, reason)
     values ('grant', $1, 'premium', now() + interval '1 day', 'a test')`,
    [email],
  );
  await vi.waitFor(async () => {
    const { data } = await (await fetch(value('EVENTS_URL'))).json();
    const received = data.map(({ headers, body, ...more }: { headers: Record<string, string>; body: string }) => {
      expect(more).toEqual({ id: headers['webhook-id'] });
      return new Webhook(value('EVENTS_SECRET')).verify(body, headers);
    });
    const access = expect.objectContaining({ user_id: user.id, tier: 'premium' });
    expect(received).toContainEqual(expect.objectContaining({ type: 'subscription.updated', data: access }));
  }, patience);
  expect((await fetch(`${value('MAILBOX_URL')}/events`, { method: 'POST', body: '{}' })).status).toBe(401);
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
  const plans = `${value('STUDIO_URL')}/rest/v1/plans`;
  const refused = [
    await withHost(`attacker.example:${port + 2}`, plans),
    await fetch(plans, { headers: { origin: 'http://attacker.example' } }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([403, 403]);
});

test('the secrets and the password of earlier versions, and another role in a token, open nothing', async () => {
  const { jwtSecret } = await localSecrets();
  const earlier = 'local-development-only-not-a-secret-of-anything';
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const tokens = [[earlier, 'postgres', 401], [earlier, 'service_role', 401], [jwtSecret, 'postgres', 403]] as const;
  for (const [secret, role, status] of tokens) {
    const authorization = `Bearer ${await createToken({ sub: crypto.randomUUID(), role, exp }, { secret })}`;
    for (const path of ['/rest/v1/payments', '/rest/v1/rpc/get_health']) {
      expect([role, path, (await api(path, { headers: { authorization } })).status]).toEqual([role, path, status]);
    }
  }
  expect((await api('/rest/v1/plans', { headers: { apikey: 'sb_secret_local_development_only' } })).status).toBe(401);
  const rebound = await withHost(`attacker.example:${port}`, value('API_URL'));
  expect(rebound.status).toBe(403);

  const logins = await database.query('select rolname as name from pg_roles where rolcanlogin');
  expect(logins.map(({ name }) => name)).toEqual(expect.arrayContaining(['postgres', 'authenticator']));
  for (const { name } of logins) {
    const url = Object.assign(new URL(value('DB_URL')), { username: name, password: 'postgres' });
    await expect(withClient(url.href, () => Promise.resolve()), String(name)).rejects.toThrow(
      'password authentication',
    );
  }
});

/** Runs a script as another user. @returns what it prints */
async function asNobody(script: string): Promise<string> {
  const nobody = { uid: 65534, gid: 65534, cwd: '/' };
  const { stdout } = await new Deno.Command('/bin/bash', { args: ['-c', script], ...nobody }).output();
  return new TextDecoder().decode(stdout);
}

test.skipIf(Deno.uid() !== 0)(
  'another user of this machine reads no secret of the stack, and opens none of its pages',
  async () => {
    const processes = await stack.processes();
    const seen = await asNobody(`cat ${dataFolder}/secrets.json
    ls ${dataFolder} ${dataFolderOf(processes)}
    for pid in ${processes.map(({ pid }) => pid).join(' ')}; do cat /proc/$pid/cmdline /proc/$pid/environ; done`);
    expect(seen).toContain('lite-process.ts');
    const system = await (await fetch(`${value('STUDIO_URL')}/_system/info`)).text();
    const { variables, ...secrets } = await localSecrets();
    for (const secret of Object.values({ ...variables, ...secrets })) expect(seen + system).not.toContain(secret);
    expect(seen).not.toMatch(/secrets.json|PG_VERSION/);

    for (const offset of [0, 2, 3, 4, 6, 7]) {
      const request = `GET / HTTP/1.0\\r\\nhost: 127.0.0.1:${port + offset}\\r\\n\\r\\n`;
      const answer = await asNobody(`exec 3<>/dev/tcp/127.0.0.1/${port + offset}; printf '${request}' >&3; cat <&3`);
      expect(answer).toMatch(/^HTTP\/1.. 403 /);
    }
  },
);

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
  expect(await seen()).toEqual({
    subscription: null,
    currentTier: 'free',
    payments: [],
    billing: null,
    entitlements: {},
  });
  const ordered = await json(`${value('FUNCTIONS_URL')}/api/payments/orders`, { tier: 'basic' });
  expect(ordered).toMatchObject({ order: { amount: 4900, currency: 'INR' }, key_id: env.GATEWAY_KEY_ID });
  await json(`${value('GATEWAY_URL')}/simulate/pay`, { order_id: ordered.order.id, outcome: 'captured' });
  const payments = [{ id: ordered.payment_id, status: 'captured' }];
  const expected = { currentTier: 'basic', payments, subscription: { tier: 'basic', status: 'active' } };
  await vi.waitFor(async () => expect(await seen()).toMatchObject(expected), patience);
  const { text } = await json(`${value('MAILBOX_URL')}/emails/${await untilMail(/^Payment received/)}`);
  for (const part of ['Basic', '₹49.00']) expect(text).toContain(part);
});

test('cancel at the end of the period → a mail that says until when it can be resumed', async () => {
  const act = (name: string, body?: unknown) => json(`${value('FUNCTIONS_URL')}/api/subscriptions/${name}`, body ?? {});
  expect(await act('cancel', { at_period_end: true })).toMatchObject({ subscription: { cancel_at_period_end: true } });
  const { text } = await json(`${value('MAILBOX_URL')}/emails/${await untilMail(/^Your Basic subscription is canc/)}`);
  for (const part of ['Nothing more will be charged', 'Access until: ', 'Resume until: ']) expect(text).toContain(part);
  expect(await act('resume')).toMatchObject({ subscription: { cancel_at_period_end: false } });
});

test('npm run doctor finds no fault, and exits with 0', async () => {
  const { code, stdout } = await run('doctor', ['--json', '--port', String(port)]);
  const results: { check: string; status: string }[] = JSON.parse(stdout);
  expect([code, results.filter(({ status }) => /fail|warn/.test(status))]).toEqual([0, []]);
  const passed = results.filter(({ status }) => status === 'pass').map(({ check }) => check);
  const expected = [
    'local-stack',
    'webhook-ping',
    'gateway-key',
    'database',
    'schedule',
    'migrations',
    'function-version',
  ];
  expect(passed).toEqual(expect.arrayContaining(expected));
});

test('npm run sql prints rows on stdout, and the error of the server on stderr with 1', async () => {
  const options = ['--port', String(port)];
  expect(await run('sql', ["select tier from public.plans where tier = 'pro' and lookup_key is null", ...options]))
    .toEqual({
      code: 0,
      stdout: 'tier\n----\npro\n(1 row)\n',
      stderr: '',
    });
  expect(await run('sql', ['select from nothing', ...options])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'ERROR: relation "nothing" does not exist\n',
  });
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
