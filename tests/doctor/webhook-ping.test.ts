import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { diagnose, hosted } from './doctor.ts';
import { type FakeServer, startFake } from './fake-server.ts';
import { webhookPing } from '../../scripts/doctor/checks/webhook-ping.ts';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { secrets } from '../helpers/gateway/sign.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';

// The real function behind a fake of the platform.
const project = useProject();
const target = 'in process over the pool';
const configured = useService(target, project);
const withAnotherHeader = useService(target, project, { GATEWAY_SIGNATURE_HEADER: 'x-other-signature' });
const withoutSecret = useService(target, project, { GATEWAY_WEBHOOK_SECRET: '' });

let platform: FakeServer;
let service: typeof configured;
/** An answer of the platform instead of the function's. */
let ofPlatform: Response | null;
beforeAll(() => {
  platform = startFake(async ({ method, path, headers, text }) => {
    if (ofPlatform !== null) return ofPlatform.clone();
    return await service.request(path.replace('/functions/v1', ''), {
      method,
      headers,
      ...(method === 'POST' && { body: text }),
    });
  });
});
afterAll(() => platform.stop());
beforeEach(() => {
  service = configured;
  ofPlatform = null;
});

const ping = (environment: Record<string, string> = {}) =>
  diagnose(
    webhookPing,
    hosted({ functionsUrl: `${platform.url}/functions/v1`, environment: { ...secrets, ...environment } }),
  );

describe('webhook-ping', () => {
  test('passes where the function receives the webhook, and two runs leave one ledger row', async () => {
    for (let times = 0; times < 2; times += 1) {
      expect(await ping()).toEqual({ status: 'pass', message: 'a signed doctor.ping is received' });
    }
    expect(await project.database.query('select event, outcome, deliveries from billing.gateway_events'))
      .toEqual([{ event: 'doctor.ping', outcome: 'ignored: not handled', deliveries: 2 }]);
  });

  test.each([
    [401, { code: 401, message: 'Missing authorization header' }],
    [401, { code: 'UNAUTHORIZED_NO_AUTH_HEADER', message: 'Missing authorization header' }],
    [401, { code: 401, message: 'Invalid JWT' }],
  ])('fails where the platform checks sessions: %i %j', async (status, body) => {
    ofPlatform = Response.json(body, { status });
    expect(await ping()).toEqual({
      status: 'fail',
      message: `the platform checks sessions before the function (401: ${body.message})`,
      remedy: expect.stringContaining('turns verify_jwt off'),
    });
  });

  test.each(['NOT_FOUND', 'NOT_FOUND_FUNCTION_BLOB'])('fails where the function is missing: %s', async (code) => {
    ofPlatform = Response.json({ code, message: 'Requested function was not found' }, { status: 404 });
    expect(await ping()).toEqual({
      status: 'fail',
      message: expect.stringContaining('no function answers at'),
      remedy: 'Run `npx supabase functions deploy api --use-api`.',
    });
  });

  test('fails where the function does not start', async () => {
    ofPlatform = Response.json({ code: 'BOOT_ERROR', message: 'Function failed to start (please check logs)' }, {
      status: 503,
    });
    expect(await ping()).toEqual({
      status: 'fail',
      message: 'the webhook path answers 503: Function failed to start (please check logs)',
      remedy: 'Read the log of the function.',
    });
  });

  test('fails where the function has no such path', async () => {
    ofPlatform = Response.json({ error: 'Not found' }, { status: 404, headers: { 'x-request-id': '1' } });
    expect(await ping()).toMatchObject({ status: 'fail', message: 'the function has no webhook path' });
  });

  test('fails where the function reads another header', async () => {
    service = withAnotherHeader;
    expect(await ping()).toEqual({
      status: 'fail',
      message: 'the function reads the signature from another header than x-gateway-signature',
      remedy: expect.stringContaining('GATEWAY_SIGNATURE_HEADER'),
    });
    expect(await ping({ GATEWAY_SIGNATURE_HEADER: 'x-other-signature' })).toMatchObject({ status: 'pass' });
  });

  test('fails where the function has another secret', async () => {
    expect(await ping({ GATEWAY_WEBHOOK_SECRET: 'another' })).toEqual({
      status: 'fail',
      message: 'the function has another GATEWAY_WEBHOOK_SECRET than this environment',
      remedy: expect.stringContaining('Set the same secret'),
    });
  });

  test('fails where the function has no secret', async () => {
    service = withoutSecret;
    expect(await ping()).toEqual({
      status: 'fail',
      message: 'the function has no GATEWAY_WEBHOOK_SECRET',
      remedy: expect.stringContaining('supabase secrets set'),
    });
  });

  test('fails where the function does not reach its database', async () => {
    const { database } = project;
    await whileBroken(database, 'apply_gateway_event', () =>
      whileBroken(database, 'get_health', async () => {
        expect(await ping())
          .toMatchObject({ status: 'fail', message: 'the function does not reach its database' });
      }));
  });

  test('is skipped without GATEWAY_WEBHOOK_SECRET', async () => {
    expect(await ping({ GATEWAY_WEBHOOK_SECRET: '' }))
      .toEqual({ status: 'skip', message: 'GATEWAY_WEBHOOK_SECRET not given' });
  });
});
