import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { type AppFolder, createAppFolder } from '../add/app-folder.ts';
import { freeBasePort, npmStart, type RunningStack } from './running-stack.ts';

// An app with a function `api` of its own: ours has the name `billing` there.
const starter = await Deno.readTextFile(new URL('../helpers/database/starter.sql', import.meta.url));
let app: AppFolder;
let stack: RunningStack;
let env: Record<string, string>;
const hello = (text: string) =>
  `Deno.serve((request) => Response.json({
  text: '${text}', path: new URL(request.url).pathname, secret: Deno.env.get('OWN_SECRET'), url: Deno.env.get('SUPABASE_URL'),
}));`;
/** The receiver of the deployment guide with its package: the tests have no network. It keeps the newest event in a file. */
async function receiverOfGuide(): Promise<string> {
  const recipe = await Deno.readTextFile(`${root}/supabase/docs/events-function.ts`);
  const apply = "const apply = (event) => Deno.writeTextFile('received.json', JSON.stringify(event));";
  const { outputFiles } = await build({
    stdin: { contents: `${recipe}\n${apply}`, loader: 'ts', resolveDir: root },
    ...{ bundle: true, write: false, format: 'esm', platform: 'neutral', mainFields: ['module', 'main'] },
    alias: { 'npm:standardwebhooks@1.1.1': 'standardwebhooks' },
  });
  return outputFiles[0]?.text ?? '';
}

beforeAll(async () => {
  const port = freeBasePort();
  app = await createAppFolder({
    'supabase/migrations/20250101000000_starter.sql': starter,
    'supabase/functions/api/index.ts': hello('of the app'),
    'supabase/functions/_shared/index.ts': 'throw new Error("no function")',
    'supabase/functions/broken/index.ts': 'throw new Error("broken")',
    'supabase/functions/.env': [
      ...['OWN_SECRET=own', 'SUPABASE_URL=http://elsewhere.example', 'GATEWAY_KEY_ID=key_of_app'],
      `EVENTS_URL=http://127.0.0.1:${port}/functions/v1/events`,
      ...['REVALIDATE_URL=https://app.example/api/revalidate', 'DATABASE_POOL_URL=postgres://hosted.example/postgres'],
    ].join('\n'),
    'supabase/functions/events/index.ts': await receiverOfGuide(),
    // Around functions without a deno.json: the platform reads neither.
    'package.json': '{"type": "module", "dependencies": {"zod": "4.6.7"}}',
    'deno.json': '{"imports": {"./supabase/functions/plain/answer.ts": "./nowhere.ts"}}',
    'supabase/functions/plain/index.ts': "import { answer } from './answer.ts';\nDeno.serve(answer);",
    'supabase/functions/plain/answer.ts': "export const answer = () => Response.json({ text: 'plain' });",
  });
  expect((await app.add(['--function', 'billing'])).code).toBe(0);
  stack = npmStart(['--port', String(port), '--ephemeral', '--project', app.folder]);
  env = await stack.ready;
});
afterAll(async () => {
  await stack.end();
  await app.remove();
});

const get = async (path: string) => {
  const response = await fetch(`${env.FUNCTIONS_URL}/${path}`);
  return { status: response.status, body: await response.json().catch(() => null) };
};
/** A function of the app loads after the stack is ready. */
const getUntil = async (path: string, text: string) => {
  const read = async () => (await get(path)).body?.text;
  await expect.poll(read, { timeout: 30_000, interval: 100 }).toBe(text);
  return (await get(path)).body;
};

test('npm start -- --project serves the functions of the app with its variables and those of the platform, and ours under its name there', async () => {
  expect(await getUntil('api/hello', 'of the app')).toEqual({
    text: 'of the app',
    path: '/api/hello',
    secret: 'own',
    url: env.API_URL,
  });
  expect(await get('billing/health')).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect((await get('_shared')).status).toBe(404);
  expect((await get('broken')).status).toBe(503);
});

test('our function has the .env of the app, but for servers outside of this machine', () => {
  expect(env).toMatchObject({ GATEWAY_KEY_ID: 'key_of_app', EVENTS_URL: `${env.FUNCTIONS_URL}/events` });
  expect(env.REVALIDATE_URL).toMatch(/^http:\/\/127\.0\.0\.1:/);
  expect(stack.stderr.join('\n')).toContain(
    `Not used from ${app.folder}/supabase/functions/.env: DATABASE_POOL_URL, REVALIDATE_URL, outside of this machine.`,
  );
});

test('a function without a deno.json loads in an app with a package.json and a deno.json of its own', async () => {
  await getUntil('plain', 'plain');
});

test('the receiver of the deployment guide verifies the events that our function sends it', async () => {
  await expect.poll(async () => (await get('events')).status, { timeout: 30_000 }).toBe(401);
  const [user] = await withClient(env.DB_URL ?? '', async (client) => {
    const { rows } = await client.query("select id from auth.users where email = 'asha@example.com'");
    await client.query(
      `insert into billing.support_actions (action, email, tier, until, reason)
      values ('grant', 'asha@example.com', 'pro', now() + interval '1 day', 'to try events')`,
    );
    return rows;
  });
  const received = () => app.read('received.json').then(JSON.parse, () => undefined);
  await expect.poll(received, { timeout: 30_000, interval: 200 }).toMatchObject({
    type: 'subscription.updated',
    data: { user_id: user.id, tier: 'pro' },
  });
});

test('the migrations of the app are applied with ours, in their order: its profiles are its own, and its trigger fills them', async () => {
  const profiles = await withClient(env.DB_URL ?? '', (client) =>
    client.query(`
      select billing.profiles_table()::text as ours, p.id = u.id as is_filled
      from auth.users u left join public.profiles p using (id) where u.email = 'asha@example.com'`));
  expect(profiles.rows).toEqual([{ ours: 'subscription_profiles', is_filled: true }]);
});

test('a function of the app is served anew when its file changes', async () => {
  await app.write('supabase/functions/api/index.ts', hello('edited'));
  expect(await getUntil('api/hello', 'edited')).toMatchObject({ text: 'edited' });
});

test('npm start -- --project of a folder without functions ends with a sentence and code 1', async () => {
  const other = npmStart(['--port', String(freeBasePort()), '--ephemeral', '--project', '/nowhere']);
  expect((await other.exited).code).toBe(1);
  expect(other.stderr.join('\n')).toContain('--project: /nowhere/supabase/functions does not exist');
});
