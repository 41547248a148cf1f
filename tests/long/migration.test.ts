import { describe, expect, onTestFinished, test } from 'vitest';
import { checkMigrations } from '../../scripts/check/migrations.ts';
import { writeBaseline } from '../../scripts/migration/baseline.ts';
import { writeMigration } from '../../scripts/migration/write-migration.ts';
import { root } from '../../scripts/stack/root.ts';
import { createTestDatabase } from '../helpers/database/test-database.ts';
import { copySchema } from '../helpers/project/copy-schema.ts';

const notes = await Deno.readTextFile(`${root}/tests/fixtures/notes.sql`);
/** Of the fixture. */
const [unused = ''] = /create function billing\.unused[^;]*;\n/.exec(notes) ?? [];
const [tags = ''] = /create table billing\.tags[^]*?(?=\ncreate type)/.exec(notes) ?? [];

/** A copy of the project's schema with `notes.sql`, whose objects the tests change. The baseline has both. */
async function copyNotes() {
  const copy = await copySchema();
  onTestFinished(() => copy.remove());
  const { supabase } = copy;
  await Deno.writeTextFile(`${supabase}/schemas/12_books/90_notes.sql`, notes);
  const migrations = await writeBaseline(supabase);
  return {
    ...copy,
    /** The migration of the notes. */
    migration: `migrations/${migrations.find((name) => name.endsWith('_notes.sql'))}`,
    change: (text: string, by: string) => copy.edit('schemas/12_books/90_notes.sql', text, by),
    migrate: (name = 'change') => writeMigration(name, supabase),
    check: () => checkMigrations(supabase),
  };
}

/** Applies a migration to a database of the baseline with two notes. */
async function apply(sql = '') {
  const database = await createTestDatabase({ findings: 'compared elsewhere' });
  onTestFinished(() => database.close());
  await database.query(notes);
  await database.query("insert into billing.notes (id, body, rank) values (1, 'first', 1), (2, 'second', null)");
  // Default privileges of projects that were made before the platform dropped them.
  await database.query('alter default privileges in schema public grant all on tables to anon, authenticated');
  await database.query('alter default privileges in schema public grant execute on functions to anon, authenticated');
  await database.query(sql);
  return database;
}

/** Edits that make one migration, and a query of the upgraded database with its row. */
type Change = {
  readonly what: string;
  readonly edits: readonly (readonly [text: string, by: string])[];
  readonly query: string;
  readonly row: Readonly<Record<string, unknown>>;
};

const newMoods =
  `create function public.new_mood() returns text language sql set search_path = pg_catalog, pg_temp return 'new';
revoke execute on function public.new_mood() from public, anon, authenticated;
create table public.moods (mood text default public.new_mood());
revoke all on public.moods from public, anon, authenticated;
alter table public.moods enable row level security;
create type billing.mood`;
const newTrigger =
  `create trigger note_again after delete on auth.users for each row execute function billing.note_user();
create trigger note_user
`;

const changes: readonly Change[] = [
  {
    what:
      'a body, an attribute at the end, an enum, a policy, a grant, a comment, triggers, an index, new and dropped objects',
    edits: [
      ['$$ select n.body from', '$$ select upper(n.body) from'],
      [unused, ''],
      [tags, ''],
      ['(id integer, body text);', '(id integer, body text, mood text);'],
      ["enum ('calm')", "enum ('low', 'calm')"],
      ['using (rank > 0)', 'using (rank > 1)'],
      ['grant select on billing.notes', 'grant select, insert on billing.notes'],
      ["billing.noted.body is 'The text.'", "billing.noted.body is 'Its text.'"],
      ['after insert on auth.users\n', 'after insert or update of email on auth.users\n'],
      ['create trigger note_user\n', newTrigger],
      ['(rank);', '(rank, id) where rank > 0;'],
      ['create type billing.mood', newMoods],
    ],
    query: `insert into public.moods default values
      returning mood, billing.note_text(1) as text, has_table_privilege('anon', 'public.moods', 'select') as is_open,
        has_function_privilege('anon', 'public.new_mood()', 'execute') as is_callable`,
    row: { mood: 'new', text: 'FIRST', is_open: false, is_callable: false },
  },
  {
    what:
      'a parameter, an attribute between others, a dropped and a new column, the type of a column that views show, and a column in the middle of a view',
    edits: [
      ['billing.note_text(p_id integer)', "billing.note_text(p_id integer, p_end text default '!')"],
      ['$$ select n.body from', '$$ select n.body || p_end from'],
      ['(id integer, body text);', '(id integer, mood text, body text);'],
      ['row(p_note.id, p_note.body)', "row(p_note.id, 'calm'::text, p_note.body::text)"],
      [
        '  body text not null,\n  rank integer\n',
        "  body varchar(100) not null,\n  mood text not null default 'calm',\n  weight numeric not null default 1.5\n",
      ],
      ['create index notes_rank_idx on billing.notes (rank);\n', ''],
      ['using (rank > 0)', 'using (weight > 0)'],
      ['return case when p_note.rank > 0 then p_note.rank end', 'return ceil(p_note.weight)'],
      ['select n.id, n.body from billing.notes n;', 'select n.id, n.weight, n.body from billing.notes n;'],
    ],
    query: `select billing.note_text(1) as text, n.mood, v.weight::float, (billing.line_of(v)).body as line,
        has_function_privilege('anon', 'billing.note_text'::regproc, 'execute') as is_open
      from billing.notes n join billing.noted v using (id) where n.id = 1`,
    row: { text: 'first!', mood: 'calm', weight: 1.5, line: 'first', is_open: false },
  },
];

// That there are no differences also proves rights, comments and what was dropped.
test.each(changes)(
  'a migration of $what makes the schema of the schema files, and the rows stay',
  async ({ edits, query, row }) => {
    const { change, migrate } = await copyNotes();
    for (const [text, by] of edits) await change(text, by);
    const migration = await migrate();
    expect(migration?.differences).toEqual([]);
    expect(migration?.sql).toMatch(/^-- .*\nset local lock_timeout = '2s';\n/);
    const database = await apply(migration?.sql);
    expect(await database.one(query)).toEqual(row);
    expect(await database.query('select id, body from billing.notes order by id'))
      .toEqual([{ id: 1, body: 'first' }, { id: 2, body: 'second' }]);
  },
);

test('a rename is written by hand into the migration: the rows stay, and the check accepts it', async () => {
  const { supabase, change, migrate, check } = await copyNotes();
  for (const line of ['  rank integer\n', '(rank);', 'using (rank > 0)']) {
    await change(line, line.replace('rank', 'place'));
  }
  await change('case when p_note.rank > 0 then p_note.rank end', 'case when p_note.place > 0 then p_note.place end');
  const migration = await migrate('rename_rank');
  expect(migration?.differences).toEqual([]);
  expect(migration?.sql).toContain('DROP COLUMN "rank"');
  const [rankOf = ''] = /create function billing\.rank_of[^;]*;\n/.exec(notes) ?? [];
  const sql = 'alter table billing.notes rename column rank to place;\n' +
    rankOf.replace('create', 'create or replace').replaceAll('p_note.rank', 'p_note.place');
  await Deno.writeTextFile(`${supabase}/migrations/${migration?.file}`, sql);
  expect(await check()).toEqual([]);
  const database = await apply(sql);
  const rows = await database.query('select id, place from billing.notes order by id');
  expect(rows).toEqual([{ id: 1, place: 1 }, { id: 2, place: null }]);
});

describe('npm run migration', () => {
  test('writes nothing when nothing has changed, and refuses what is no name and what Postgres refuses', async () => {
    const { supabase, change, migrate } = await copyNotes();
    const files = () => Array.from(Deno.readDirSync(`${supabase}/migrations`)).length;
    const before = files();
    expect(await migrate()).toBeUndefined();
    await expect(migrate('Not A Name')).rejects.toThrow('"Not A Name" is no name');
    await change('create type billing.mood', 'create typo billing.mood');
    await expect(migrate()).rejects.toThrow(
      'supabase/schemas/12_books/90_notes.sql:31: syntax error at or near "typo"',
    );
    expect(files()).toBe(before);
  });

  test('writes a migration later than all others, names rows that it lacks, and changes the service’s profiles, not an app’s', async () => {
    const { supabase, change, edit, migrate } = await copyNotes();
    await Deno.writeTextFile(`${supabase}/migrations/29991231235958_later.sql`, '');
    const type = 'create type billing.note_line';
    await change(type, `insert into billing.notes values (0, 'installed');\n${type}`);
    const tables = await Deno.readTextFile(`${supabase}/schemas/03_customers/01_profiles.sql`);
    const [column = ''] = /^ {2}username text .*\n/m.exec(tables) ?? [];
    await edit('schemas/03_customers/01_profiles.sql', column, `${column}  nickname text,\n`);
    const migration = await migrate();
    expect(migration).toMatchObject({
      file: '29991231235959_change.sql',
      differences: ['only in supabase/schemas: row in billing.notes: {"body":"installed","id":0,"rank":null}'],
    });
    const renamed = 'alter table public.profiles rename to subscription_profiles; create table public.profiles ();';
    const database = await apply(`${renamed}\n${migration?.sql}`);
    const changed = "select attrelid::regclass::text as table from pg_attribute where attname = 'nickname'";
    expect(await database.query(changed)).toEqual([{ table: 'subscription_profiles' }]);
  });
});

test('npm run check reports changed schema files, an edited migration, and an object that two files define', async () => {
  const { change, check, edit, migration } = await copyNotes();
  await change('grant select on billing.notes', 'grant select, insert on billing.notes');
  await edit(migration, "'Notes.'", "'Edited.'");
  const found = await check();
  expect(found.slice(0, -1).sort()).toEqual([
    "only in supabase/migrations: comment on table billing.notes is 'Edited.'",
    'only in supabase/migrations: right on billing.notes: service_role=r/postgres',
    "only in supabase/schemas: comment on table billing.notes is 'Notes.'",
    'only in supabase/schemas: right on billing.notes: service_role=ar/postgres',
  ]);
  expect(found.at(-1)).toBe('The schema files are the source: npm run migration -- <name>');
  await change('create type billing.mood', 'create view billing.users as select 1 as one;\ncreate type billing.mood');
  expect(await check()).toEqual(['supabase/schemas/12_books/90_notes.sql: relation "users" already exists']);
});
