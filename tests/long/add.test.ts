import { expect, test } from 'vitest';
import { createVersion, expectCode, initialise, runAdd } from '../add/app-folder.ts';
import { serveFunction } from '../add/serve-function.ts';
import { createAppProject } from '../helpers/database/app-project.ts';

// Installed by the command, pushed by the CLI, and served from the folder of the app.

const starter = await Deno.readTextFile(new URL('../helpers/database/starter.sql', import.meta.url));

/** The bodies of the answers to `GET`. */
const serve = async (...args: Parameters<typeof serveFunction>) =>
  (await serveFunction(...args)).map(({ body }) => body);

const plans = { plans: expect.arrayContaining([expect.objectContaining({ tier: 'pro' })]) };

test('a fresh supabase init: pushed, and the function answers from the folder', async () => {
  const app = await createAppProject({ findings: {} });
  await initialise(app.folder);
  expectCode(await runAdd([app.folder]), 0);
  expect((await app.push()).length).toBeGreaterThan(20);
  const answers = await serve(app.folder, 'api', app.database.url, ['/api/health', '/api/subscriptions/plans']);
  expect(answers).toEqual([expect.objectContaining({ status: 'ok' }), plans]);
  await app.close();
});

test('the usual starter with a function api of its own: billing answers both styles of paths, and is upgraded', async () => {
  const app = await createAppProject({ findings: {} });
  await initialise(app.folder);
  await app.add('20250101000000_starter.sql', starter);
  await app.push();
  await app.add('20990101000000_notes.sql', 'create table public.notes (id int primary key);');
  await app.push();
  await Deno.mkdir(`${app.folder}/supabase/functions/api`, { recursive: true });
  await Deno.writeTextFile(`${app.folder}/supabase/functions/api/index.ts`, 'Deno.serve(() => new Response());\n');
  const outcome = await runAdd([app.folder, '--function', 'billing']);
  expectCode(outcome, 0);
  expect(outcome.stdout).toContain('20990101000000_notes.sql is younger than ours: push with --include-all.');
  await expect(app.push()).rejects.toThrow('--include-all');
  await app.push({ includeAll: true });
  const paths = ['/billing/api/subscriptions/plans', '/billing/subscriptions/plans'];
  expect(await serve(app.folder, 'billing', app.database.url, paths)).toEqual([plans, plans]);

  const version = await createVersion('90.0.0');
  const migration = 'supabase/migrations/20300101000000_add_note.sql';
  await Deno.writeTextFile(`${version}/${migration}`, 'alter table public.plans add column note text;\n');
  expectCode(await runAdd([app.folder], version), 0);
  expect(await app.push({ includeAll: true })).toEqual(['20300101000000_add_note.sql']);
  expect(await app.database.one('select count(note)::int as notes from public.plans')).toEqual({ notes: 0 });
  await app.close();
  await Deno.remove(version, { recursive: true });
});
