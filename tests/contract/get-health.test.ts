import { afterEach, expect, test } from 'vitest';
import { migrationVersions } from '../../scripts/stack/postgres/migration-versions.ts';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { setClock } from '../helpers/database/clock.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { call, fullAnswer, refusal, send } from '../helpers/http/requests.ts';
import { restThenPool, useProject, useService } from '../helpers/project/use-project.ts';
import { enqueueMail } from '../helpers/outbox/side-effects.ts';
import { receiverEnvironment } from '../helpers/outbox/test-dispatcher.ts';
import { createUser } from '../helpers/records/records.ts';

const project = useProject();
const { database, unchanged } = project;
// No request of this file dispatches, so nothing is delivered.
const environment = receiverEnvironment('http://127.0.0.1:9');
const service = useService(restThenPool, project, environment);
const withoutMail = useService('in process over the pool', project, { ...environment, RESEND_API_KEY: '' });
const endpoint = 'GET /api/health';
const health = () => call(service, endpoint);
const oldest = async (of = service) => (await call(of, endpoint)).body.oldest_undelivered_at;
afterEach(async () => {
  await setClock(database, null);
  await database.query('delete from billing.outbox');
});

test('GET /api/health without any records → 200 with nulls, the newest migration in x-schema-version; when the database refuses → 503', async () => {
  const { headers, ...received } = await unchanged(async () => await fullAnswer(send(service, endpoint)));
  const none = { oldest_undelivered_at: null, last_webhook_at: null, last_sweep_at: null, statement: null };
  expect(received).toEqual({ status: 200, body: { status: 'ok', ...none } });
  expect(headers.get('cache-control')).toBe('private, no-store');
  expect(headers.get('x-schema-version')).toBe((await migrationVersions()).at(-1));
  await whileBroken(database, 'get_health', async () => {
    expect(await health()).toEqual(refusal(503, 'Service unavailable'));
  });
});

test('GET /api/health → 200 with the oldest undelivered side effect, the newest webhook and the newest sweep', async () => {
  for (const at of ['2027-01-02T03:04:05.678Z', '2027-01-02T03:04:06Z']) {
    await setClock(database, at);
    await createUser(database); // a new profile's tier is a side effect: pages are revalidated
    expect((await postWebhook(service, { event: `at.${at}` })).status).toBe(200);
  }
  // What reconciliation read is no webhook, and the doctor's is none of the gateway.
  await database.query(
    `insert into billing.gateway_events (body_sha256, event, outcome, deliveries, received_at)
     values (sha256('read'), 'payment.captured', 'applied', 0, '2027-01-02T03:04:07Z'),
       (sha256('ping'), 'doctor.ping', 'ignored: not handled', 1, '2027-01-02T03:04:08Z')`,
  );
  const setSweep = (at: string | null) =>
    database.query("update billing.scheduled_jobs set done_at = $1 where name = 'sweep'", [at]);
  await setSweep('2027-01-02T03:04:00Z');
  expect(await health()).toEqual({
    status: 200,
    body: {
      status: 'ok',
      oldest_undelivered_at: '2027-01-02T03:04:05.678Z',
      last_webhook_at: '2027-01-02T03:04:06.000Z',
      last_sweep_at: '2027-01-02T03:04:00.000Z',
      statement: null,
    },
  });
  await database.query(
    `update billing.outbox set delivered_at = case when created_at < '2027-01-02T03:04:06Z' then now() end,
       parked_at = case when created_at = '2027-01-02T03:04:06Z' then now() end`,
  );
  expect(await oldest()).toBeNull();
  await setSweep(null);
});

test('GET /api/health → oldest_undelivered_at is the due time of a delayed side effect, and the requeue time of a requeued one', async () => {
  await setClock(database, '2027-01-02T03:00:00Z');
  await enqueueMail(database);
  await database.query(
    "update billing.outbox set queued_at = '2028-01-01T00:00:00Z', next_attempt_at = '2028-01-01T00:00:00Z'",
  );
  expect(await oldest()).toBeNull();
  await setClock(database, '2028-01-03T00:00:00Z');
  expect(await oldest()).toBe('2028-01-01T00:00:00.000Z');
  await database.query('select billing.requeue(id) from billing.outbox');
  expect(await oldest()).toBe('2028-01-03T00:00:00.000Z');
});

test('GET /api/health without RESEND_API_KEY → a queued mail does not count', async () => {
  await enqueueMail(database);
  expect(await oldest(withoutMail)).toBeNull();
  expect(await oldest()).toEqual(expect.any(String));
});
