import { createClient } from '@supabase/supabase-js';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { expectGone, freeBasePort, npmStart, type Process, type RunningStack } from './running-stack.ts';

const names = [
  'API_URL',
  'FUNCTIONS_URL',
  'DB_URL',
  'STUDIO_URL',
  'MAILBOX_URL',
  'GATEWAY_URL',
  'PUBLISHABLE_KEY',
  'SECRET_KEY',
  'GATEWAY_KEY_ID',
  'GATEWAY_KEY_SECRET',
  'GATEWAY_WEBHOOK_SECRET',
  'REVALIDATE_URL',
  'APP_URL',
  'CONSOLE_URL',
];
const patience = { timeout: 30_000, interval: 50 };

describe('npm start', { timeout: 60_000 }, () => {
  const port = freeBasePort();
  let stack: RunningStack;
  let env: Record<string, string>;

  beforeAll(async () => {
    stack = npmStart(['--port', String(port), '--ephemeral']);
    env = await stack.ready;
  }, 60_000);
  afterAll(() => stack.end());

  const value = (name: string) => env[name] ?? '';
  const api = (path: string, init: RequestInit = {}) =>
    fetch(`${value('API_URL')}${path}`, {
      ...init,
      headers: { apikey: value('PUBLISHABLE_KEY'), 'content-type': 'application/json', ...init.headers },
    });
  const processOf = async (part: string): Promise<Process> => {
    const found = (await stack.processes()).find(({ command }) => command.includes(part));
    if (!found) throw new Error(`no process ${part}`);
    return found;
  };

  test('prints the values in their order and ready last', () => {
    const lines = stack.stdout.filter((line) => line !== '' && !line.startsWith('>'));
    expect(lines.map((line) => line.split('=', 1)[0])).toEqual([...names, 'ready']);
    expect(env).toMatchObject({
      API_URL: `http://127.0.0.1:${port}`,
      FUNCTIONS_URL: `http://127.0.0.1:${port}/functions/v1`,
      DB_URL: `postgresql://postgres:postgres@127.0.0.1:${port + 1}/postgres`,
      STUDIO_URL: `http://127.0.0.1:${port + 2}`,
      MAILBOX_URL: `http://127.0.0.1:${port + 3}`,
      GATEWAY_URL: `http://127.0.0.1:${port + 4}`,
      REVALIDATE_URL: `http://127.0.0.1:${port + 6}/api/revalidate`,
      APP_URL: `http://127.0.0.1:${port + 6}`,
      CONSOLE_URL: expect.stringMatching(new RegExp(`^http://127\\.0\\.0\\.1:${port + 7}/\\?token=[0-9a-f]{48}$`)),
    });
  });

  test('every printed address answers', async () => {
    const statuses = await Promise.all([
      api('/auth/v1/health'),
      api('/rest/v1/plans'),
      fetch(`${value('FUNCTIONS_URL')}/api/subscriptions`),
      fetch(value('STUDIO_URL')),
      fetch(value('MAILBOX_URL')),
      fetch(value('GATEWAY_URL')),
      fetch(value('APP_URL')),
      fetch(value('CONSOLE_URL'), { redirect: 'manual' }),
    ].map(async (answer) => (await answer).status));
    expect(statuses).toEqual([200, 200, 401, 200, 200, 200, 200, 303]);
    const sql = postgres(value('DB_URL'), { max: 1 });
    const [row] = await sql`select current_setting('timezone') as zone`;
    await sql.end();
    expect(row?.zone).toBe('UTC');
  });

  test('a sign-up over supabase-js gets a session that the function accepts', async () => {
    const supabase = createClient(value('API_URL'), value('PUBLISHABLE_KEY'), { auth: { persistSession: false } });
    const { data, error } = await supabase.auth.signUp({
      email: `${crypto.randomUUID()}@example.com`,
      password: 'correct horse battery',
    });
    await supabase.auth.stopAutoRefresh();
    expect(error).toBeNull();
    const answer = await fetch(`${value('FUNCTIONS_URL')}/api/subscriptions`, {
      headers: { authorization: `Bearer ${data.session?.access_token}` },
    });
    expect(await answer.json()).toEqual({ subscription: null, currentTier: 'free', payments: [], billing: null });
  });

  test.each(['auth/v1/signup', 'rest/v1/plans', 'functions/v1/api/subscriptions'])(
    'a page of another origin may send the headers of supabase-js to %s',
    async (path) => {
      const names = 'apikey,authorization,content-type,x-client-info';
      const headers = {
        origin: 'http://localhost:3000',
        'access-control-request-method': 'POST',
        'access-control-request-headers': names,
      };
      const answer = await fetch(`${value('API_URL')}/${path}`, { method: 'OPTIONS', headers });
      const allowed = answer.headers.get('access-control-allow-headers')?.split(/,\s*/);
      expect(allowed).toEqual(expect.arrayContaining(names.split(',')));
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    },
  );

  test('rights that the migrations revoke stay revoked after the first requests', async () => {
    expect((await api('/rest/v1/plans')).status).toBe(200);
    const written = await api('/rest/v1/plans', { method: 'POST', body: '{"tier":"mine","name":"Mine","price":0}' });
    expect(await written.json()).toMatchObject({ code: '42501' });
    const sql = postgres(value('DB_URL'), { max: 1 });
    const rows = await sql`
      select r.rolname, p.privilege
      from (values ('anon'), ('authenticated')) as r (rolname),
        unnest(array['insert', 'delete', 'truncate']) as p (privilege),
        unnest(array['plans', 'payments', 'subscriptions', 'profiles']) as t (name)
      where has_table_privilege(r.rolname, format('public.%I', t.name), p.privilege)`;
    await sql.end();
    expect([...rows]).toEqual([]);
  });

  test('schema billing is in Studio and not in the API', async () => {
    const profile = { 'accept-profile': 'billing' };
    const outside = await api('/rest/v1/outbox', { headers: { ...profile, apikey: value('SECRET_KEY') } });
    const inside = await fetch(`${value('STUDIO_URL')}/rest/v1/outbox`, { headers: profile });
    expect([outside.status, inside.status]).toEqual([406, 200]);
  });

  test('the API has no system information', async () => {
    expect((await api('/_system/info')).status).toBe(404);
    expect((await api('/%5Fsystem/info')).status).toBe(404);
  });

  test.each([
    ['Host', { host: `attacker.example:${port + 2}` }],
    ['Origin', { origin: 'http://attacker.example' }],
  ])('Studio refuses a foreign %s', async (_, headers) => {
    const client = Deno.createHttpClient({ allowHost: true });
    const init = { headers: new Headers(headers), client };
    const answer = await fetch(`${value('STUDIO_URL')}/rest/v1/plans`, init);
    await answer.body?.cancel();
    client.close();
    expect(answer.status).toBe(403);
  });

  test('a body of 5 MB gets the 413 of the function', async () => {
    const body = new Uint8Array(5_000_000);
    const answer = await fetch(`${value('FUNCTIONS_URL')}/api/webhooks/gateway`, { method: 'POST', body });
    expect([answer.status, await answer.json()]).toEqual([413, { error: 'Payload too large' }]);
  });

  test('a start on taken ports fails with their numbers', async () => {
    const second = npmStart(['--port', String(port), '--ephemeral']);
    expect((await second.exited).code).toBe(1);
    expect(second.stderr).toEqual(expect.arrayContaining([
      `port ${port} (API) is taken by another program`,
      `port ${port + 4} (gateway simulator) is taken by another program`,
    ]));
    expect(second.stdout).not.toContain('ready');
  });

  test.each(['--prot 1', '--port http', '--port 65535', '--reset --ephemeral'])(
    'npm start -- %s writes the usage and exits with 2',
    async (options) => {
      const refused = npmStart(options.split(' '));
      expect((await refused.exited).code).toBe(2);
      expect(refused.stderr.join('\n')).toContain(options.split(' ', 1)[0]);
      expect(refused.stderr.join('\n')).toContain('Usage: npm start');
    },
  );

  test('a request waits while a killed Lite is restarted', async () => {
    const lite = await processOf('lite-process.ts');
    Deno.kill(lite.pid, 'SIGKILL');
    expect((await api('/rest/v1/plans')).status).toBe(200);
    expect((await processOf('lite-process.ts')).pid).not.toBe(lite.pid);
  });

  test('the API recovers after its database connections are terminated', async () => {
    const sql = postgres(value('DB_URL'), { max: 1 });
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid()`;
    await sql.end();
    await vi.waitFor(async () => expect((await api('/rest/v1/plans')).status).toBe(200), patience);
  });

  test('a stop while the database is made ends the CLI, which waits for it', async () => {
    const early = npmStart(['--port', String(freeBasePort()), '--ephemeral']);
    const processes = await vi.waitFor(async () => {
      const running = await early.processes();
      expect(running.some(({ command }) => command.includes('supabase db push') || command.includes('initdb'))).toBe(
        true,
      );
      return running;
    }, patience);
    expect((await early.end()).code).toBe(0);
    await expectGone(processes);
  });

  test('a killed function stops the stack and shows its last lines', async () => {
    const processes = await stack.processes();
    Deno.kill((await processOf('functions/api/index.ts')).pid, 'SIGKILL');
    expect((await stack.exited).code).toBe(1);
    const index = stack.stderr.findIndex((line) => line.startsWith('The function ended with code'));
    expect(stack.stderr.slice(index + 1).join('\n')).toContain('"event":"request"');
    await expectGone(processes);
  });
});
