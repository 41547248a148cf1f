import pg from 'pg';
import { dumpRows, dumpSequences, findRandomIds } from './dump-rows.ts';
import { fillSample, sampleEnd } from './sample/sample.ts';
import { createStabilizer } from './stable-values.ts';
import { type Release, sampleSql } from './write-release.ts';

/** Fills a migrated database with the sample, and reads the release from it. Two runs return the same. */
export async function readRelease(url: string): Promise<Release> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("set timezone = 'UTC'");
    const findings = await fillSample(url);
    const randomIds = await findRandomIds(client);
    const { stabilize, blank } = createStabilizer(
      // The migrations, which ran before, wrote times of the machine, too.
      { randomIds, from: new Date(performance.timeOrigin), until: new Date() },
      sampleEnd,
    );
    const tables = (await dumpRows(client)).map(({ table, columns, rows }) => ({
      table,
      columns,
      rows: rows.map((row) => [blank(row), row] as const)
        .sort(([one], [other]) => byNumbers.compare(one, other))
        .map(([, row]) => stabilize(row)),
    }));
    return {
      sql: sampleSql(tables, await dumpSequences(client)),
      notes: { at: sampleEnd, findings: JSON.parse(stabilize(JSON.stringify(findings))) },
      tables,
    };
  } finally {
    await client.end();
  }
}

/** Row 2 before row 10. */
const byNumbers = new Intl.Collator('en', { numeric: true });
