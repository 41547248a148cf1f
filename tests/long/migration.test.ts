import { describe, expect, onTestFinished, test } from 'vitest';
import { checkMigrations } from '../../scripts/check-migrations.ts';
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
  await Deno.writeTextFile(`${supabase}/schemas/90_notes.sql`, notes);
  await writeBaseline(supabase);
  return {
    ...copy,
    change: (text: string, by: string) => copy.edit('schemas/90_notes.sql', text, by),
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

/** Edits that make one migration, and queries of the upgraded database with their row. */
type Change = {
  readonly what: string;
  readonly edits: readonly (readonly [text: string, by: string])[];
  readonly rows: readonly (readonly [query: string, row: Readonly<Record<string, unknown>>])[];
};

const newMoods =
  `create function public.new_mood() returns text language sql set search_path = pg_catalog, pg_temp return 'new';
revoke execute on function public.new_mood() from public, anon, authenticated;
create table public.moods (mood text default public.new_mood());
revoke all on public.moods from public, anon, authenticated;
alter table public.moods enable row level security;
create type billing.mood`;

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
      [
        'create trigger note_user\n',
        'create trigger note_again after delete on auth.users for each row execute function billing.note_user();\n' +
        'create trigger note_user\n',
      ],
      ['(rank);', '(rank, id) where rank > 0;'],
      ['create type billing.mood', newMoods],
    ],
    rows: [
      ["select billing.note_text(1) as text, to_regproc('billing.unused') as unused", { text: 'FIRST', unused: null }],
      [
        "select to_regclass('billing.tags') as tags, to_regclass('billing.tagged') as tagged",
        { tags: null, tagged: null },
      ],
      [
        `select array_agg(attribute_name::text order by ordinal_position) as attributes
         from information_schema.attributes where udt_name = 'note_line'`,
        { attributes: ['id', 'body', 'mood'] },
      ],
      ['select enum_range(null::billing.mood)::text as moods', { moods: '{low,calm}' }],
      [
        "select qual from pg_policies where tablename = 'notes' and roles = '{authenticated}'",
        { qual: '(rank > 1)' },
      ],
      [
        `select has_table_privilege('service_role', 'billing.notes', 'insert') as is_granted,
           col_description('billing.noted'::regclass, 2) as comment`,
        { is_granted: true, comment: 'Its text.' },
      ],
      [
        "select count(*)::int as triggers from pg_trigger where tgfoid = 'billing.note_user'::regproc and tgtype & 24 > 0",
        { triggers: 2 },
      ],
      [
        "select pg_get_indexdef('billing.notes_rank_idx'::regclass) like '%(rank, id) WHERE%' as is_changed",
        { is_changed: true },
      ],
      [
        `insert into public.moods default values returning mood,
           has_table_privilege('anon', 'public.moods', 'select') as is_open,
           has_function_privilege('anon', 'public.new_mood()', 'execute') as is_callable`,
        { mood: 'new', is_open: false, is_callable: false },
      ],
    ],
  },
  {
    what: 'a parameter, a column and an attribute between others, and a column in the middle of a view',
    edits: [
      ['billing.note_text(p_id integer)', "billing.note_text(p_id integer, p_end text default '!')"],
      ['$$ select n.body from', '$$ select n.body || p_end from'],
      ['  rank integer\n', "  mood text not null default 'calm',\n  rank integer\n"],
      ['(id integer, body text);', '(id integer, mood text, body text);'],
      ['row(p_note.id, p_note.body)', "row(p_note.id, 'calm'::text, p_note.body)"],
      ['select n.id, n.body from billing.notes n;', 'select n.id, n.rank, n.body from billing.notes n;'],
    ],
    rows: [
      [
        `select billing.note_text(1) as text, obj_description('billing.note_text'::regproc) as comment,
           has_function_privilege('authenticated', 'billing.note_text'::regproc, 'execute') as is_granted,
           has_function_privilege('anon', 'billing.note_text'::regproc, 'execute') as is_open`,
        { text: 'first!', comment: 'The text of a note.', is_granted: true, is_open: false },
      ],
      ['select n.mood, billing.rank_of(n) as rank from billing.notes n where n.id = 1', { mood: 'calm', rank: 1 }],
      [
        `select v.rank, l.body, (billing.line_of(v)).mood, (billing.line_of(v)).body as line
         from billing.noted v join billing.loud_notes l using (id) where id = 1`,
        { rank: 1, body: 'FIRST', mood: 'calm', line: 'first' },
      ],
      [
        `select col_description('billing.noted'::regclass, 3) as comment,
           has_table_privilege('service_role', 'billing.noted', 'select') as is_granted,
           has_table_privilege('authenticated', 'billing.loud_notes', 'select') as is_granted_above`,
        { comment: 'The text.', is_granted: true, is_granted_above: true },
      ],
    ],
  },
  {
    what: 'a dropped column and a new one in a view, and the type of a column that views show',
    edits: [
      [
        '  body text not null,\n  rank integer\n',
        '  body varchar(100) not null,\n  weight numeric not null default 1.5\n',
      ],
      ['create index notes_rank_idx on billing.notes (rank);\n', ''],
      ['using (rank > 0)', 'using (weight > 0)'],
      ['return case when p_note.rank > 0 then p_note.rank end', 'return ceil(p_note.weight)'],
      ['select n.id, n.body from billing.notes n;', 'select n.id, n.body, n.weight from billing.notes n;'],
    ],
    rows: [[
      'select v.weight::float as weight, pg_typeof(v.body)::text as type from billing.noted v where v.id = 1',
      { weight: 1.5, type: 'character varying' },
    ]],
  },
];

test.each(changes)(
  'a migration of $what makes the schema of the schema files, and the rows stay',
  async ({ edits, rows }) => {
    const { change, migrate } = await copyNotes();
    for (const [text, by] of edits) await change(text, by);
    const migration = await migrate();
    expect(migration?.differences).toEqual([]);
    const database = await apply(migration?.sql);
    for (const [query, row] of rows) expect(await database.query(query)).toEqual([row]);
    expect(await database.query('select id, body from billing.notes order by id')).toEqual([
      ...[{ id: 1, body: 'first' }, { id: 2, body: 'second' }],
    ]);
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

test('a migration of the profiles changes the service’s table, and not the one of an app', async () => {
  const { supabase, edit, migrate } = await copyNotes();
  const [column = ''] = /^ {2}username text .*\n/m.exec(await Deno.readTextFile(`${supabase}/schemas/02_tables.sql`)) ??
    [];
  await edit('schemas/02_tables.sql', column, `${column}  nickname text,\n`);
  const migration = await migrate('add_nickname');
  expect(migration?.differences).toEqual([]);
  const renamed = 'alter table public.profiles rename to subscription_profiles; create table public.profiles ();';
  const database = await apply(`${renamed}\n${migration?.sql}`);
  expect(await database.query("select attrelid::regclass::text as table from pg_attribute where attname = 'nickname'"))
    .toEqual([{ table: 'subscription_profiles' }]);
});

describe('npm run migration', () => {
  test('writes nothing when nothing has changed', async () => {
    const { supabase, migrate } = await copyNotes();
    const files = () => Array.from(Deno.readDirSync(`${supabase}/migrations`)).length;
    const before = files();
    expect(await migrate()).toBeUndefined();
    expect(files()).toBe(before);
  });

  test('writes a migration that is later than all others, and names the rows that it lacks', async () => {
    const { supabase, change, migrate } = await copyNotes();
    await Deno.writeTextFile(`${supabase}/migrations/29991231235958_later.sql`, '');
    const type = 'create type billing.note_line';
    await change(type, `insert into billing.notes values (0, 'installed');\n${type}`);
    expect(await migrate()).toMatchObject({
      file: '29991231235959_change.sql',
      differences: ['only in supabase/schemas: row in billing.notes: {"body":"installed","id":0,"rank":null}'],
    });
  });

  test('writes what fails in every order with its error, for completing it by hand', async () => {
    const { supabase, change, migrate } = await copyNotes();
    await change('  rank integer\n', '  rank integer,\n  line billing.note_line\n');
    const [type = ''] = /create type billing\.note_line[^;]*;\n/.exec(notes) ?? [];
    await change(type, '');
    await change('create table billing.notes', `${type}create table billing.notes`);
    await writeBaseline(supabase);
    await change('(id integer, body text);', '(id integer, mood text, body text);');
    const error = 'cannot drop type billing.note_line because other objects depend on it';
    const migration = await migrate();
    expect(migration?.sql).toContain(`-- Fails: ${error}\ndrop type billing.note_line;`);
    expect(migration?.differences).toEqual([`supabase/migrations/${migration?.file}: ${error}`]);
  });

  test('refuses a name that is none, and a schema file that Postgres refuses', async () => {
    const { change, migrate } = await copyNotes();
    await expect(migrate('Not A Name')).rejects.toThrow('"Not A Name" is no name');
    await change('create type billing.mood', 'create typo billing.mood');
    await expect(migrate()).rejects.toThrow('supabase/schemas/90_notes.sql:31: syntax error at or near "typo"');
  });
});

describe('npm run check', () => {
  test('reports schema files that were changed, and a migration that was edited', async () => {
    const { change, check, edit } = await copyNotes();
    await change('grant select on billing.notes', 'grant select, insert on billing.notes');
    await edit('migrations/20261122000090_notes.sql', "'Notes.'", "'Edited.'");
    const found = await check();
    expect(found.slice(0, -1).sort()).toEqual([
      "only in supabase/migrations: comment on table billing.notes is 'Edited.'",
      'only in supabase/migrations: right on billing.notes: service_role=r/postgres',
      "only in supabase/schemas: comment on table billing.notes is 'Notes.'",
      'only in supabase/schemas: right on billing.notes: service_role=ar/postgres',
    ]);
    expect(found.at(-1)).toBe('The schema files are the source: npm run migration -- <name>');
  });

  test('reports an object that two schema files define', async () => {
    const { change, check } = await copyNotes();
    await change('create type billing.mood', 'create view billing.users as select 1 as one;\ncreate type billing.mood');
    expect(await check()).toEqual(['supabase/schemas/90_notes.sql: relation "users" already exists']);
  });
});
