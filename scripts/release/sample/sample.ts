import { admin } from './admin.ts';
import type { Step } from './acts.ts';
import { dispatch, pauseRevalidation } from './dispatch.ts';
import { gatewaySubscriptions } from './gateway-subscriptions.ts';
import { purchases } from './purchases.ts';
import { refunds } from './refunds.ts';
import { openSampleDatabase, type Row, type SampleDatabase } from './sample-database.ts';

/** The end of the sample, as Postgres writes a time in JSON. The findings are read at this time. */
export const sampleEnd = '2026-10-31T12:00:00+00:00';

/** From this time on no side effect is delivered, so that some are due at the end. */
const lastDispatch = '2026-10-31T11:59:00Z';

/** The findings that the sample leaves open on purpose: kind and user. */
const openFindings: readonly (readonly [finding: string, email: string | null])[] = [
  ['captured_not_fulfilled', 'yash@example.com'],
  ['dispute_lost', 'omar@example.com'],
  ['entitled_not_paid', 'zara@example.com'],
  ['failed_events', 'yash@example.com'],
  ['never_captured', 'vani@example.com'],
  ['outbox_stuck', 'sara@example.com'],
  ['paid_twice', 'rhea@example.com'],
];

/**
 * Fills a migrated database with users by the requests that they, the gateway and the schedule make.
 * @returns the rows of `billing.findings` at the end. @throws Error when they are not the ones that the sample leaves
 */
export async function fillSample(url: string): Promise<Row[]> {
  const database = await openSampleDatabase(url);
  try {
    await database.query("update billing.settings set early_renewal = 'extend'");
    const steps: Step[] = [...purchases, ...refunds, ...gatewaySubscriptions, ...admin];
    for (const [at, act] of steps.toSorted(([one], [other]) => one < other ? -1 : 1)) {
      await database.setClock(at);
      await sweep(database);
      await act(database);
      if (at < lastDispatch) await dispatch(database);
    }
    await pauseRevalidation(database);
    await database.setClock(sampleEnd);
    await sweep(database);
    return await readFindings(database);
  } finally {
    await database.close();
  }
}

async function sweep(database: SampleDatabase): Promise<void> {
  for (let sweeps = 0; sweeps < 1000; sweeps++) {
    const [row] = await database.query('select billing.sweep() as done');
    if (row?.done === 0) return;
  }
  throw new Error('The sweep of the sample does not end');
}

async function readFindings(database: SampleDatabase): Promise<Row[]> {
  const found = await database.query(`
    select f.finding, f.subject, f.user_id, u.email, to_json(f.since) #>> '{}' as since
    from billing.findings f
    left join auth.users u on u.id = f.user_id
    -- No reconciliation runs in the sample.
    where f.finding <> 'reconciliation_backlog'
    order by f.finding, f.user_id`);
  const left = found.map(({ finding, email }) => [finding, email]);
  if (JSON.stringify(left) !== JSON.stringify(openFindings)) {
    throw new Error(`The sample leaves other findings than openFindings:\n${JSON.stringify(left, null, 2)}`);
  }
  return found.map(({ finding, subject, user_id, since }) => ({ finding, subject, user_id, since }));
}
