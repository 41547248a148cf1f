import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkMigrations } from '../../scripts/check/migrations.ts';
import { checkReleases } from '../../scripts/check/releases.ts';
import { newestRelease, readReleaseNotes } from '../../scripts/release/release-files.ts';
import { loadSample } from '../../scripts/release/restore-release.ts';
import { breakingChanges, readRpcs, type Rpc } from '../../scripts/release/rpcs.ts';
import { migrationVersions } from '../../scripts/stack/postgres/migration-versions.ts';
import { createVersion, expectCode, initialise, runAdd } from '../add/app-folder.ts';
import { serveFunction } from '../add/serve-function.ts';
import { type AppProject, createAppProject } from '../helpers/database/app-project.ts';
import { setClock } from '../helpers/database/clock.ts';
import type { Row } from '../helpers/database/test-database.ts';
import { copyFolder } from '../helpers/project/copy-project.ts';
import { runScript } from '../helpers/project/run-script.ts';

// A release, and the version after it, both made by the commands of the documents. Databases with customers and an app's
// own migrations are upgraded from the one to the other.

const added = { column: "  note text not null default 'none',\n", parameter: "p_note text default 'any'" };

const newest = Number((await migrationVersions()).at(-1));

/** Migrations of the app: before ours, two between the released ones and the new one, and after all. */
const own = {
  before: ['20250101000000_notes.sql', 'create table public.notes (body text); insert into public.notes values (1);'],
  unpushed: [`${newest + 1}_tags.sql`, 'create table public.tags (tag text); insert into public.tags values (2);'],
  later: [`${newest + 2}_reports.sql`, 'create table public.reports (body text);'],
  after: [
    '20990101000000_paid.sql',
    `insert into public.reports values (3);
     alter table public.reports enable row level security;
     create policy "Pro reads reports" on public.reports for select using ((select public.has_feature('reports')));
     create view public.paid with (security_invoker = true) as select id, amount from public.payments;`,
  ],
} as const;

let released: string;
let version: string;
let next: string;
let migration: string;
beforeAll(async () => {
  released = await createVersion(await newestRelease() === undefined ? '1.4.0' : '90.0.0');
  await command(released, 'release');
  version = await newestRelease(`${released}/supabase`) ?? '';

  next = await createVersion(version.replace(/\d+$/, '1'), released);
  await edit('05_money/01_payments.sql', "  meta jsonb default '{}',\n", (line) => line + added.column);
  await edit(
    '03_customers/04_entitlements.sql',
    '  f.user_id, own.tier,',
    () => '  f.user_id, f.subscription_tier as stored, own.tier,',
  );
  await edit(
    '08_requests/01_purchases.sql',
    'get_subscription(p_user_id uuid)',
    () => `get_subscription(p_user_id uuid, ${added.parameter})`,
  );
  await edit(
    '08_requests/01_purchases.sql',
    `      coalesce(a.tier, 'free') as "currentTier",`,
    (line) => `      p_note as note,\n${line}`,
  );
  const lines = await command(next, 'migration', 'add_notes');
  migration = /\d{14}_add_notes\.sql/.exec(lines)?.[0] ?? '';
});
afterAll(() => Promise.all([released, next].map((folder) => Deno.remove(folder, { recursive: true }))));

/** Runs `npm run <name>` of a copy of the project. @returns what it printed */
async function command(folder: string, name: string, ...args: string[]): Promise<string> {
  const outcome = await runScript(name, args, { cwd: folder });
  expectCode(outcome, 0);
  return outcome.stdout + outcome.stderr;
}

/** Changes a text that stands once in a schema file of the next version. */
async function edit(file: string, text: string, by: (text: string) => string): Promise<void> {
  const path = `${next}/supabase/schemas/${file}`;
  const parts = (await Deno.readTextFile(path)).split(text);
  expect(parts, `${file}: ${text}`).toHaveLength(2);
  await Deno.writeTextFile(path, parts.join(by(text)));
}

/** The ways from a version to the folder of an app. */
const ways: readonly [way: string, bring: (project: string, folder: string) => Promise<void>][] = [
  ['copied migrations', async (project, folder) => {
    for await (const { name } of Deno.readDir(`${project}/supabase/migrations`)) {
      await Deno.copyFile(`${project}/supabase/migrations/${name}`, `${folder}/supabase/migrations/${name}`);
    }
    await Deno.remove(`${folder}/supabase/functions`, { recursive: true }).catch(() => {});
    await copyFolder(`${project}/supabase/functions`, `${folder}/supabase/functions`);
  }],
  ['npm run add', async (project, folder) => expectCode(await runAdd([folder], project), 0)],
];

/** What belongs to the app: its files, its history, and its rows. */
async function readOwn({ folder, database }: AppProject): Promise<unknown> {
  const files = Object.values(own).map(([file]) => file);
  return {
    texts: await Promise.all(files.map((file) => Deno.readTextFile(`${folder}/supabase/migrations/${file}`))),
    history: await database.query(
      'select * from supabase_migrations.schema_migrations where version = any ($1) order by version',
      [files.map((file) => file.slice(0, 14))],
    ),
    rows: await database.query(
      'select body from public.notes union all table public.tags union all table public.reports',
    ),
  };
}

/** The rows of customers, without the new column. */
const readRows = ({ database }: AppProject): Promise<Row[]> =>
  database.query(`
    select to_jsonb(p) - 'note' as row from public.payments p
    union all select to_jsonb(s) from public.subscriptions s
    union all select to_jsonb(o) from billing.outbox o
    order by 1`);

const readAnswers = ({ database }: AppProject): Promise<Row[]> =>
  database.query('select u.email, public.get_subscription(u.id) as answer from auth.users u order by u.email');

const rpcsOf = async ({ database }: AppProject): Promise<Rpc[]> => await readRpcs(await database.connect());

test('the new version has one migration more, which makes its schema files, and changes no released file', async () => {
  expect(await checkReleases(`${next}/supabase`)).toEqual([]);
  expect(await checkMigrations(`${next}/supabase`)).toEqual([]);
  expect(migration).toMatch(/^\d{14}_add_notes\.sql$/);
});

test.each(ways)('a database with customers and an app’s migrations around ours is upgraded by %s', async (_, bring) => {
  const notes = await readReleaseNotes(version, `${released}/supabase`);
  const kinds = Map.groupBy(notes.findings, ({ finding }) => String(finding));
  const app = await createAppProject({
    findings: Object.fromEntries([...kinds].map(([kind, { length }]) => [kind, length])),
  });
  await initialise(app.folder);
  await app.add(...own.before);
  await app.push();
  await bring(released, app.folder);
  await app.push();
  await app.add(...own.later);
  await app.add(...own.after);
  await app.push();
  await loadSample(app.database.url, await Deno.readTextFile(`${released}/supabase/releases/${version}.sql`));
  await setClock(app.database, notes.at);
  // Written on another branch of the app, and not yet pushed.
  await app.add(...own.unpushed);
  await app.push({ includeAll: true });
  const [mine, rows, answers, rpcs] = [
    await readOwn(app),
    await readRows(app),
    await readAnswers(app),
    await rpcsOf(app),
  ];
  expect(rows.length).toBeGreaterThan(50);

  await bring(next, app.folder);
  await expect(app.push()).rejects.toThrow('--include-all');
  expect(await app.push({ includeAll: true })).toEqual([migration]);

  expect(await readOwn(app)).toEqual(mine);
  expect(await readRows(app)).toEqual(rows);
  expect(await readAnswers(app)).toMatchObject(answers);
  expect(breakingChanges(rpcs, await rpcsOf(app))).toEqual([]);
  expect(await app.database.query('select note from public.payments group by note')).toEqual([{ note: 'none' }]);
  expect(
    await app.database.one(
      'select count(stored) > 5 as shown, count(*) filter (where stored = tier) > 5 as same from billing.access',
    ),
  )
    .toEqual({ shown: true, same: true });
  expect(await app.database.one("select public.get_subscription(gen_random_uuid(), 'mine') ->> 'note' as note"))
    .toEqual({ note: 'mine' });
  const [health, plans] = await serveFunction(app.folder, 'api', app.database.url, [
    '/api/health',
    '/api/subscriptions/plans',
  ]);
  expect(health?.body).toMatchObject({ status: 'ok' });
  expect(health?.headers.get('x-schema-version')).toBe(migration.slice(0, 14));
  expect(plans?.body).toEqual({ plans: expect.arrayContaining([expect.objectContaining({ tier: 'pro' })]) });
  const applied = 'select public.get_schema_version($1) as newest';
  expect(await app.database.one(applied, [migration.slice(0, 14)])).toEqual({
    newest: { version: migration.slice(0, 14) },
  });
  // Nothing was reconciled since the sample was made.
  await app.database.query("update billing.scheduled_jobs set done_at = now() where name = 'reconciliation'");
  await app.close();
});
