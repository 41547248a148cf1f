import { describe, expect, test, vi } from 'vitest';
import { createApp } from '../../supabase/functions/api/app.ts';
import { readConfig } from '../../supabase/functions/api/config.ts';
import { createDatabase } from '../../supabase/functions/api/database/database.ts';
import { DatabaseError } from '../../supabase/functions/api/database/rpc.ts';
import { createBufferedLog } from '../../supabase/functions/api/http/log.ts';
import { silentGateway } from './silent-gateway.ts';

const environment: Record<string, string> = {
  SUPABASE_URL: 'https://abc.supabase.co',
  SUPABASE_PUBLISHABLE_KEYS: '{"default":"sb_publishable_1"}',
  SUPABASE_SECRET_KEYS: '{"default":"sb_secret_1"}',
  LEDGER_RETENTION_DAYS: '500',
  RECONCILE_CALLS_PER_SECOND: '1000',
};
const config = readConfig((name) => environment[name]);
const readAt: number[] = [];
const gateway: typeof silentGateway = {
  ...silentGateway,
  readSubscription: () => {
    readAt.push(performance.now());
    return Promise.resolve({ status: 'found', value: { status: 'active' } });
  },
  listOrderPayments: () => Promise.resolve({ status: 'found', value: [{ id: 'pay_A', email: 'asha@example.com' }] }),
};

/** Calls an internal endpoint. The database returns these answers for each SQL function, in order, and throws errors. */
async function call(
  path: string,
  answers: Record<string, unknown[]>,
  later: Record<string, unknown>,
  { reconcileCallsPerSecond } = config,
) {
  const log: Record<string, unknown>[] = [];
  const calls: { name: string; parameters: unknown }[] = [];
  const database = createDatabase((name, parameters) => {
    calls.push({ name, parameters });
    const answer = answers[name]?.shift() ?? later[name];
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  }, config);
  const auth = { authenticate: () => Promise.resolve(null) };
  const settings = { ...config, reconcileCallsPerSecond };
  const app = createApp(settings, { auth, database, gateway, senders: {} }, (entry) => log.push({ ...entry }));
  const response = await app.request(path, { method: 'POST', headers: { apikey: 'sb_secret_1' } });
  const answer = { status: response.status, body: await response.json() };
  return { answer, calls, log, id: response.headers.get('x-request-id') };
}

describe('POST /api/internal/outbox', () => {
  const dispatch = (purged: (number | Error)[], then = 0) =>
    call('/api/internal/outbox', {
      purge_records: purged.map((count) => count instanceof Error ? count : { purged: count }),
    }, { purge_records: { purged: then } });
  const answer = { status: 200, body: { delivered: 0, retried: 0, parked: 0, next_attempt_at: null } };
  const parameters = { p_ledger_days: 500, p_outbox_days: 30, p_tier_history_days: 1100 };

  test('purges with the configured days until no record is left, in no more than 20 batches', async () => {
    const purge = { name: 'purge_records', parameters };
    expect(await dispatch([3000, 12])).toMatchObject({ answer, calls: [purge, purge, purge] });
    expect((await dispatch([], 1000)).calls).toHaveLength(20);
  });

  test('answers 200 when a purge fails, with a line in the log that names the call', async () => {
    const { log, ...rest } = await dispatch([5, new DatabaseError('purge_records', '55P03')]);
    expect(rest.answer).toEqual(answer);
    expect(log[0]).toMatchObject({ level: 'error', event: 'fault', error: 'purge_records failed: 55P03' });
  });
});

describe('POST /api/internal/reconcile', () => {
  const noneLeft = {
    claim_payments_to_reconcile: { settled: 0, payments: [] },
    claim_subscriptions_to_reconcile: { settled: 0, subscriptions: [] },
    claim_statement_pages: { pages: [], newest: null },
    claim_settlement_pages: { pages: [] },
  };
  const reconcile = (answers: Record<string, unknown[]>, settings = config) =>
    call('/api/internal/reconcile', { begin_reconciliation: [{ began: true }], ...answers }, noneLeft, settings);
  const payments = [{
    settled: 0,
    payments: [{ id: 'a', order_id: 'order_1', amount: 1 }, { id: 'b', order_id: 'order_2', amount: 1 }],
  }];
  const subscriptions = (...ids: string[]) => [{
    settled: 0,
    subscriptions: ids.map((id) => ({ id, gateway_subscription_id: `sub_${id}` })),
  }];
  const fault = (error: unknown) => ({ level: 'error', event: 'fault', error });
  const request = (outcome: string) => ({ level: 'info', event: 'request', outcome });
  const applied = { applied: 1, ended: false };
  const locked = new DatabaseError('apply_order_payments', '55P03');

  test.each<[string, orders: unknown[], body: Record<string, number>, log: Record<string, unknown>[]]>([
    ['all answers applied', [applied, { applied: 0, ended: true }], { asked: 3, applied: 3, unanswered: 0 }, [
      request('reconciled'),
    ]],
    ['an answer that cannot be applied', [locked, applied], { asked: 3, applied: 2, unanswered: 1 }, [
      fault('apply_order_payments failed: 55P03'),
      request('incomplete'),
    ]],
    ['an invalid result', [{ applied: 'order_1' }, applied], { asked: 3, applied: 2, unanswered: 1 }, [
      fault(expect.any(String)),
      request('incomplete'),
    ]],
  ])('%s → 200, in the log the fault by its call and the request, without data', async (_, orders, body, lines) => {
    const { answer, log, id } = await reconcile({
      claim_payments_to_reconcile: structuredClone(payments),
      claim_subscriptions_to_reconcile: subscriptions('1'),
      apply_order_payments: orders,
      apply_gateway_subscription: [{ applied: true, lacks_payment: false }],
    });
    expect(answer).toEqual({ status: 200, body });
    expect(log).toMatchObject(lines.map((line) => ({ ...line, request_id: id })));
    expect(log).toHaveLength(lines.length);
    expect(JSON.stringify(log)).not.toMatch(/order_1|pay_|sub_|@|sb_secret/);
  });

  test('a database that is down → 500, one line beside the request', async () => {
    const { answer, log } = await reconcile({
      claim_payments_to_reconcile: [new DatabaseError('claim_payments_to_reconcile', undefined)],
    });
    expect(answer).toEqual({ status: 500, body: { error: 'Failed to reconcile' } });
    expect(log).toMatchObject([
      { event: 'fault', error: 'claim_payments_to_reconcile failed' },
      { event: 'request', outcome: 'reconcileFailed' },
    ]);
  });

  test('the gateway gets no more calls a second than RECONCILE_CALLS_PER_SECOND', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      readAt.length = 0;
      const answering = reconcile({
        claim_subscriptions_to_reconcile: subscriptions('1', '2', '3', '4'),
        apply_gateway_subscription: Array(4).fill({ applied: false, lacks_payment: false }),
      }, readConfig((name) => ({ ...environment, RECONCILE_CALLS_PER_SECOND: '4' })[name]));
      await vi.advanceTimersByTimeAsync(1000);
      expect((await answering).answer.body).toEqual({ asked: 4, applied: 0, unanswered: 0 });
      expect(readAt.map((at) => at - (readAt[0] ?? 0))).toEqual([0, 250, 500, 750]);
    } finally {
      vi.useRealTimers();
    }
  });
});

test('lines of the log are written together, in their order, 10 ms after the first; a fault at once, and no line twice', () => {
  vi.useFakeTimers();
  try {
    const written: string[] = [];
    const log = createBufferedLog((text) => written.push(text));
    log({ level: 'info', event: 'one' });
    vi.advanceTimersByTime(9);
    log({ level: 'info', event: 'two' });
    expect(written).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(written).toEqual(['{"level":"info","event":"one"}\n{"level":"info","event":"two"}']);
    log({ level: 'info', event: 'three' });
    log({ level: 'error', event: 'fault' });
    expect(written[1]).toBe('{"level":"info","event":"three"}\n{"level":"error","event":"fault"}');
    vi.advanceTimersByTime(1000);
    expect(written).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});
