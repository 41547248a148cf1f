import { afterAll, describe, expect, test } from 'vitest';
import { localKeys } from '../../scripts/stack/defaults.ts';
import { answer, fullAnswer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { accept, startReceiver } from '../helpers/outbox/receiver.ts';
import { emptyOutbox, enqueueMail, enqueueRevalidation, readSideEffect } from '../helpers/outbox/side-effects.ts';
import { receiverEnvironment } from '../helpers/outbox/test-dispatcher.ts';
import { restSample, type RunningService } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';

const path = '/api/internal/outbox';
/** Long enough for a slow machine. */
const patience = { timeout: 30_000 };
const receiver = startReceiver();
afterAll(() => receiver.stop());
const environment = receiverEnvironment(receiver.url);
const internalKey = environment.INTERNAL_KEY ?? '';
const withInternalKey = { 'x-internal-key': internalKey };
const withSecretKey = { apikey: localKeys.secret };

function dispatch(service: RunningService, headers: HeadersInit): Promise<Response> {
  return service.request(path, { method: 'POST', headers });
}

// Each target has its own project, because a dispatcher looks again for due rows a second later.
describe.each(restSample)('%s', (target) => {
  // A mail that cannot be rendered.
  const project = useProject({ findings: { outbox_stuck: 1 } });
  const service = useService(target, project, environment);
  const withoutKey = useService(target, project, { ...environment, INTERNAL_KEY: '' });

  describe('refusals', () => {
    const refused: [name: string, headers: Record<string, string>][] = [
      ['no key', {}],
      ['empty keys', { 'x-internal-key': '', apikey: '' }],
      ['another key', { 'x-internal-key': 'another-key', apikey: 'sb_secret_another' }],
      ['the beginning of the internal key', { 'x-internal-key': internalKey.slice(0, -1) }],
      ['more than the internal key', { 'x-internal-key': `${internalKey}x` }],
      ['the internal key in upper case', { 'x-internal-key': internalKey.toUpperCase() }],
      ['the internal key as apikey', { apikey: internalKey }],
      ['the internal key as bearer', { authorization: `Bearer ${internalKey}` }],
      ['the secret key as internal key', { 'x-internal-key': localKeys.secret }],
      ['the secret key as bearer', { authorization: `Bearer ${localKeys.secret}` }],
      ['the publishable key', { apikey: localKeys.publishable }],
      ['the word null', { 'x-internal-key': 'null', apikey: 'null' }],
    ];

    test.each(refused)('POST /api/internal/outbox with %s → 401, nothing claimed', async (_name, headers) => {
      const key = await enqueueMail(project.database);
      for (const each of [service, withoutKey]) {
        expect(await answer(dispatch(each, headers))).toEqual(refusal(401, 'Unauthorized'));
      }
      expect(await readSideEffect(project.database, key)).toMatchObject({ claims: 0, state: 'pending' });
    });

    test('POST /api/internal/outbox with the session of a user → 401, nothing claimed', async () => {
      const key = await enqueueMail(project.database);
      const { accessToken } = await createCaller(project.database);
      const session = { authorization: `Bearer ${accessToken}` };
      const added: Record<string, string>[] = [{}, { apikey: localKeys.publishable }, {
        'x-internal-key': accessToken,
      }];
      for (const headers of added) {
        expect(await answer(dispatch(service, { ...session, ...headers }))).toEqual(refusal(401, 'Unauthorized'));
      }
      expect(await readSideEffect(project.database, key)).toMatchObject({ claims: 0, state: 'pending' });
    });

    test('POST /api/internal/outbox with an internal key where none is set → 401', async () => {
      expect(await answer(dispatch(withoutKey, withInternalKey))).toEqual(refusal(401, 'Unauthorized'));
    });

    test.each(['GET', 'PUT', 'PATCH', 'DELETE'])('%s /api/internal/outbox → 405, even with the key', async (method) => {
      const { status, headers, body } = await fullAnswer(service.request(path, { method, headers: withInternalKey }));
      expect({ status, body }).toEqual(refusal(405, 'Method not allowed'));
      expect(headers.get('allow')).toBe('POST');
    });
  });

  test('POST /api/internal/outbox with INTERNAL_KEY → 200 with the counts only', async () => {
    await emptyOutbox(project.database);
    await enqueueMail(project.database);
    await enqueueRevalidation(project.database);
    await enqueueRevalidation(project.database);
    const rejected = await enqueueMail(project.database, { valid_until: 'some day' });
    const { status, headers, body } = await fullAnswer(dispatch(service, withInternalKey));
    expect({ status, body }).toEqual({
      status: 200,
      body: { delivered: 3, retried: 0, parked: 1, next_attempt_at: null },
    });
    expect(headers.get('cache-control')).toBe('private, no-store');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(await readSideEffect(project.database, rejected)).toMatchObject({ state: 'parked' });
  });

  test('POST /api/internal/outbox with a row that waits for its next attempt → 200 with next_attempt_at', async () => {
    const key = await enqueueMail(project.database);
    const at = '2999-01-01T00:00:00.000Z';
    await project.database.query('update billing.outbox set next_attempt_at = $2 where key = $1', [key, at]);
    expect(await answer(dispatch(service, withInternalKey))).toEqual({
      status: 200,
      body: { delivered: 0, retried: 0, parked: 0, next_attempt_at: at },
    });
  });

  test.each(['respond-async', 'wait=10, Respond-Async; x=1'])(
    'POST /api/internal/outbox with prefer: %s → 202 before the receiver answers; delivered afterwards',
    async (prefer) => {
      const key = await enqueueMail(project.database);
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      receiver.answer = async (arrival) => (await released, await accept(arrival));
      const { status, headers, body } = await fullAnswer(dispatch(service, { ...withInternalKey, prefer }));
      expect({ status, body }).toEqual({ status: 202, body: { accepted: true } });
      expect(headers.get('preference-applied')).toBe('respond-async');
      expect(await readSideEffect(project.database, key)).toMatchObject({ state: 'pending' });
      release();
      await expect.poll(() => readSideEffect(project.database, key), patience).toMatchObject({ state: 'delivered' });
      receiver.answer = accept;
    },
  );

  test('POST /api/internal/outbox with prefer: respond-async and no key → 401', async () => {
    expect(await answer(dispatch(service, { prefer: 'respond-async' }))).toEqual(refusal(401, 'Unauthorized'));
  });

  test('POST /api/internal/outbox with the secret key → 200, whether INTERNAL_KEY is set or not', async () => {
    for (const each of [service, withoutKey]) expect((await dispatch(each, withSecretKey)).status).toBe(200);
    expect((await dispatch(service, { ...withSecretKey, 'x-internal-key': 'another-key' })).status).toBe(200);
    expect((await dispatch(service, { ...withInternalKey, apikey: localKeys.publishable })).status).toBe(200);
  });

  test('POST /api/internal/outbox → 200, records older than the settings are purged, younger ones are not', async () => {
    const { database } = project;
    await database.query(`
      insert into billing.gateway_events (body_sha256, event, outcome, received_at)
      select sha256(days::text::bytea), 'payment.captured', 'applied', now() - make_interval(days => days)
      from unnest(array[399, 401]) days;
      insert into billing.tier_changes (user_id, to_tier, cause, at)
      select gen_random_uuid(), 'pro', 'payment ' || days, now() - make_interval(days => days)
      from unnest(array[1099, 1101]) days;
      insert into billing.outbox (key, destination, kind, payload, created_at, delivered_at)
      select 'purged after ' || days, 'revalidation', 'revalidation', '{}', at, at
      from unnest(array[29, 31]) days
      cross join lateral (select now() - make_interval(days => days)) t (at)`);
    expect((await dispatch(service, withInternalKey)).status).toBe(200);
    const left = async (sql: string) => (await database.query(sql)).map(({ left }) => left);
    expect(await left("select body_sha256 = sha256('399') as left from billing.gateway_events")).toEqual([true]);
    expect(await left("select cause as left from billing.tier_changes where cause like 'payment %'"))
      .toEqual(['payment 1099']);
    expect(await left("select key as left from billing.outbox where key like 'purged after %'"))
      .toEqual(['purged after 29']);
    await database.query('truncate billing.gateway_events cascade');
  });

  test('OPTIONS /api/internal/outbox from a browser → 204', async () => {
    const headers = { 'origin': 'https://app.example', 'access-control-request-method': 'POST' };
    expect((await service.request(path, { method: 'OPTIONS', headers })).status).toBe(204);
  });

  test('no key, address or payload is in the log', async () => {
    await enqueueMail(project.database);
    expect((await dispatch(service, withInternalKey)).status).toBe(200);
    const written = [...service.output, ...withoutKey.output].join('\n');
    for (const secret of [internalKey, localKeys.secret, '@', 're_test', 'revalidate-me', 'Asha Rao', 'pay_']) {
      expect(written).not.toContain(secret);
    }
  });
});
