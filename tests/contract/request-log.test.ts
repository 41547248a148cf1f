import { describe, expect, test, vi } from 'vitest';
import { localKeys } from '../../scripts/stack/defaults.ts';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { secrets } from '../helpers/gateway/sign.ts';
import { fullAnswer } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout, requestSubscription, verify } from '../helpers/http/requests.ts';
import { createToken } from '../helpers/http/tokens.ts';
import { restSample, servedTargets } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

const project = useProject();
const withoutSecrets = { GATEWAY_KEY_ID: '', GATEWAY_KEY_SECRET: '', GATEWAY_WEBHOOK_SECRET: '' };

describe.each(restSample)('%s', (target) => {
  const service = useService(target, project);

  /** The log lines of a request, as soon as they are complete. */
  async function linesOf(id: string | null) {
    const lines = () => service.log.filter((line) => line.request_id === id);
    await vi.waitFor(() => expect(lines().some((line) => line.event === 'request')).toBe(true));
    return lines();
  }

  async function loggedFor(response: Promise<Response>) {
    const { headers, body } = await fullAnswer(response);
    return { lines: await linesOf(headers.get('x-request-id')), body };
  }

  function line(route: string, method: string, status: number, outcome: string, level = 'info') {
    return {
      level,
      event: 'request',
      request_id: expect.any(String),
      method,
      route,
      status,
      milliseconds: expect.any(Number),
      outcome,
    };
  }

  test('each request → one line with its id, route, status, milliseconds and outcome', async () => {
    const user = await project.signUp();
    const { orderId } = await createPayment(project.database, { userId: user.id });
    const paid = await checkout(orderId);
    const [read, pay, hook] = ['/api/subscriptions', '/api/payments/verify', '/api/webhooks/gateway'];
    const cases: [Promise<Response>, unknown][] = [
      [requestSubscription(service, user.accessToken), line(read, 'GET', 200, 'read')],
      [requestSubscription(service, 'garbage'), line(read, 'GET', 401, 'unauthorized')],
      [verify(service, user.accessToken, paid), line(pay, 'POST', 200, 'applied')],
      [verify(service, user.accessToken, {}), line(pay, 'POST', 400, 'invalidRequest')],
      [
        verify(service, user.accessToken, { ...paid, gateway_signature: 'x' }),
        line(pay, 'POST', 400, 'paymentVerificationFailed'),
      ],
      [verify(service, user.accessToken, await checkout(uniqueId('order'))), line(pay, 'POST', 404, 'paymentNotFound')],
      [postWebhook(service, { event: uniqueId('event') }), line(hook, 'POST', 200, 'ignored: not handled')],
      [postWebhook(service, {}, { headers: {} }), line(hook, 'POST', 400, 'missingSignature')],
      [postWebhook(service, {}, { secret: 'x' }), line(hook, 'POST', 400, 'invalidSignature')],
      [service.request('/api/health'), line('/api/health', 'GET', 200, 'healthy')],
      [service.request(hook, { method: 'PUT' }), line(hook, 'PUT', 405, 'methodNotAllowed')],
      [verify(service, '', 'x'.repeat(1_100_000)), line(pay, 'POST', 413, 'payloadTooLarge')],
      [service.request('/api/unknown'), { ...line('', 'GET', 404, 'notFound'), route: expect.any(String) }],
      [
        service.request(pay, { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } }),
        line(pay, 'OPTIONS', 204, 'preflight'),
      ],
    ];
    for (const [response, expected] of cases) {
      const { lines } = await loggedFor(response);
      expect(lines).toEqual([expected]);
      expect(lines[0]?.milliseconds).toBeGreaterThanOrEqual(0);
    }
  });

  test('a fault → one line beside the request, and no inner detail in the answer', async () => {
    const user = await createCaller(project.database);
    const paid = await checkout((await createPayment(project.database, { userId: user.id })).orderId);
    await whileBroken(project.database, 'get_subscription', async () => {
      const { lines, body } = await loggedFor(requestSubscription(service, user.accessToken));
      expect(body).toEqual({ error: 'Failed to get subscription' });
      expect(lines).toEqual([
        { level: 'error', event: 'fault', request_id: expect.any(String), error: 'get_subscription failed: 42501' },
        line('/api/subscriptions', 'GET', 500, 'getSubscriptionFailed', 'error'),
      ]);
    });
    const { lines, body } = await loggedFor(verify(service, user.accessToken, `{"gateway_order_id":"${paid}`));
    expect(body).toEqual({ error: 'Failed to verify payment' });
    expect(lines).toEqual([
      {
        level: 'error',
        event: 'fault',
        request_id: expect.any(String),
        error: expect.stringMatching(/^SyntaxError at .*api\/routes\/verify-payment\.ts:\d+:\d+\)?$/),
      },
      line('/api/payments/verify', 'POST', 500, 'verifyPaymentFailed', 'error'),
    ]);
  });

  test('all kinds of requests → no line with a secret, signature, token, address or path of the caller', async () => {
    const user = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId: user.id });
    const paid = await checkout(orderId);
    const forged = await createToken({ sub: user.id }, { secret: 'another-secret-of-more-than-32-letters' });
    const event = paymentFailed({ order_id: orderId, email: user.email });
    const kinds = () => [
      requestSubscription(service, user.accessToken),
      requestSubscription(service, forged),
      verify(service, user.accessToken, paid),
      verify(service, user.accessToken, { ...paid, gateway_order_id: 5 }),
      verify(service, user.accessToken, { ...paid, gateway_payment_id: 'x' }),
      verify(service, user.accessToken, `${JSON.stringify(paid)}${user.email}`),
      postWebhook(service, event),
      postWebhook(service, event, { secret: 'another' }),
      postWebhook(service, `${JSON.stringify(event)}${paid.gateway_signature}`),
      service.request(`/api/unknown/${user.email}?apikey=${localKeys.secret}&token=${user.accessToken}`),
      service.request(`/api/subscriptions?email=${user.email}`, { method: 'PATCH' }),
    ];
    const answers = await Promise.all(kinds().map((response) => fullAnswer(response)));
    for (const name of ['get_subscription', 'verify_payment', 'apply_gateway_event', 'get_health']) {
      await whileBroken(project.database, name, async () => {
        answers.push(...await Promise.all(kinds().map((response) => fullAnswer(response))));
      });
    }
    for (const { headers } of answers) await linesOf(headers.get('x-request-id'));

    const written = service.output.join('\n');
    const { gateway_signature, gateway_payment_id, gateway_order_id } = paid;
    const secretTexts = [
      ...Object.values(secrets).filter((secret) => secret !== secrets.GATEWAY_KEY_ID),
      ...Object.values(localKeys),
      ...user.accessToken.split('.'),
      ...forged.split('.').slice(1),
      ...[gateway_signature, gateway_payment_id, gateway_order_id, user.email, '@', 'payer', 'unknown/'],
    ];
    for (const text of secretTexts) expect(written).not.toContain(text);
    // Any other signature or hash of a body.
    expect(written).not.toMatch(/[0-9a-f]{64}/i);
  });

  test('every line → JSON; every request has its own id', async () => {
    await linesOf((await fullAnswer(service.request('/api/health'))).headers.get('x-request-id'));
    const requests = service.log.filter((line) => line.event === 'request');
    expect(new Set(requests.map((line) => line.request_id)).size).toBe(requests.length);
    expect(service.output).toHaveLength(service.log.length);
  });
});

describe.each(restSample)('%s without its secrets', (target) => {
  const service = useService(target, project, withoutSecrets);

  test('POST /api/webhooks/gateway and verify → one line each with the missing configuration as outcome', async () => {
    for (
      const [response, outcome] of [
        [postWebhook(service, {}), 'webhooksNotConfigured'],
        [verify(service, '', {}), 'paymentsNotConfigured'],
      ] as const
    ) {
      const id = (await fullAnswer(response)).headers.get('x-request-id');
      const lines = () => service.log.filter((line) => line.request_id === id);
      await vi.waitFor(() => expect(lines()).toHaveLength(1));
      expect(lines()).toMatchObject([{ level: 'error', outcome }]);
    }
  });
});

// Only served targets: `index.ts` logs this, and it does not run in process.
describe.each(servedTargets)('%s without its secrets', (target) => {
  const service = useService(target, project, withoutSecrets);

  test('the start → one line with the names of the missing variables', () => {
    expect(service.log.filter((line) => line.event === 'not_configured')).toEqual([{
      level: 'warn',
      event: 'not_configured',
      missing: expect.arrayContaining(Object.keys(withoutSecrets)),
    }]);
  });
});
