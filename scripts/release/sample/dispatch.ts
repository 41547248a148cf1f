import { rows } from './acts.ts';
import type { Row, SampleDatabase } from './sample-database.ts';
import { emailOf } from './users.ts';

/** How the receiver of a side effect refuses it. */
type Refusal = { readonly error: string; readonly isFinal: boolean };

/** POST /api/internal/outbox: delivers the side effects that are due, and purges old records. */
export async function dispatch(database: SampleDatabase): Promise<void> {
  for (;;) {
    const { token, rows: claimed } = await database.call('claim_outbox', {
      p_destinations: 'email,notice,revalidation,gateway,event',
    });
    if (rows(claimed).length === 0) break;
    for (const row of rows(claimed)) {
      const claim = { p_token: String(token), p_ids: String(row.id) };
      const refusal = refusalOf(row);
      if (refusal === null) await database.call('complete_outbox', claim);
      else await database.call('fail_outbox', { ...claim, p_error: refusal.error, p_final: refusal.isFinal });
    }
  }
  await database.call('purge_records', { p_ledger_days: 400, p_outbox_days: 30, p_tier_history_days: 1100 });
}

/** The app asks for a pause of its revalidations. */
export async function pauseRevalidation(database: SampleDatabase): Promise<void> {
  const { token, rows: claimed } = await database.call('claim_outbox', { p_destinations: 'revalidation' });
  await database.call('fail_outbox', {
    p_token: String(token),
    p_ids: rows(claimed).map(({ id }) => id).join(','),
    p_error: 'HTTP 429',
    p_pause_seconds: 120,
  });
}

/** The mail provider refuses Sara's mails, and fails on Tara's. */
function refusalOf({ payload }: Row): Refusal | null {
  const to = typeof payload === 'object' && payload !== null && 'to' in payload ? payload.to : undefined;
  if (to === emailOf('sara')) return { error: 'HTTP 422', isFinal: true };
  if (to === emailOf('tara')) return { error: 'HTTP 500', isFinal: false };
  return null;
}
