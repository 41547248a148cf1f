import { describe, expect, test } from 'vitest';
import { migrationVersions } from '../../scripts/schema-version.ts';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { setClock } from '../helpers/database/clock.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { answer, fullAnswer, refusal } from '../helpers/http/answer.ts';
import { enqueueMail } from '../helpers/outbox/side-effects.ts';
import { receiverEnvironment } from '../helpers/outbox/test-dispatcher.ts';
import { restSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { readAllRows } from '../helpers/records/read-records.ts';
import { createUser } from '../helpers/records/records.ts';

const project = useProject();
// No request of this file dispatches, so nothing is delivered.
const environment = receiverEnvironment('http://127.0.0.1:9');

describe.each(restSample)('%s', (target) => {
  const service = useService(target, project, environment);
  const withoutMail = useService(target, project, { ...environment, RESEND_API_KEY: '' });

  test('GET /api/health without any records → 200 with nulls', async () => {
    await project.database.query('delete from billing.outbox');
    await project.database.query('delete from billing.gateway_events');
    const before = await readAllRows(project.database);
    const { status, headers, body } = await fullAnswer(service.request('/api/health'));
    expect({ status, body })
      .toEqual({
        status: 200,
        body: { status: 'ok', oldest_undelivered_at: null, last_webhook_at: null, last_sweep_at: null },
      });
    expect(headers.get('cache-control')).toBe('private, no-store');
    expect(await readAllRows(project.database)).toEqual(before);
  });

  test('GET /api/health → 200 with the oldest undelivered side effect, the newest webhook and the newest sweep', async () => {
    await project.database.query('delete from billing.outbox');
    for (const at of ['2027-01-02T03:04:05.678Z', '2027-01-02T03:04:06Z']) {
      await setClock(project.database, at);
      await createUser(project.database); // a new profile's tier is a side effect: pages are revalidated
      expect((await postWebhook(service, { event: `at.${at}`, target })).status).toBe(200);
    }
    // What reconciliation read is no webhook.
    await project.database.query(
      `insert into billing.gateway_events (body_sha256, event, outcome, deliveries, received_at)
       values (sha256(gen_random_uuid()::text::bytea), 'payment.captured', 'applied', 0, '2027-01-02T03:04:07Z')`,
    );
    await project.database.query(
      "update billing.scheduled_jobs set done_at = '2027-01-02T03:04:00Z' where name = 'sweep'",
    );
    expect(await answer(service.request('/api/health'))).toEqual({
      status: 200,
      body: {
        status: 'ok',
        oldest_undelivered_at: '2027-01-02T03:04:05.678Z',
        last_webhook_at: '2027-01-02T03:04:06.000Z',
        last_sweep_at: '2027-01-02T03:04:00.000Z',
      },
    });

    await project.database.query(
      "update billing.outbox set delivered_at = now() where created_at < '2027-01-02T03:04:06Z'",
    );
    await project.database.query(
      "update billing.outbox set parked_at = now() where created_at = '2027-01-02T03:04:06Z'",
    );
    expect(await answer(service.request('/api/health'))).toMatchObject({ body: { oldest_undelivered_at: null } });
    await setClock(project.database, null);
    await project.database.query("update billing.scheduled_jobs set done_at = null where name = 'sweep'");
  });

  test('GET /api/health → oldest_undelivered_at is the due time of a delayed side effect, and the requeue time of a requeued one', async () => {
    await project.database.query('delete from billing.outbox');
    await setClock(project.database, '2027-01-02T03:00:00Z');
    await enqueueMail(project.database);
    await project.database.query(
      "update billing.outbox set queued_at = '2028-01-01T00:00:00Z', next_attempt_at = '2028-01-01T00:00:00Z'",
    );
    const oldest = async () =>
      Reflect.get(Object((await answer(service.request('/api/health'))).body), 'oldest_undelivered_at');
    expect(await oldest()).toBeNull();
    await setClock(project.database, '2028-01-03T00:00:00Z');
    expect(await oldest()).toBe('2028-01-01T00:00:00.000Z');
    await project.database.query('select billing.requeue(id) from billing.outbox');
    expect(await oldest()).toBe('2028-01-03T00:00:00.000Z');
    await setClock(project.database, null);
    await project.database.query('delete from billing.outbox');
  });

  test('GET /api/health without RESEND_API_KEY → a queued mail does not count', async () => {
    await project.database.query('delete from billing.outbox');
    await enqueueMail(project.database);
    expect(await answer(withoutMail.request('/api/health'))).toMatchObject({ body: { oldest_undelivered_at: null } });
    const { body } = await answer(service.request('/api/health'));
    expect(body).toMatchObject({ oldest_undelivered_at: expect.any(String) });
    await project.database.query('delete from billing.outbox');
  });

  test('GET /api/health → x-schema-version is the newest migration', async () => {
    const { headers } = await fullAnswer(service.request('/api/health'));
    expect(headers.get('x-schema-version')).toBe((await migrationVersions()).at(-1));
  });

  test('GET /api/health when the database refuses → 503', async () => {
    await whileBroken(project.database, 'get_health', async () => {
      expect(await answer(service.request('/api/health'))).toEqual(refusal(503, 'Service unavailable'));
    });
    expect((await answer(service.request('/api/health'))).status).toBe(200);
  });
});

describe.each(restSample)('%s without gateway and webhook secrets', (target) => {
  const service = useService(target, project, {
    GATEWAY_KEY_ID: '',
    GATEWAY_KEY_SECRET: '',
    GATEWAY_WEBHOOK_SECRET: '',
  });

  test('GET /api/health → 200', async () => {
    expect((await answer(service.request('/api/health'))).status).toBe(200);
  });
});
