import type { TableRows } from './dump-rows.ts';
import { hashesText, hashRelease } from './file-hashes.ts';
import { deployedFolder, type ReleaseNotes } from './release-files.ts';

/** A release before it is written. */
export type Release = {
  /** Loads the rows. */
  readonly sql: string;
  readonly notes: ReleaseNotes;
  readonly tables: readonly TableRows[];
};

/** Writes the files of a release; its schema is the migrations of the folder, which the hashes name. */
export async function writeRelease(version: string, { sql, notes }: Release, folder = deployedFolder): Promise<void> {
  const file = `${folder}/releases/${version}`;
  await Deno.mkdir(`${folder}/releases`, { recursive: true });
  await Deno.writeTextFile(`${file}.sql`, sql);
  await Deno.writeTextFile(`${file}.json`, JSON.stringify(notes, null, 2) + '\n');
  await Deno.writeTextFile(`${file}.sha256`, hashesText(await hashRelease(version, folder)));
}

/** Replaces the rows of the migrations by those of the sample. Each row is one line. */
export function sampleSql(tables: readonly TableRows[], sequences: readonly { name: string; value: string }[]): string {
  const names = tables.map(({ table }) => table).filter((table) => table !== 'auth.users');
  return `-- The sample of a release. Written by \`npm run release\`, never edited.
-- Load it into a database with exactly the migrations of the release.

-- The rows are complete: no trigger may add others.
set session_replication_role = replica;
truncate ${names.join(', ')};

${tables.filter(({ rows }) => rows.length > 0).map(insertSql).join('\n')}
${sequences.map(({ name, value }) => `select setval('${name}', ${value});\n`).join('')}
reset session_replication_role;
`;
}

function insertSql({ table, columns, rows }: TableRows): string {
  return `insert into ${table} (${columns}) overriding system value
select ${columns}
from jsonb_populate_recordset(null::${table}, ${dollarQuote(`[\n${rows.join(',\n')}\n]`)});
`;
}

/** @throws Error when the text contains the quote. */
function dollarQuote(text: string): string {
  const mark = '$_$';
  if (text.includes(mark)) throw new Error(`${mark} stands in a text of the release`);
  return mark + text + mark;
}
