import { describe, expect, test } from 'vitest';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { paymentCaptured } from '../helpers/gateway/events.ts';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import { answer, refusal } from '../helpers/http/answer.ts';
import { poolSample, type RunningService } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { ledgerRow, readAllRows } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

const project = useProject();
const received = { status: 200, body: { received: true } };
const missing = refusal(400, 'Missing signature');
const invalid = refusal(400, 'Invalid signature');
const secret = secrets.GATEWAY_WEBHOOK_SECRET;
const encoder = new TextEncoder();

/** Delivers with the given signature, and asserts that a refusal writes nothing. */
async function deliverSigned(
  service: RunningService,
  body: string | Uint8Array<ArrayBuffer>,
  signature: string,
  header = 'x-gateway-signature',
) {
  const before = await readAllRows(project.database);
  const result = await answer(postWebhook(service, body, { headers: { [header]: signature } }));
  if (result.status !== 200) expect(await readAllRows(project.database)).toEqual(before);
  return result;
}

describe.each(poolSample)('%s', (target) => {
  const service = useService(target, project);

  test('POST /api/webhooks/gateway without a signature → 400', async () => {
    const before = await readAllRows(project.database);
    expect(await answer(postWebhook(service, paymentCaptured(), { headers: {} }))).toEqual(missing);
    expect(await readAllRows(project.database)).toEqual(before);
  });

  test('POST /api/webhooks/gateway with an empty signature header → 400 Missing signature', async () => {
    expect(await deliverSigned(service, '{}', '')).toEqual(missing);
  });

  test.each([
    ['of 63 digits', (s: string) => s.slice(0, -1)],
    ['of 65 digits', (s: string) => `${s}0`],
    ['of 66 digits', (s: string) => `${s}00`],
    ['in upper case', (s: string) => s.toUpperCase()],
    ['with garbage after it', (s: string) => `${s}, x`],
    ['twice', (s: string) => `${s}, ${s}`],
    ['with the name of its algorithm before it', (s: string) => `sha256=${s}`],
    ['of the same length but not hexadecimal', (s: string) => `${s.slice(0, -1)}g`],
    ['with one digit changed', (s: string) => s.slice(0, -1) + (s.endsWith('0') ? '1' : '0')],
  ])('POST /api/webhooks/gateway with a signature %s → 400', async (_, change) => {
    const body = paymentCaptured();
    expect(await deliverSigned(service, body, change(await sign(secret, body)))).toEqual(invalid);
  });

  test('POST /api/webhooks/gateway signed with another secret → 400', async () => {
    const body = paymentCaptured();
    for (const other of ['another-secret', secrets.GATEWAY_KEY_SECRET, `${secret} `, '\0']) {
      expect(await deliverSigned(service, body, await sign(other, body))).toEqual(invalid);
    }
  });

  test('POST /api/webhooks/gateway with the signature of another body → 400', async () => {
    const body = paymentCaptured();
    expect(await deliverSigned(service, body, await sign(secret, `${body} `))).toEqual(invalid);
    expect(await deliverSigned(service, body, await sign(secret, ''))).toEqual(invalid);
  });

  test('POST /api/webhooks/gateway with a bad signature and invalid JSON → 400, before 500', async () => {
    expect(await deliverSigned(service, '{', 'x')).toEqual(invalid);
    expect(await deliverSigned(service, '{', '')).toEqual(missing);
  });

  test('POST /api/webhooks/gateway signed with the previous secret while GATEWAY_WEBHOOK_SECRET_PREVIOUS is not set → 400', async () => {
    const body = paymentCaptured();
    expect(await deliverSigned(service, body, await sign('old-secret', body))).toEqual(invalid);
  });

  test('POST /api/webhooks/gateway with a byte-order mark and a signature over the bytes → 200', async () => {
    const bytes = encoder.encode(`\uFEFF${paymentCaptured()}`);
    expect(await deliverSigned(service, bytes, await sign(secret, bytes))).toEqual(received);
    expect(await ledgerRow(project.database, bytes)).toMatchObject({ event: 'payment.captured' });
  });

  test('POST /api/webhooks/gateway with a byte-order mark and a signature over the decoded text → 400', async () => {
    const text = paymentCaptured();
    expect(await deliverSigned(service, encoder.encode(`\uFEFF${text}`), await sign(secret, text))).toEqual(invalid);
  });

  test('POST /api/webhooks/gateway with a signed body that is not UTF-8 → 200', async () => {
    const [start, end] = [encoder.encode(`{"event":"${uniqueId('event')}","note":"`), encoder.encode('"}')];
    const bytes = new Uint8Array([...start, 0xff, 0xfe, 0xc0, ...end]);
    expect(await deliverSigned(service, bytes, await sign(secret, bytes))).toEqual(received);
    expect(await ledgerRow(project.database, bytes)).toMatchObject({ payload: { note: '\uFFFD\uFFFD\uFFFD' } });
  });

  test('POST /api/webhooks/gateway with a signed body that has its own white space and key order → 200', async () => {
    const body = ` {\n\t"payload" : {} , "event":"${uniqueId('event')}" }\r\n`;
    expect(await deliverSigned(service, body, await sign(secret, body))).toEqual(received);
  });
});

describe.each(poolSample)('%s while the secret rotates', (target) => {
  const service = useService(target, project, { GATEWAY_WEBHOOK_SECRET_PREVIOUS: 'old-secret' });

  test.each([secret, 'old-secret'])('POST /api/webhooks/gateway signed with "%s" → 200', async (either) => {
    const body = paymentCaptured();
    expect(await deliverSigned(service, body, await sign(either, body))).toEqual(received);
  });

  test('POST /api/webhooks/gateway signed with a third secret → 400', async () => {
    const body = paymentCaptured();
    expect(await deliverSigned(service, body, await sign('older-secret', body))).toEqual(invalid);
  });
});

describe.each(poolSample)('%s with only the previous secret', (target) => {
  const service = useService(target, project, {
    GATEWAY_WEBHOOK_SECRET: '',
    GATEWAY_WEBHOOK_SECRET_PREVIOUS: 'old-secret',
  });

  test('POST /api/webhooks/gateway signed with the previous secret → 200, with an empty one → 400', async () => {
    const body = paymentCaptured();
    expect(await deliverSigned(service, body, await sign('old-secret', body))).toEqual(received);
    // WebCrypto refuses empty keys; a key of one zero byte gives the same HMAC.
    expect(await deliverSigned(service, body, await sign('\0', body))).toEqual(invalid);
  });
});

describe.each(poolSample)('%s without a webhook secret', (target) => {
  const service = useService(target, project, { GATEWAY_WEBHOOK_SECRET: '', GATEWAY_WEBHOOK_SECRET_PREVIOUS: '' });

  test.each(['\0', secret])('POST /api/webhooks/gateway signed with %j → 500, nothing written', async (any) => {
    const body = paymentCaptured();
    expect(await deliverSigned(service, body, await sign(any, body)))
      .toEqual(refusal(500, 'Webhook processing failed'));
  });
});

describe.each(poolSample)('%s with configured header names', (target) => {
  const service = useService(target, project, {
    GATEWAY_SIGNATURE_HEADER: 'X-Acme-Signature',
    GATEWAY_EVENT_ID_HEADER: 'X-Acme-Event-Id',
  });

  test('POST /api/webhooks/gateway signed in the configured header → 200, with the event id in the ledger', async () => {
    const body = paymentCaptured();
    const headers = { 'x-acme-signature': await sign(secret, body), 'x-acme-event-id': 'evt_acme' };
    expect(await answer(postWebhook(service, body, { headers }))).toEqual(received);
    expect(await ledgerRow(project.database, body)).toMatchObject({ event_id: 'evt_acme' });
  });

  test('POST /api/webhooks/gateway signed in the default header → 400 Missing signature', async () => {
    const body = paymentCaptured();
    expect(await deliverSigned(service, body, await sign(secret, body))).toEqual(missing);
  });
});
