import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sweep as scheduledSweep } from '../../scripts/stack/postgres/sweep.ts';
import { createCallStandIns, dropCallStandIns, recordedCalls } from '../helpers/database/call-stand-ins.ts';
import { readFindings } from '../helpers/database/findings.ts';
import { listen } from '../helpers/database/notifications.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { emptyOutbox } from '../helpers/outbox/side-effects.ts';
import { createPayment, deleteUsers, insertSubscriptions } from '../helpers/records/records.ts';

const database = useDatabase();
afterEach(() => database.query("update billing.scheduled_jobs set done_at = null, since = 'infinity'"));

const findings = () => readFindings(database);
const sweep = async () => (await database.one('select billing.sweep() as done')).done;
const write = (sql: string) => database.query(sql);
const setJob = (name: string, column: 'done_at' | 'since', ago: string) =>
  write(`update billing.scheduled_jobs set ${column} = now() - interval '${ago}' where name = '${name}'`);
const found = (finding: string) =>
  database.one('select subject, detail from billing.findings where finding = $1', [finding]);

describe('the sweep', () => {
  beforeEach(async () => {
    await emptyOutbox(database);
    await database.at('03-01');
  });
  /** Inserts mails that are a hundred days older than the clock. */
  const insertMails = (count: number) =>
    write(`
      insert into billing.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at, delivered_at)
      select gen_random_uuid(), 'email', 'kind', '{}', at, at, at, at
      from generate_series(1, ${count}) n
      cross join (values (timestamptz '2025-11-21T00:00:00Z')) t (at)`);
  const mails = async () => (await database.one('select count(*)::int from billing.outbox')).count;

  test('does one batch of one job per call and returns its size; with nothing left it notifies and calls the dispatcher', async () => {
    await createCallStandIns(database);
    const listener = await listen(database, 'outbox');
    const told = async () => [await listener.count(), (await recordedCalls(database)).length];
    await insertMails(1001);
    const [notified = 0, called = 0] = await told();
    expect([await sweep(), await sweep(), await mails(), await told()]).toEqual([1000, 1, 0, [notified, called]]);
    expect([await sweep(), await told()]).toEqual([0, [notified + 1, called + 1]]);
    await dropCallStandIns(database);
  });

  test('as scheduled commits after each batch and continues until nothing is left', async () => {
    await insertSubscriptions(database, 250, "timestamptz '2026-01-01'");
    await emptyOutbox(database);
    await insertMails(1500);
    await write('truncate billing.tier_changes');
    await write(scheduledSweep);
    expect(await database.one('select count(*)::int as ended from billing.tier_changes')).toEqual({ ended: 250 });
    expect(await mails()).toBe(255); // one for each end, and one refresh of the pages for each batch
    await deleteUsers(database);
  });
});

describe('sweep_overdue', () => {
  test('lists a sweep that last finished, or a schedule that never ran since, more than 10 minutes ago', async () => {
    await setJob('sweep', 'done_at', '9 minutes 50 seconds');
    expect(await findings()).toEqual([]);
    for (const [column, ago] of [['done_at', '10 minutes 1 second'], ['since', '11 minutes']] as const) {
      await write('update billing.scheduled_jobs set done_at = null');
      await setJob('sweep', column, ago);
      expect(await findings()).toEqual([['sweep_overdue', 'sweep']]);
      await sweep();
      expect(await findings()).toEqual([]);
    }
    await database.at('2040-01-01');
    expect(await findings(), 'with a clock that was moved').toEqual([]);
  });
});

test('reconciliation_overdue lists a last run 16 minutes ago if a payment is due or leased, until one finishes', async () => {
  const customer = await database.customer();
  await createPayment(database, { userId: customer.id });
  const due = (at: string) => write(`update public.payments set next_reconcile_at = now() + interval '${at}'`);
  await setJob('reconciliation', 'done_at', '16 minutes');
  for (const [at, isOverdue] of [['10 minutes', false], ['-1 minute', true], ['4 minutes', true]] as const) {
    await due(at);
    expect(await findings(), at).toEqual(isOverdue ? [['reconciliation_overdue', 'reconciliation']] : []);
  }
  await setJob('reconciliation', 'done_at', '0 minutes');
  expect(await findings()).toEqual([]);
  await due('10 days');
});

test('job_failing lists a job of the sweep that fails for 10 minutes, until it succeeds; the other jobs run', async () => {
  await write('alter function billing.run_passes() rename to hidden');
  for (let i = 0; i < 2; i++) await sweep();
  expect(await findings()).toEqual([]);
  const failing = 'select name from billing.scheduled_jobs where error is not null';
  expect(await database.query(failing)).toEqual([{ name: 'run_passes' }]);
  await setJob('run_passes', 'since', '11 minutes');
  await sweep();
  const error = expect.stringMatching(/^42883: /);
  expect(await found('job_failing')).toMatchObject({ subject: 'run_passes', detail: { error } });
  await write('alter function billing.hidden() rename to run_passes');
  await sweep();
  expect(await findings()).toEqual([]);
});

describe('call_failed', () => {
  const path = '/api/internal/outbox';
  beforeEach(async () => {
    await createCallStandIns(database);
    return async () => {
      await dropCallStandIns(database);
    };
  });
  /** Sends the queued calls, and stores this answer of the function for each of them, as pg_net does. */
  const answerCalls = (answer: { status_code?: number; timed_out?: boolean; error_msg?: string }) =>
    database.query(
      `with sent as (delete from net.http_request_queue returning id)
       insert into net._http_response (id, status_code, timed_out, error_msg)
       select s.id, a.status_code, a.timed_out, a.error_msg
       from sent s cross join jsonb_to_record($1) a (status_code int, timed_out bool, error_msg text)`,
      [JSON.stringify(answer)],
    );
  const readCalls = () =>
    database.query('select path, status_code, answered_at is null as is_open from billing.function_calls order by id');
  const open = { path, status_code: null, is_open: true };

  test.each([
    [{ status_code: 401 }, { status_code: 401 }, 'subscriptions_internal_key'],
    [{ status_code: 404 }, { status_code: 404 }, 'subscriptions_url'],
    [{ status_code: 503 }, { status_code: 503 }, 'not set'],
    [{ status_code: 500 }, { status_code: 500 }, 'log'],
    [{ timed_out: true }, { error: 'no answer within 5 s' }, 'too slow'],
    [{ error_msg: "Couldn't resolve host name" }, { error: "Couldn't resolve host name" }, 'subscriptions_url'],
  ])('lists a path whose newest answer is %j, with a remedy, until one is accepted', async (answer, detail, remedy) => {
    await sweep();
    await answerCalls(answer);
    await sweep();
    const call = await found('call_failed');
    expect(call).toMatchObject({ subject: path, detail });
    expect(Object(call.detail).remedy).toContain(remedy);
    await answerCalls({ status_code: 202 });
    await sweep();
    expect(await findings()).toEqual([]);
    expect((await readCalls()).slice(1)).toEqual([{ path, status_code: 202, is_open: false }, open]);
  });

  test('lists a call without an answer for five minutes', async () => {
    await sweep();
    expect(await findings()).toEqual([]);
    await write("update billing.function_calls set called_at = now() - interval '301 seconds'");
    expect(await found('call_failed')).toMatchObject({ subject: path, detail: { error: 'not answered' } });
  });

  test('lists a call that pg_net does not accept', async () => {
    await createCallStandIns(database, { net: 'raises' });
    await sweep();
    const [error, remedy] = ['division by zero', expect.stringContaining('not preloaded')];
    expect(await found('call_failed')).toMatchObject({ subject: path, detail: { error, remedy } });
  });

  test('ignores an older answer with a request id that pg_net used again', async () => {
    await write("insert into net._http_response (id, status_code, created) values (1, 401, now() - interval '1 hour')");
    for (let i = 0; i < 2; i++) await sweep();
    expect([await findings(), await readCalls()]).toEqual([[], [open]]);
  });

  test('records no call that is rolled back, and keeps the others for a day', async () => {
    await (await database.connect()).query('begin; select billing.wake(); rollback');
    expect(await readCalls()).toEqual([]);
    await sweep();
    await answerCalls({ status_code: 202 });
    await write("update billing.function_calls set called_at = now() - interval '25 hours'");
    await sweep();
    expect(await readCalls()).toEqual([open]);
  });

  test('does not stop a sweep that cannot read the answers', async () => {
    await write('alter table net._http_response rename column id to other');
    expect(await sweep()).toBe(0);
    expect(await recordedCalls(database)).toHaveLength(1);
  });

  test.each([
    ['its row', "select from billing.scheduled_jobs where name = 'sweep' for update"],
    ['the table', 'lock table billing.scheduled_jobs in share mode'],
  ])('a sweep calls while an admin holds the lock on %s', async (_, lock) => {
    const admin = await database.connect();
    await admin.query(`begin; ${lock}`);
    expect(await sweep()).toBe(0);
    await admin.query('rollback');
    expect(await recordedCalls(database)).toMatchObject([{ url: `http://functions.test/functions/v1${path}` }]);
  });
});
