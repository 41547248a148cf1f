import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { webhookPing } from '../../scripts/doctor/checks/webhook-ping.ts';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { secrets } from '../helpers/gateway/sign.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { expectReport, hosted, testReports } from './doctor.ts';
import { type FakeServer, startFake } from './fake-server.ts';

// The real function behind a fake of the platform.
const project = useProject();
const target = 'in process over the pool';
const configured = useService(target, project);
const withAnotherHeader = useService(target, project, { GATEWAY_SIGNATURE_HEADER: 'x-other-signature' });
const rotating = useService(target, project, {
  GATEWAY_WEBHOOK_SECRET: 'the-next-secret',
  GATEWAY_WEBHOOK_SECRET_PREVIOUS: secrets.GATEWAY_WEBHOOK_SECRET,
});
const withoutSecret = useService(target, project, { GATEWAY_WEBHOOK_SECRET: '' });

let platform: FakeServer;
let service: typeof configured;
/** An answer of the platform instead of the function's. */
let ofPlatform: Response | null;
beforeAll(() => {
  platform = startFake(async ({ method, path, headers, text }) => {
    if (ofPlatform !== null) return ofPlatform.clone();
    const init = { method, headers, ...(method === 'POST' && { body: text }) };
    return await service.request(path.replace('/functions/v1', ''), init);
  });
});
afterAll(() => platform.stop());
beforeEach(() => {
  service = configured;
  ofPlatform = null;
});

const pinged = (environment: Record<string, string> = {}) =>
  hosted({ functionsUrl: `${platform.url}/functions/v1`, environment: { ...secrets, ...environment } });
const of = (served: typeof configured, environment: Record<string, string> = {}) => () => {
  service = served;
  return pinged(environment);
};
const answering = (status: number, body: unknown, headers: Record<string, string> = {}) => () => {
  ofPlatform = Response.json(body, { status, headers });
  return pinged();
};
const received = 'pass a signed doctor.ping is received';
const noHeader = 'Missing authorization header';
const checked = (message: string) => `fail the platform checks sessions before the function (401: ${message})`;
const off = 'turns verify_jwt off';
const deploy = 'Run `npx supabase functions deploy api --use-api`.';

test('passes where the function receives the webhook, and two runs leave one ledger row', async () => {
  for (let times = 0; times < 2; times += 1) await expectReport(webhookPing, pinged(), received);
  expect(await project.database.query('select event, outcome, deliveries from billing.gateway_events'))
    .toEqual([{ event: 'doctor.ping', outcome: 'ignored: not handled', deliveries: 2 }]);
});

testReports(webhookPing, [
  [answering(401, { code: 'UNAUTHORIZED_NO_AUTH_HEADER', message: noHeader }), checked(noHeader), off],
  [answering(401, { code: 401, message: 'Invalid JWT' }), checked('Invalid JWT'), off],
  [answering(404, { code: 'NOT_FOUND_FUNCTION_BLOB', message: 'a' }), /^fail no function answers at/, deploy],
  [
    () => {
      ofPlatform = new Response('<p>Log in</p>');
      return pinged();
    },
    /^fail another server than the function answers at .*, with 200/,
  ],
  [answering(503, { message: 'not started' }), 'fail the webhook path answers 503: not started', 'Read the log'],
  [answering(404, { error: 'Not found' }, { 'x-request-id': '1' }), 'fail the function has no webhook path'],
  [
    of(withAnotherHeader),
    'fail the function reads the signature from another header than x-gateway-signature',
    'GATEWAY_SIGNATURE_HEADER',
  ],
  [of(withAnotherHeader, { GATEWAY_SIGNATURE_HEADER: 'x-other-signature' }), received],
  [
    () => pinged({ GATEWAY_WEBHOOK_SECRET: 'another' }),
    'fail the function has another GATEWAY_WEBHOOK_SECRET than this environment',
    'Set the same secret',
  ],
  [of(rotating, { GATEWAY_WEBHOOK_SECRET: 'the-next-secret' }), received],
  [
    of(rotating),
    'warn GATEWAY_WEBHOOK_SECRET of this environment is the previous one of the function',
    'Set the current one here and at the gateway',
  ],
  [of(withoutSecret), 'fail the function has no GATEWAY_WEBHOOK_SECRET', 'supabase secrets set'],
]);

test('fails where the function does not reach its database', async () => {
  const { database } = project;
  const report = () => expectReport(webhookPing, pinged(), 'fail the function does not reach its database');
  await whileBroken(database, 'apply_gateway_event', () => whileBroken(database, 'get_health', report));
});
