import { afterAll, beforeEach } from 'vitest';
import { advisors } from '../../scripts/doctor/checks/advisors.ts';
import { appUrl } from '../../scripts/doctor/checks/app-url.ts';
import { authorisedPayments } from '../../scripts/doctor/checks/authorised-payments.ts';
import { functionDeployed } from '../../scripts/doctor/checks/function-deployed.ts';
import { gatewayHeaders } from '../../scripts/doctor/checks/gateway-headers.ts';
import { timeZone } from '../../scripts/doctor/checks/time-zone.ts';
import { gatewayKey } from '../../scripts/doctor/checks/gateway-key.ts';
import { localStack } from '../../scripts/doctor/checks/local-stack.ts';
import { revalidation } from '../../scripts/doctor/checks/revalidation.ts';
import { secrets } from '../../scripts/doctor/checks/secrets.ts';
import { senderDomain } from '../../scripts/doctor/checks/sender-domain.ts';
import { sessionKeys } from '../../scripts/doctor/checks/session-keys.ts';
import { webhookEndpoint } from '../../scripts/doctor/checks/webhook-endpoint.ts';
import { handledEvents } from '../../scripts/doctor/handled-events.ts';
import type { Project } from '../../scripts/doctor/project.ts';
import { hosted, local, publicly, testReports } from './doctor.ts';
import { emptyAccount, type GatewayAccount, startGateway, type StoredEndpoint } from './fake-gateway.ts';
import { emptyProject, lint, listedFunction, type ManagedProject, startManagementApi } from './fake-management-api.ts';
import { type ResendAccount, startResend } from './fake-resend.ts';
import { deadAddress, type Handler, startFake } from './fake-server.ts';

let answer: Handler;
const account: GatewayAccount = emptyAccount();
const resendAccount: ResendAccount = { key: 're_key', permission: 'full_access', domains: [] };
const managed: ManagedProject = emptyProject();
const server = startFake((call) => answer(call));
const gateway = startGateway(account);
const resend = startResend(resendAccount);
const api = startManagementApi(() => managed);
afterAll(() => Promise.all([server, gateway, resend, api].map((fake) => fake.stop())));

const all = {
  GATEWAY_KEY_ID: 'rzp_live_AbCdEfGhIjKlMn',
  GATEWAY_KEY_SECRET: 'the-key-secret',
  GATEWAY_API_URL: 'https://gateway.example',
  GATEWAY_WEBHOOK_SECRET: 'the-webhook-secret',
  INTERNAL_KEY: 'the-internal-key',
  APP_URL: 'https://app.example',
  RESEND_API_KEY: 're_the-key',
  EMAIL_FROM: 'Acme <billing@acme.example>',
  REVALIDATE_SECRET: 'the-revalidate-secret',
};
const without = (name: keyof typeof all) => Object.fromEntries(Object.entries(all).filter(([key]) => key !== name));

beforeEach(() => {
  answer = () => Response.json({ ok: true });
  Object.assign(account, emptyAccount());
  Object.assign(resendAccount, {
    permission: 'full_access',
    domains: [{ name: 'other.example', status: 'verified' }, { name: 'acme.example', status: 'verified' }],
  });
  Object.assign(managed, emptyProject(), {
    functions: [listedFunction({ slug: 'hello', verify_jwt: true }), listedFunction()],
    secrets: { SUPABASE_URL: 'https://x.supabase.co', ...all },
    security: [lint('security_definer_view', 'INFO')],
  });
});

/** A project after the server answers like this. */
const answering = (handler: Handler, project: () => Project) => () => {
  answer = handler;
  return project();
};
const json = (body: unknown, status = 200): Handler => () => Response.json(body, { status });
/** Answers one path, and no other one. */
const only = (known: string, body: unknown): Handler => ({ path }) => path === known ? Response.json(body) : null;

const keys = () => hosted({ url: server.url });
const es256 = { kty: 'EC', alg: 'ES256', crv: 'P-256', use: 'sig', kid: 'b8c3f4a5', x: 'x', y: 'y' };
const publicKeys = only('/auth/v1/.well-known/jwks.json', { keys: [es256] });

const mails = (from = all.EMAIL_FROM, key = 're_key') => ({
  environment: { RESEND_API_KEY: key, EMAIL_FROM: from, RESEND_BASE_URL: resend.url },
});
const domain = (status: string, permission: ResendAccount['permission'] = 'full_access') => () => {
  Object.assign(resendAccount, { permission, domains: [{ name: 'acme.example', status }] });
  return hosted(mails());
};

const app = (APP_URL: string) => () => hosted({ environment: { APP_URL } });

const pages = { APP_URL: `${server.url}/`, REVALIDATE_SECRET: 'revalidate-secret' };
const cached = (changes = {}) => () => hosted({ environment: { ...pages, ...changes } });
const away = { ...pages, REVALIDATE_URL: `${deadAddress()}/api/revalidate` };
const route: Handler = ({ method, path, headers }) => {
  if (method !== 'POST' || path !== '/api/revalidate') return null;
  const isKnown = headers.get('x-revalidate-secret') === 'revalidate-secret';
  return Response.json({ revalidated: isKnown }, { status: isKnown ? 200 : 401 });
};
const failingRoute: Handler = ({ headers }) =>
  Response.json({}, { status: headers.has('x-revalidate-secret') ? 500 : 401 });
const withoutPricing: Handler = ({ path }) => new Response(null, { status: path === '/pricing' ? 404 : 200 });
const redirect: Handler = () => new Response(null, { status: 307, headers: { location: '/login' } });

const health = only('/functions/v1/api/health', { status: 'ok' });
const page: Handler = () => new Response('<p>Log in</p>', { headers: { 'content-type': 'text/html' } });
const stack = (url: string) => () => local({ url, functionsUrl: `${url}/functions/v1` });
const dead = deadAddress();

const managing = (environment: Record<string, string> = {}, accessToken: string | null = 'sbp_token') =>
  hosted({ managementUrl: api.url, accessToken, environment });
/** A project after a change of what the platform shows. */
const managedAs = (changes: Partial<ManagedProject>, environment = {}) => () => {
  Object.assign(managed, changes);
  return managing(environment);
};
const deployed = (fields: Record<string, unknown>) => managedAs({ functions: [listedFunction(fields)] });
const deploy = 'supabase functions deploy api --use-api';
const noRight = /^warn the access token has no right to read/;
const moreRights = 'Use a token with more rights';
const anError = lint('rls_disabled_in_public', 'ERROR');
const aWarning = lint('unindexed_foreign_keys', 'WARN');

const payer = (changes: Record<string, string> = {}) => ({
  environment: {
    GATEWAY_API_URL: `${gateway.url}/`,
    GATEWAY_KEY_ID: account.keyId,
    GATEWAY_KEY_SECRET: account.keySecret,
    GATEWAY_WEBHOOK_SECRET: 'the-webhook-secret',
    ...changes,
  },
});
const withAccount = (changes: Partial<GatewayAccount>) => () => {
  Object.assign(account, changes);
  return hosted(payer());
};
const refused = () => hosted(payer({ GATEWAY_KEY_SECRET: 'another' }));
const webhookUrl = 'http://127.0.0.1:1/functions/v1/api/webhooks/gateway';
const on = Object.fromEntries(handledEvents.map((event) => [event, true]));
const endpoint = { id: 'ours', url: webhookUrl, active: true, disabled_at: 0, events: on };
const others = Array.from(
  Array(10).keys(),
  (id) => ({ ...endpoint, id: `other${id}`, url: `https://a.example/${id}` }),
);
const registered = (fields: Partial<StoredEndpoint>) => withAccount({ endpoints: [{ ...endpoint, ...fields }] });
const switchedOff = 'fail the webhook endpoint is switched off';
const payment = (status: string, hours: number) => {
  const created_at = Math.floor(Date.now() / 1000) - hours * 3600;
  return { id: `pay_${hours}`, status, order_id: null, created_at };
};
const paid = (...payments: GatewayAccount['payments']) => withAccount({ payments });

testReports(sessionKeys, [
  [answering(publicKeys, keys), 'pass public keys: ES256'],
  [
    answering(json({ keys: [{ kty: 'oct', alg: 'HS256' }] }), keys),
    'warn sessions are signed with a shared secret: each request calls the auth server',
    'signing keys',
  ],
  [answering(json({}, 540), keys), 'fail the auth server answers 540 for its public keys'],
  [() => local(), /^skip /],
]);

testReports(senderDomain, [
  [() => hosted(mails()), 'pass acme.example is verified'],
  [domain('pending'), 'fail acme.example is pending at Resend, not verified', 'DNS records'],
  [() => hosted(mails('billing@mail.acme.example')), 'fail Resend has no domain mail.acme.example, of EMAIL_FROM'],
  [domain('verified', 'sending_access'), /^skip .*may only send/, 'dashboard'],
  [() => hosted(mails(undefined, 're_another')), 'fail Resend refuses RESEND_API_KEY (403)'],
  [() => hosted(mails('onboarding@resend.dev')), /^warn /],
  [() => local(mails()), 'skip the local mailbox accepts every sender'],
]);

testReports(appUrl, [
  [app('http://localhost:3000'), "fail APP_URL is http://localhost:3000: mails link to the customer's own machine"],
  [app(publicly(dead)), /^fail no app answers at/],
  [app(publicly(server.url)), `warn APP_URL is not encrypted: ${publicly(server.url)}`],
  [answering(redirect, () => local({ environment: { APP_URL: server.url } })), `pass ${server.url} answers 307`],
  [() => local({ environment: { APP_URL: dead } }), /^skip no app runs at/],
  [
    answering(withoutPricing, () => local({ environment: { APP_URL: server.url } })),
    `warn mails link to ${server.url}/pricing, which answers 404`,
  ],
  [
    answering(withoutPricing, () => local({ environment: { APP_URL: server.url, PRICING_PATH: '/plans' } })),
    `pass ${server.url} answers 200`,
  ],
]);

testReports(revalidation, [
  [answering(route, cached()), `pass ${server.url}/api/revalidate: 401 without the secret, 200 with it`],
  [cached(), /^fail .*for any caller: 200 without the secret/],
  [answering(redirect, cached()), /^fail .*answers 307 without the secret, not 401/],
  [
    answering(route, cached({ REVALIDATE_SECRET: 'another' })),
    'fail the app has another REVALIDATE_SECRET than this environment',
  ],
  [answering(failingRoute, cached()), /^fail .*answers 500 with the secret/],
  [() => local({ environment: away }), /^warn /],
  [cached({ REVALIDATE_URL: '' }), 'skip REVALIDATE_URL is empty: there are no cached pages'],
]);

testReports(localStack, [
  [answering(health, stack(server.url)), /^pass /],
  [
    answering(page, stack(server.url)),
    `fail another server than the function answers at ${server.url}/functions/v1/api, with 200`,
  ],
  [stack(dead), `fail no local stack runs at ${dead}`, 'npm start'],
]);

testReports(functionDeployed, [
  [() => managing(), 'pass api, version 7, verify_jwt off'],
  [deployed({ slug: 'hello' }), 'fail the function api is not deployed', deploy],
  [deployed({ verify_jwt: true }), /^fail .*verify_jwt is on/, deploy],
  [() => managing({}, 'sbp_another'), 'fail SUPABASE_ACCESS_TOKEN is refused', 'new token'],
  [() => ({ ...managing(), ref: 'another' }), 'fail the Management API has no project another'],
  [managedAs({ answer: Response.json({}, { status: 500 }) }), 'warn the Management API answers /functions with 500'],
  [managedAs({ answer: Response.json({ functions: [] }) }), /^warn .*in another form than documented/],
  [managedAs({ rights: 'none' }), noRight, moreRights],
  [() => local(), 'skip only for a hosted project'],
]);

const razorpay = { GATEWAY_API_URL: 'https://api.razorpay.com/' };
const itsSignature = { GATEWAY_SIGNATURE_HEADER: 'X-Razorpay-Signature' };
testReports(gatewayHeaders, [
  [() => hosted(), 'skip GATEWAY_API_URL not given'],
  [() => hosted({ environment: all }), 'pass x-gateway-signature, x-gateway-event-id'],
  [
    () => hosted({ environment: razorpay }),
    'fail Razorpay does not send x-gateway-signature, x-gateway-event-id: the function refuses its webhooks',
    'GATEWAY=razorpay',
  ],
  [
    () => local({ environment: { ...razorpay, ...itsSignature } }),
    'fail Razorpay does not send x-gateway-event-id: the function refuses its webhooks',
  ],
  [
    () => hosted({ environment: { ...razorpay, ...itsSignature, GATEWAY_EVENT_ID_HEADER: 'x-razorpay-event-id' } }),
    'pass X-Razorpay-Signature, x-razorpay-event-id',
  ],
]);

testReports(timeZone, [
  [() => hosted(), 'skip GATEWAY_API_URL not given'],
  [() => hosted({ environment: all }), 'pass mails name the days of UTC'],
  [
    () => hosted({ environment: razorpay }),
    'warn EMAIL_TIME_ZONE is not set: mails name the day before, since cycles end at midnight in India, 18:30 in UTC',
    'EMAIL_TIME_ZONE=Asia/Kolkata',
  ],
  [
    () => hosted({ environment: { ...razorpay, EMAIL_TIME_ZONE: 'Asia/Kolkata' } }),
    'pass mails name the days of Asia/Kolkata',
  ],
]);

testReports(secrets, [
  [managedAs({ secrets: { ...without('GATEWAY_API_URL'), GATEWAY: 'razorpay' } }), /^pass /],
  [() => managing(all), 'pass 10 secrets'],
  [
    managedAs({ secrets: { ...without('GATEWAY_WEBHOOK_SECRET'), INTERNAL_KEY: '' } }),
    'fail not set: GATEWAY_WEBHOOK_SECRET, INTERNAL_KEY',
    'supabase secrets set',
  ],
  [managedAs({ secrets: { ...without('REVALIDATE_SECRET'), REVALIDATE_URL: '' } }), /^pass /],
  [
    managedAs({ secrets: { ...all, GATEWAY_KEY_SECERT: 'x', API_URL: 'of another function' } }),
    'warn not read by the function: GATEWAY_KEY_SECERT',
    'Correct the spelling',
  ],
  [
    () => managing({ ...all, GATEWAY_KEY_SECRET: 'of-test-mode' }),
    'warn other values than in this environment: GATEWAY_KEY_SECRET',
    'Use the hosted values here',
  ],
  [() => local({ environment: all }), 'pass 9 variables'],
  [
    () =>
      local({ environment: { ...all, GATEWAY_WEBHOOK_SECRET: 'a-secret-of-the-webhook\n', EMAIL_FOOTER: 'Acme\n' } }),
    'fail white space around the value: GATEWAY_WEBHOOK_SECRET',
    'line break',
  ],
  [
    managedAs({ secrets: { ...all, INTERNAL_KEY: `${all.INTERNAL_KEY}\n` } }, { ...all }),
    /^fail white space around the value: INTERNAL_KEY; /,
  ],
  [
    managedAs({ secrets: { ...all, INTERNAL_KEY: 'local-internal-key' } }, {
      REVALIDATE_SECRET: 'local-revalidate-secret',
    }),
    /^fail published values of the local stack: REVALIDATE_SECRET, INTERNAL_KEY; /,
    'openssl rand -hex 32',
  ],
  [
    () => ({ ...managing(all), databaseUrl: 'postgresql://postgres:postgres@db.example/postgres' }),
    'fail published values of the local stack: DATABASE_URL',
  ],
  [
    managedAs({ secrets: { ...all, INTERNAL_KEY: 'k' } }, { ...all, INTERNAL_KEY: 'k' }),
    'warn shorter than 16 characters: INTERNAL_KEY',
    'openssl rand -hex 32',
  ],
  [
    () => managing({ GATEWAY_API_URL: 'http://gateway.example' }, null),
    'warn GATEWAY_API_URL is not encrypted: the API key can be read on the way',
    'https',
  ],
  [
    () => local({ environment: { ...all, EMAIL_FROM: '' }, envFileNames: ['EMAIL_FORM'] }),
    'warn not set: EMAIL_FROM; not read by the function: EMAIL_FORM',
  ],
]);

testReports(advisors, [
  [() => managing(), 'pass security: nothing to do; performance: nothing to do'],
  [
    managedAs({ security: [anError, anError], performance: [aWarning] }),
    'fail security: 2 errors (rls_disabled_in_public); performance: 1 warning (unindexed_foreign_keys)',
    'Open the advisors in the dashboard. Each finding there has a remedy.',
  ],
  [managedAs({ performance: [aWarning] }), /^warn /],
  [() => local(), 'skip only for a hosted project', '--project-ref'],
]);

testReports(gatewayKey, [
  [() => hosted(payer()), 'pass rzp_live_AbCdEfGhIjKlMn is accepted, a live key'],
  [refused, 'fail the gateway refuses the key', 'GATEWAY_KEY_SECRET'],
  [withAccount({ keyId: 'rzp_test_A' }), 'warn rzp_test_A is a test key: no real money', 'Set the live key'],
  [
    () => local({ hasSimulator: false, ...payer() }),
    'fail rzp_live_AbCdEfGhIjKlMn is a live key: the local stack would take real money',
  ],
  [() => hosted({ environment: { GATEWAY_KEY_ID: 'a' } }), 'skip GATEWAY_API_URL, GATEWAY_KEY_SECRET not given'],
]);

testReports(webhookEndpoint, [
  [withAccount({ endpoints: [...others, endpoint] }), 'pass registered and active, with 23 events'],
  [withAccount({ endpoints: others }), 'fail the webhook endpoint is not registered', handledEvents.join(', ')],
  [registered({ active: false }), switchedOff, 'Switch it on'],
  [registered({ disabled_at: 1790000000 }), switchedOff],
  [
    registered({ events: { ...on, 'order.paid': false, 'refund.failed': false } }),
    'fail the webhook endpoint lacks events: order.paid, refund.failed',
  ],
  [
    withAccount({ endpoints: 'refused' }),
    'skip the gateway does not list its endpoints (400)',
    `${webhookUrl}, the secret GATEWAY_WEBHOOK_SECRET, and the events payment.captured`,
  ],
  [() => local(payer()), 'skip no gateway reaches this machine'],
]);

testReports(authorisedPayments, [
  [paid(payment('authorized', 0), payment('captured', 2), payment('failed', 3)), 'pass no payment is left authorised'],
  [
    paid(...Array.from({ length: 150 }, () => payment('captured', 2)), payment('authorized', 3)),
    'warn payments authorised for more than an hour and not captured: 1 (pay_3)',
    'automatic capture',
  ],
]);
