import pg from 'pg';
import { describeSchema } from './describe-schema.ts';
import { dumpRows, dumpSequences, findRandomIds, type TableRows } from './dump-rows.ts';
import type { ReleaseNotes } from './release-files.ts';
import { fillSample, sampleEnd } from './sample/sample.ts';
import { createStabilizer } from './stable-values.ts';
import { type AppliedMigration, sampleSql, schemaSql } from './write-sql.ts';

/** A release before it is written. */
export type Release = {
  readonly sql: string;
  readonly notes: ReleaseNotes;
  /** The lines of `describeSchema`. */
  readonly schema: readonly string[];
  readonly tables: readonly TableRows[];
};

/** Fills a migrated database with the sample, and reads the release from it. Two runs return the same. */
export async function readRelease(url: string, version: string): Promise<Release> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("set timezone = 'UTC'");
    const migrations = await readMigrations(client);
    const schema = await describeSchema(client);
    const findings = await fillSample(url);
    const randomIds = await findRandomIds(client);
    const { stabilize, blank } = createStabilizer(
      // The migrations, which ran before, wrote times of the machine, too.
      { randomIds, from: new Date(performance.timeOrigin), until: new Date() },
      sampleEnd,
    );
    const tables = (await dumpRows(client)).map(({ table, rows }) => ({
      table,
      rows: rows.map((row) => [blank(row), row] as const)
        .sort(([one], [other]) => byNumbers.compare(one, other))
        .map(([, row]) => stabilize(row)),
    }));
    return {
      sql: schemaSql(version, migrations) + sampleSql(tables, await dumpSequences(client)),
      notes: { at: sampleEnd, findings: JSON.parse(stabilize(JSON.stringify(findings))) },
      schema,
      tables,
    };
  } finally {
    await client.end();
  }
}

/** Row 2 before row 10. */
const byNumbers = new Intl.Collator('en', { numeric: true });

async function readMigrations(client: pg.Client): Promise<AppliedMigration[]> {
  const { rows } = await client.query<AppliedMigration>(
    'select version, name, statements from supabase_migrations.schema_migrations order by version',
  );
  return rows;
}
