import { describe, expect, test } from 'vitest';
import { createApp } from '../../supabase/functions/api/app.ts';
import { readConfig } from '../../supabase/functions/api/config.ts';
import { createDatabase, DatabaseError } from '../../supabase/functions/api/database/database.ts';

const environment: Record<string, string> = {
  SUPABASE_URL: 'https://abc.supabase.co',
  SUPABASE_PUBLISHABLE_KEYS: '{"default":"sb_publishable_1"}',
  SUPABASE_SECRET_KEYS: '{"default":"sb_secret_1"}',
  LEDGER_RETENTION_DAYS: '500',
};
const config = readConfig((name) => environment[name]);

/** Calls POST /api/internal/outbox. Each purge deletes the next number of the list, later ones `then`. */
async function dispatch(purges: (number | Error)[], then = 0) {
  const log: Record<string, unknown>[] = [];
  const calls: { name: string; parameters: unknown }[] = [];
  const database = createDatabase((name, parameters) => {
    calls.push({ name, parameters });
    const purged = purges.shift() ?? then;
    return purged instanceof Error ? Promise.reject(purged) : Promise.resolve({ purged });
  }, config);
  const auth = { authenticate: () => Promise.resolve(null) };
  const app = createApp(config, { auth, database, gateway: null, senders: {} }, (entry) => log.push({ ...entry }));
  const response = await app.request('/api/internal/outbox', { method: 'POST', headers: { apikey: 'sb_secret_1' } });
  return { status: response.status, body: await response.json(), calls, log };
}

const report = { delivered: 0, retried: 0, parked: 0, next_attempt_at: null };
const call = {
  name: 'purge_records',
  parameters: { p_ledger_days: 500, p_outbox_days: 30, p_tier_history_days: 1100 },
};

describe('POST /api/internal/outbox', () => {
  test('purges with the configured days until no record is left', async () => {
    const { status, body, calls } = await dispatch([3000, 12]);
    expect({ status, body }).toEqual({ status: 200, body: report });
    expect(calls).toEqual([call, call, call]);
  });

  test('purges no more than 20 batches', async () => {
    expect((await dispatch([], 1000)).calls).toHaveLength(20);
  });

  test('answers 200 when a purge fails, with a line in the log that names the call', async () => {
    const { status, body, calls, log } = await dispatch([5, new DatabaseError('purge_records', '55P03')]);
    expect({ status, body }).toEqual({ status: 200, body: report });
    expect(calls).toHaveLength(2);
    expect(log[0]).toMatchObject({ level: 'error', event: 'fault', error: 'purge_records failed: 55P03' });
  });
});
