import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createCallStandIns, dropCallStandIns, recordedCalls } from '../helpers/database/call-stand-ins.ts';
import { setClock } from '../helpers/database/clock.ts';
import { readFindings } from '../helpers/database/findings.ts';
import { createTestDatabase, type Row, type TestDatabase } from '../helpers/database/test-database.ts';
import { createPayment, createUser } from '../helpers/records/records.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const sweep = () => database.query('select billing.sweep()');
const noteDone = (name: string, ago: string) =>
  database.query('update billing.scheduled_jobs set done_at = now() - $2::interval where name = $1', [name, ago]);
const rowOf = (finding: string): Promise<Row> =>
  database.one('select subject, detail from billing.findings where finding = $1', [finding]);

/** Sends the queued calls, and stores this answer of the function for each of them, as pg_net does. */
async function answerCalls(answer: { status_code?: number; timed_out?: boolean; error_msg?: string }): Promise<void> {
  await database.query(
    `with sent as (delete from net.http_request_queue returning id)
     insert into net._http_response (id, status_code, timed_out, error_msg)
     select s.id, a.status_code, a.timed_out, a.error_msg
     from sent s
     cross join jsonb_to_record($1) a (status_code int, timed_out bool, error_msg text)`,
    [JSON.stringify(answer)],
  );
}

afterEach(() => database.query('update billing.scheduled_jobs set done_at = null'));

describe('sweep_overdue', () => {
  test('lists a sweep that last finished more than 10 minutes ago, until it runs', async () => {
    await noteDone('sweep', '9 minutes 50 seconds');
    expect(await readFindings(database)).toEqual([]);
    await noteDone('sweep', '10 minutes 1 second');
    expect(await readFindings(database)).toEqual([['sweep_overdue', 'sweep']]);
    await sweep();
    expect(await readFindings(database)).toEqual([]);
  });

  test('lists a schedule that never ran since its setup', async () => {
    await database.query(
      "update billing.scheduled_jobs set since = now() - interval '11 minutes' where name = 'sweep'",
    );
    expect(await readFindings(database)).toEqual([['sweep_overdue', 'sweep']]);
    await sweep();
    expect(await readFindings(database)).toEqual([]);
    await database.query("update billing.scheduled_jobs set since = 'infinity'");
  });

  test('does not depend on a clock that was moved forward', async () => {
    await sweep();
    await setClock(database, '2040-01-01T00:00:00Z');
    expect(await readFindings(database)).toEqual([]);
    await setClock(database, null);
  });
});

describe('reconciliation_overdue', () => {
  test('lists a last reconciliation more than 15 minutes ago if a payment is due or leased, until one finishes', async () => {
    const { id: userId } = await createUser(database);
    const { id } = await createPayment(database, { userId });
    const due = (at: string) =>
      database.query('update public.payments set next_reconcile_at = now() + $2::interval where id = $1', [id, at]);
    await noteDone('reconciliation', '16 minutes');
    await due('10 minutes');
    expect(await readFindings(database)).toEqual([]);
    for (const at of ['-1 minute', '4 minutes']) {
      await due(at);
      expect(await readFindings(database)).toEqual([['reconciliation_overdue', 'reconciliation']]);
    }
    await noteDone('reconciliation', '0 minutes');
    expect(await readFindings(database)).toEqual([]);
    await due('10 days');
  });
});

describe('job_failing', () => {
  test('lists a job of the sweep that fails for more than 10 minutes, until it succeeds; the other jobs run', async () => {
    const { definition } = await database.one(
      "select pg_get_functiondef('billing.announce_ends()'::regprocedure) as definition",
    );
    await database.query(
      'create or replace function billing.announce_ends() returns integer language plpgsql set search_path = pg_catalog, pg_temp as $$ begin raise division_by_zero; end $$',
    );
    await sweep();
    await sweep();
    expect(await readFindings(database)).toEqual([]);
    expect(await database.one('select name, error from billing.scheduled_jobs where error is not null')).toEqual({
      name: 'announce_ends',
      error: '22012: division_by_zero',
    });
    await database.query(
      "update billing.scheduled_jobs set since = now() - interval '11 minutes' where name = 'announce_ends'",
    );
    await sweep();
    expect(await rowOf('job_failing')).toMatchObject({
      subject: 'announce_ends',
      detail: { error: '22012: division_by_zero' },
    });
    await database.query(String(definition));
    await sweep();
    expect(await readFindings(database)).toEqual([]);
  });
});

describe('call_failed', () => {
  const path = '/api/internal/outbox';
  beforeEach(() => createCallStandIns(database));
  afterEach(async () => {
    await dropCallStandIns(database);
    await database.query('truncate billing.function_calls');
  });

  test('does not list an accepted call', async () => {
    await sweep();
    await answerCalls({ status_code: 202 });
    await sweep();
    expect(await readFindings(database)).toEqual([]);
    expect(
      await database.query(
        'select path, status_code, answered_at is null as is_open from billing.function_calls order by id',
      ),
    )
      .toEqual([{ path, status_code: 202, is_open: false }, { path, status_code: null, is_open: true }]);
  });

  test.each([
    [{ status_code: 401 }, { status_code: 401 }, 'subscriptions_internal_key'],
    [{ status_code: 404 }, { status_code: 404 }, 'subscriptions_url'],
    [{ status_code: 503 }, { status_code: 503 }, 'not set'],
    [{ status_code: 500 }, { status_code: 500 }, 'log'],
    [{ timed_out: true }, { error: 'no answer within 5 s' }, 'subscriptions_url'],
    [{ error_msg: "Couldn't resolve host name" }, { error: "Couldn't resolve host name" }, 'subscriptions_url'],
  ])(
    'lists a path whose newest answer is %j, with a remedy, until one is accepted',
    async (answer, detail, remedy) => {
      await sweep();
      await answerCalls(answer);
      await sweep();
      const found = await rowOf('call_failed');
      expect(found).toMatchObject({ subject: path, detail });
      expect(Object(found.detail).remedy).toContain(remedy);
      await answerCalls({ status_code: 202 });
      await sweep();
      expect(await readFindings(database)).toEqual([]);
    },
  );

  test('lists a call without an answer for five minutes', async () => {
    await sweep();
    expect(await readFindings(database)).toEqual([]);
    await database.query("update billing.function_calls set called_at = now() - interval '301 seconds'");
    expect(await rowOf('call_failed')).toMatchObject({ subject: path, detail: { error: 'not answered' } });
  });

  test('ignores an older answer with a request id that pg_net used again', async () => {
    await database.query(
      "insert into net._http_response (id, status_code, created) values (1, 401, now() - interval '1 hour')",
    );
    await sweep();
    await sweep();
    expect(await readFindings(database)).toEqual([]);
    expect(await database.query('select status_code from billing.function_calls')).toEqual([{ status_code: null }]);
  });

  test('does not record a call that is rolled back', async () => {
    const admin = await database.connect();
    await admin.query('begin; select billing.wake(); rollback');
    expect(await database.query('select from billing.function_calls')).toEqual([]);
  });

  test('keeps calls for a day', async () => {
    await sweep();
    await answerCalls({ status_code: 202 });
    await database.query("update billing.function_calls set called_at = now() - interval '25 hours'");
    await sweep();
    expect(await database.query('select age(now(), called_at) < $1 as is_new from billing.function_calls', ['1 hour']))
      .toEqual([{ is_new: true }]);
  });

  test('does not stop a sweep that cannot read the answers', async () => {
    await database.query('alter table net._http_response rename column id to other');
    await sweep();
    expect(await database.one("select done_at is null as is_open from billing.scheduled_jobs where name = 'sweep'"))
      .toEqual({ is_open: false });
  });
});

test('a sweep calls the dispatcher while an admin holds the lock on its row', async () => {
  await createCallStandIns(database);
  const admin = await database.connect();
  try {
    await admin.query("begin; select 1 from billing.scheduled_jobs where name = 'sweep' for update");
    await sweep();
    expect((await recordedCalls(database)).map(({ url }) => url)).toEqual([
      'http://functions.test/functions/v1/api/internal/outbox',
    ]);
  } finally {
    await admin.query('rollback');
    await dropCallStandIns(database);
  }
  expect(await database.one("select done_at from billing.scheduled_jobs where name = 'sweep'")).toEqual({
    done_at: null,
  });
});
