import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { checkMigrations } from '../../scripts/check-migrations.ts';
import { writeBaseline } from '../../scripts/migration/baseline.ts';
import { writeMigration } from '../../scripts/migration/write-migration.ts';
import { root } from '../../scripts/stack/root.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { copySchema, type SchemaCopy } from '../helpers/project/copy-schema.ts';

const file = 'schemas/90_notes.sql';
const rows = [{ id: 1, body: 'first', rank: 1 }, { id: 2, body: 'second', rank: null }];

/** The project's schema with `notes.sql`, whose objects the tests change. The baseline has both. */
let copy: SchemaCopy;
let notes: string;
beforeEach(async () => {
  copy = await copySchema();
  notes = await Deno.readTextFile(`${root}/tests/fixtures/notes.sql`);
  await Deno.writeTextFile(`${copy.supabase}/${file}`, notes);
  await writeBaseline(copy.supabase);
});
afterEach(() => copy.remove());

const edit = (text: string, by: string) => copy.edit(file, text, by);
const migrationOf = (name: string) => Deno.readTextFile(`${copy.supabase}/migrations/${name}`);

/** A database of the baseline with two notes. */
async function install(): Promise<TestDatabase> {
  const database = await createTestDatabase({ findings: 'compared elsewhere' });
  onTestFinished(() => database.close());
  await database.query(notes);
  await database.query("insert into billing.notes (id, body, rank) values (1, 'first', 1), (2, 'second', null)");
  return database;
}

type Change = {
  readonly what: string;
  readonly edits: readonly (readonly [text: string, by: string])[];
  /** A query of the upgraded database, and its rows. */
  readonly query: string;
  readonly answer: readonly Readonly<Record<string, unknown>>[];
};

const changes: readonly Change[] = [
  {
    what: 'the body of a function',
    edits: [['$$ select n.body from', '$$ select upper(n.body) from']],
    query: 'select billing.note_text(1) as text',
    answer: [{ text: 'FIRST' }],
  },
  {
    what: 'a new parameter',
    edits: [
      ['billing.note_text(p_id integer)', "billing.note_text(p_id integer, p_end text default '!')"],
      ['$$ select n.body from', '$$ select n.body || p_end from'],
    ],
    query: `
      select billing.note_text(1) as text, obj_description('billing.note_text'::regproc) as comment,
        has_function_privilege('authenticated', 'billing.note_text'::regproc, 'execute') as is_granted,
        has_function_privilege('anon', 'billing.note_text'::regproc, 'execute') as is_open`,
    answer: [{ text: 'first!', comment: 'The text of a note.', is_granted: true, is_open: false }],
  },
  {
    what: 'a function without its definition',
    edits: [[/create function billing\.unused[^;]*;\n/.exec(await fixture())?.[0] ?? '', '']],
    query: "select to_regproc('billing.unused') as function",
    answer: [{ function: null }],
  },
  {
    what: 'a table without its definition',
    edits: [[/create table billing\.tags[^]*?(?=\ncreate type)/.exec(await fixture())?.[0] ?? '', '']],
    query: "select to_regclass('billing.tags') as tags, to_regclass('billing.tagged') as tagged",
    answer: [{ tags: null, tagged: null }],
  },
  {
    what: 'a column between others',
    edits: [
      ['  rank integer\n', "  mood text not null default 'calm',\n  rank integer\n"],
      ['$$ select n.body from', '$$ select n.mood from'],
    ],
    query:
      'select n.mood, billing.note_text(n.id) as text, billing.rank_of(n) as rank from billing.notes n order by n.id',
    answer: [{ mood: 'calm', text: 'calm', rank: 1 }, { mood: 'calm', text: 'calm', rank: null }],
  },
  {
    what: 'a dropped column and a new one in a view',
    edits: [
      ['  body text not null,\n  rank integer\n', '  body text not null,\n  weight numeric not null default 1.5\n'],
      ['create index notes_rank_idx on billing.notes (rank);\n', ''],
      ['using (rank > 0)', 'using (weight > 0)'],
      ['return case when p_note.rank > 0 then p_note.rank end', 'return ceil(p_note.weight)'],
      ['select n.id, n.body from billing.notes n;', 'select n.id, n.body, n.weight from billing.notes n;'],
    ],
    query: 'select v.weight::float as weight from billing.noted v where v.id = 1',
    answer: [{ weight: 1.5 }],
  },
  {
    what: 'the type of a column that views show',
    edits: [['  body text not null,', '  body varchar(100) not null,']],
    query: 'select pg_typeof(v.body)::text as type from billing.noted v where v.id = 1',
    answer: [{ type: 'character varying' }],
  },
  {
    what: 'an attribute of a type, at its end',
    edits: [['(id integer, body text);', '(id integer, body text, mood text);']],
    query: 'select array_agg(attribute_name::text order by ordinal_position) as attributes ' +
      "from information_schema.attributes where udt_name = 'note_line'",
    answer: [{ attributes: ['id', 'body', 'mood'] }],
  },
  {
    what: 'an attribute of a type, between others',
    edits: [
      ['(id integer, body text);', '(id integer, mood text, body text);'],
      ['row(p_note.id, p_note.body)', "row(p_note.id, 'calm'::text, p_note.body)"],
    ],
    query: 'select (billing.line_of(v)).mood, (billing.line_of(v)).body from billing.noted v where v.id = 1',
    answer: [{ mood: 'calm', body: 'first' }],
  },
  {
    what: 'a value of an enum',
    edits: [["enum ('calm')", "enum ('low', 'calm')"]],
    query: 'select enum_range(null::billing.mood)::text as moods',
    answer: [{ moods: '{low,calm}' }],
  },
  {
    what: 'a column in the middle of a view',
    edits: [['select n.id, n.body from billing.notes n;', 'select n.id, n.rank, n.body from billing.notes n;']],
    query: `
      select v.rank, l.body, (billing.line_of(v)).body as line, col_description('billing.noted'::regclass, 3) as comment,
        has_table_privilege('service_role', 'billing.noted', 'select') as is_granted,
        has_table_privilege('authenticated', 'billing.loud_notes', 'select') as is_granted_above
      from billing.noted v join billing.loud_notes l using (id) where id = 1`,
    answer: [
      { rank: 1, body: 'FIRST', line: 'first', comment: 'The text.', is_granted: true, is_granted_above: true },
    ],
  },
  {
    what: 'a policy',
    edits: [['using (rank > 0)', 'using (rank > 1)']],
    query: "select p.qual from pg_policies p where p.tablename = 'notes' and p.roles = '{authenticated}'",
    answer: [{ qual: '(rank > 1)' }],
  },
  {
    what: 'a grant and a comment',
    edits: [
      ['grant select on billing.notes', 'grant select, insert on billing.notes'],
      ["billing.noted.body is 'The text.'", "billing.noted.body is 'Its text.'"],
    ],
    query: `
      select has_table_privilege('service_role', 'billing.notes', 'insert') as is_granted,
        col_description('billing.noted'::regclass, 2) as comment`,
    answer: [{ is_granted: true, comment: 'Its text.' }],
  },
  {
    what: 'a trigger on auth.users, and a new one',
    edits: [
      ['after insert on auth.users\n', 'after insert or update of email on auth.users\n'],
      [
        'create trigger note_user\n',
        'create trigger note_again after delete on auth.users for each row execute function ' +
        'billing.note_user();\ncreate trigger note_user\n',
      ],
    ],
    query: `
      with changed as (select count(*) from pg_trigger t where t.tgfoid = 'billing.note_user'::regproc)
      select count as triggers from changed`,
    answer: [{ triggers: '2' }],
  },
  {
    what: 'an index',
    edits: [['(rank);', '(rank, id) where rank > 0;']],
    query: "select pg_get_indexdef('billing.notes_rank_idx'::regclass) like '%(rank, id) WHERE%' as is_changed",
    answer: [{ is_changed: true }],
  },
  {
    what: 'a new table and function of public',
    edits: [[
      'create type billing.mood',
      `create function public.new_mood() returns text language sql set search_path = pg_catalog, pg_temp return 'new';
      revoke execute on function public.new_mood() from public, anon, authenticated;
      create table public.moods (mood text default public.new_mood());
      revoke all on public.moods from public, anon, authenticated;
      alter table public.moods enable row level security;
      create type billing.mood`,
    ]],
    query: `
      insert into public.moods default values
      returning mood, has_table_privilege('anon', 'public.moods', 'select') as is_open,
        has_function_privilege('anon', 'public.new_mood()', 'execute') as is_callable`,
    answer: [{ mood: 'new', is_open: false, is_callable: false }],
  },
];

/** The schema file that the changes begin with. */
function fixture(): Promise<string> {
  return Deno.readTextFile(`${root}/tests/fixtures/notes.sql`);
}

test.each(changes)(
  'a migration of $what makes the schema of the schema files, and the rows stay',
  async ({ edits, query, answer }) => {
    for (const [text, by] of edits) await edit(text, by);
    const migration = await writeMigration('change', copy.supabase);
    expect(migration?.differences).toEqual([]);
    const database = await install();
    // Default privileges of projects that were made before the platform dropped them.
    await database.query('alter default privileges in schema public grant all on tables to anon, authenticated');
    await database.query('alter default privileges in schema public grant execute on functions to anon, authenticated');
    await database.query(await migrationOf(migration?.file ?? ''));
    expect(await database.query(query)).toEqual(answer);
    const columns = Object.keys(await database.one('select * from billing.notes where id = 1'));
    expect(await database.query('select * from billing.notes order by id')).toMatchObject(
      rows.map((row) => Object.fromEntries(Object.entries(row).filter(([column]) => columns.includes(column)))),
    );
  },
);

test(
  'a rename is written by hand into the migration: the rows stay, and the check accepts it',
  async () => {
    for (const line of ['  rank integer\n', '(rank);', 'using (rank > 0)']) {
      await edit(
        line,
        line.replace('rank', 'place'),
      );
    }
    await edit('case when p_note.rank > 0 then p_note.rank end', 'case when p_note.place > 0 then p_note.place end');
    const migration = await writeMigration('rename_rank', copy.supabase);
    const path = `migrations/${migration?.file}`;
    expect(migration?.differences).toEqual([]);
    expect(migration?.sql).toContain('DROP COLUMN "rank"');
    const sql = 'alter table billing.notes rename column rank to place;\n' +
      notes.slice(notes.indexOf('create function billing.rank_of'), notes.indexOf('create function billing.unused'))
        .replace('create', 'create or replace').replaceAll('.rank', '.place').replace(
          'billing.place_of',
          'billing.rank_of',
        );
    await Deno.writeTextFile(`${copy.supabase}/${path}`, sql);
    expect(await checkMigrations(copy.supabase)).toEqual([]);
    const database = await install();
    await database.query(sql);
    expect(await database.query('select id, place from billing.notes order by id')).toEqual([
      { id: 1, place: 1 },
      { id: 2, place: null },
    ]);
  },
);

test('a migration of the profiles changes the service’s table, and not the one of an app', async () => {
  const [column] = /^ {2}username text .*\n/m.exec(await Deno.readTextFile(`${copy.supabase}/schemas/02_tables.sql`)) ??
    [''];
  await copy.edit('schemas/02_tables.sql', column, `${column.replace('\n', '')}  nickname text,\n`);
  const migration = await writeMigration('add_nickname', copy.supabase);
  expect(migration?.differences).toEqual([]);
  const database = await install();
  await database.query('alter table public.profiles rename to subscription_profiles; create table public.profiles ()');
  await database.query(await migrationOf(migration?.file ?? ''));
  expect(await database.query("select attrelid::regclass::text as table from pg_attribute where attname = 'nickname'"))
    .toEqual([{ table: 'subscription_profiles' }]);
});

describe('npm run migration', () => {
  test('writes nothing when nothing has changed', async () => {
    const before = Array.from(Deno.readDirSync(`${copy.supabase}/migrations`)).length;
    expect(await writeMigration('change', copy.supabase)).toBeUndefined();
    expect(Array.from(Deno.readDirSync(`${copy.supabase}/migrations`))).toHaveLength(before);
  });

  test('writes a migration that is later than all others, and names the rows that it lacks', async () => {
    await Deno.writeTextFile(`${copy.supabase}/migrations/29991231235958_later.sql`, '');
    await edit(
      'create type billing.note_line',
      "insert into billing.notes values (0, 'installed');\ncreate type billing.note_line",
    );
    expect(await writeMigration('change', copy.supabase)).toMatchObject({
      file: '29991231235959_change.sql',
      differences: ['only in supabase/schemas: row in billing.notes: {"body":"installed","id":0,"rank":null}'],
    });
  });

  test('writes what fails in every order with its error, for completing it by hand', async () => {
    await edit('  rank integer\n', '  rank integer,\n  line billing.note_line\n');
    const types = /create type billing\.note_line[^;]*;\n/.exec(notes)?.[0] ?? '';
    await edit(types, '');
    await edit('create table billing.notes', `${types}create table billing.notes`);
    await writeBaseline(copy.supabase);
    await edit('(id integer, body text);', '(id integer, mood text, body text);');
    const error = 'cannot drop type billing.note_line because other objects depend on it';
    const migration = await writeMigration('change', copy.supabase);
    expect(migration?.sql).toContain(`-- Fails: ${error}\ndrop type billing.note_line;`);
    expect(migration?.differences).toEqual([`supabase/migrations/${migration?.file}: ${error}`]);
  });

  test('refuses a name that is none, and a schema file that Postgres refuses', async () => {
    await expect(writeMigration('Not A Name', copy.supabase)).rejects.toThrow('"Not A Name" is no name');
    await edit('create type billing.mood', 'create typo billing.mood');
    await expect(writeMigration('change', copy.supabase)).rejects.toThrow(
      'supabase/schemas/90_notes.sql:31: syntax error at or near "typo"',
    );
  });
});

describe('npm run check', () => {
  test('reports schema files that were changed without a migration', async () => {
    await edit('grant select on billing.notes', 'grant select, insert on billing.notes');
    expect(await checkMigrations(copy.supabase)).toEqual([
      'only in supabase/schemas: right on billing.notes: service_role=ar/postgres',
      'only in supabase/migrations: right on billing.notes: service_role=r/postgres',
      'The schema files are the source: npm run migration -- <name>',
    ]);
  });

  test('reports a migration that was edited', async () => {
    await copy.edit('migrations/20261122000090_notes.sql', "'Notes.'", "'Edited.'");
    expect(await checkMigrations(copy.supabase)).toEqual([
      "only in supabase/schemas: comment on table billing.notes is 'Notes.'",
      "only in supabase/migrations: comment on table billing.notes is 'Edited.'",
      'The schema files are the source: npm run migration -- <name>',
    ]);
  });

  test('reports an object that two schema files define', async () => {
    await edit('create type billing.mood', 'create view billing.users as select 1 as one;\ncreate type billing.mood');
    expect(await checkMigrations(copy.supabase)).toEqual([
      'supabase/schemas/90_notes.sql: relation "users" already exists',
    ]);
  });
});
