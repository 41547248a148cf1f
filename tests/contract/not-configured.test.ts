import { beforeAll, describe, expect, test } from 'vitest';
import { localKeys } from '../helpers/project/keys.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import type { Buyer } from '../helpers/http/caller.ts';
import { answer, call, refusal, returnCheckout, verify } from '../helpers/http/requests.ts';
import { restThenPool, useProject, useService } from '../helpers/project/use-project.ts';

const project = useProject();
const { newBuyer, unchanged } = project;
const notConfigured = refusal(503, 'Payment service not configured');
const noSession = { accessToken: 'no-session' };
const withSecretKey = { apikey: localKeys.secret };
let buyer: Buyer;
let bodies: unknown[];
beforeAll(async () => {
  buyer = await newBuyer();
  // WebCrypto refuses empty keys; a key of one zero byte gives the same HMAC.
  const emptySecret = await sign('\0', `${buyer.orderId}|${buyer.paid.gateway_payment_id}`);
  bodies = [buyer.paid, {}, { tier: 'pro' }, '{', { ...buyer.paid, gateway_signature: emptySecret }];
});

describe('without any secret', () => {
  const service = useService('in process over the pool', project, {
    GATEWAY_KEY_ID: '',
    GATEWAY_KEY_SECRET: '',
    GATEWAY_WEBHOOK_SECRET: '',
    INTERNAL_KEY: '',
    APP_URL: 'https://app.example',
  });

  const endpoints = ['payments/verify', 'payments/orders', 'subscriptions', 'subscriptions/change'];
  test.each(endpoints)(
    'POST /api/%s with any body and session → 503, before 401, 400, 404 and 500; nothing written',
    async (endpoint) => {
      await unchanged(async () => {
        for (const body of bodies) {
          for (const user of [buyer, noSession]) {
            expect(await call(service, `POST /api/${endpoint}`, { user, body })).toEqual(notConfigured);
          }
        }
      });
    },
  );

  test('POST /api/payments/return → 503, nothing written', async () => {
    await unchanged(async () => {
      expect(await answer(returnCheckout(service, buyer.paid))).toEqual(notConfigured);
    });
  });

  test('POST /api/internal/outbox and /reconcile with any internal key → 401; with the secret key → 200, 503', async () => {
    for (const path of ['POST /api/internal/outbox', 'POST /api/internal/reconcile']) {
      for (const key of ['internal-key', '', 'null']) {
        expect(await call(service, path, { headers: { 'x-internal-key': key } })).toEqual(refusal(401, 'Unauthorized'));
      }
    }
    expect((await call(service, 'POST /api/internal/outbox', { headers: withSecretKey })).status).toBe(200);
    for (const headers of [withSecretKey, { ...withSecretKey, prefer: 'respond-async' }]) {
      expect(await call(service, 'POST /api/internal/reconcile', { headers })).toEqual(notConfigured);
    }
  });

  test('POST /api/webhooks/gateway signed with an empty or another secret → 500, nothing written', async () => {
    await unchanged(async () => {
      for (const secret of ['\0', secrets.GATEWAY_WEBHOOK_SECRET]) {
        expect(await answer(postWebhook(service, '{}', { secret }))).toEqual(refusal(500, 'Webhook processing failed'));
      }
    });
  });

  test('GET /api/payments/orders/:order_id → 200 with what is known, no read is counted', async () => {
    await unchanged(async () => {
      expect(await call(service, `GET /api/payments/orders/${buyer.orderId}`, { user: buyer }))
        .toMatchObject({ status: 200, body: { order_id: buyer.orderId, status: 'open', attempts: 0 } });
    });
  });
});

describe('without GATEWAY_API_URL and APP_URL', () => {
  const service = useService(restThenPool, project, { GATEWAY_API_URL: '', APP_URL: '' });

  const authorised = { gateway_subscription_id: 's', gateway_payment_id: 'p', gateway_signature: 'x' };
  test.each([
    ['POST /api/payments/orders', { tier: 'pro' }],
    ['POST /api/subscriptions', { tier: 'pro' }],
    ['POST /api/payments/verify', authorised],
  ])('%s with %j → 503', async (endpoint, body) => {
    expect(await call(service, endpoint, { user: buyer, body })).toEqual(notConfigured);
  });

  test('POST /api/payments/return without APP_URL → 503; verify without GATEWAY_API_URL → 200', async () => {
    expect(await answer(returnCheckout(service, buyer.paid))).toEqual(notConfigured);
    expect((await verify(service, buyer.accessToken, buyer.paid)).status).toBe(200);
  });
});
