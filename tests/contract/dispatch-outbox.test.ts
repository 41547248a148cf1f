import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { localKeys } from '../helpers/project/keys.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { call, fullAnswer, refusal, send, verify } from '../helpers/http/requests.ts';
import type { RunningService } from '../helpers/project/targets.ts';
import { restThenPool, useProject, useService } from '../helpers/project/use-project.ts';
import { accept, startReceiver } from '../helpers/outbox/receiver.ts';
import { countRows, emptyOutbox, enqueueMail, readSideEffect } from '../helpers/outbox/side-effects.ts';
import { receiverEnvironment } from '../helpers/outbox/test-dispatcher.ts';
import { startTestMailbox } from '../helpers/outbox/test-mailbox.ts';

const project = useProject();
const { database, newBuyer, newUser } = project;
const mailbox = await startTestMailbox();
afterAll(() => mailbox.stop());
const endpoint = 'POST /api/internal/outbox';
/** Long enough for a slow machine. */
const patience = { timeout: 30_000, interval: 20 };
const withSecretKey = { apikey: localKeys.secret };
const dispatch = (service: RunningService, headers: Record<string, string> = withSecretKey) =>
  call(service, endpoint, { headers });
const untilDelivered = () =>
  vi.waitFor(async () => expect(await countRows(database)).toMatchObject({ pending: 0, parked: 0 }), patience);

describe('the request', () => {
  const receiver = startReceiver();
  // Runs after the service has stopped.
  afterAll(async () => {
    await receiver.stop();
    await emptyOutbox(database);
  });
  const service = useService(restThenPool, project, receiverEnvironment(receiver.url));
  const internalKey = 'internal-key';
  const withInternalKey = { 'x-internal-key': internalKey };

  // All keys that are refused: unit/internal-access.
  test('POST /api/internal/outbox without a key, with another one, or with the session of a user → 401, nothing claimed', async () => {
    const key = await enqueueMail(database);
    const { accessToken } = await newUser();
    const refused: Record<string, string>[] = [
      {},
      { prefer: 'respond-async' },
      { 'x-internal-key': localKeys.secret, apikey: internalKey },
      { 'x-internal-key': accessToken, apikey: localKeys.publishable, authorization: `Bearer ${accessToken}` },
    ];
    for (const headers of refused) {
      expect({ headers, ...await dispatch(service, headers) }).toEqual({ headers, ...refusal(401, 'Unauthorized') });
    }
    expect(await readSideEffect(database, key)).toMatchObject({ claims: 0, state: 'pending' });
  });

  test('POST /api/internal/outbox with INTERNAL_KEY, or with the secret key → 200 with the counts only', async () => {
    await emptyOutbox(database);
    await enqueueMail(database);
    await enqueueMail(database);
    const rejected = await enqueueMail(database, { valid_until: 'some day' });
    const { headers, ...received } = await fullAnswer(send(service, endpoint, { headers: withInternalKey }));
    expect(received).toEqual({ status: 200, body: { delivered: 2, retried: 0, parked: 1, next_attempt_at: null } });
    expect(headers.get('cache-control')).toBe('private, no-store');
    expect(await readSideEffect(database, rejected)).toMatchObject({ state: 'parked' });

    const next_attempt_at = '2999-01-01T00:00:00.000Z';
    const wait = 'update billing.outbox set next_attempt_at = $2 where key = $1';
    await database.query(wait, [await enqueueMail(database), next_attempt_at]);
    expect(await dispatch(service, { ...withSecretKey, 'x-internal-key': 'another-key' }))
      .toEqual({ status: 200, body: { delivered: 0, retried: 0, parked: 0, next_attempt_at } });
  });

  test('POST /api/internal/outbox with prefer: respond-async → 202 before the receiver answers; delivered afterwards', async () => {
    const prefer = 'wait=10, Respond-Async; x=1';
    const key = await enqueueMail(database);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    receiver.answer = async (arrival) => (await released, await accept(arrival));
    const { headers, ...received } = await fullAnswer(
      send(service, endpoint, { headers: { ...withInternalKey, prefer } }),
    );
    expect(received).toEqual({ status: 202, body: { accepted: true } });
    expect(headers.get('preference-applied')).toBe('respond-async');
    expect(await readSideEffect(database, key)).toMatchObject({ state: 'pending' });
    release();
    await expect.poll(() => readSideEffect(database, key), patience).toMatchObject({ state: 'delivered' });
    receiver.answer = accept;
  });
});

// All that mails show: emails/. Receivers that fail or hang: faults/outbox-delivery.
describe('the delivery', () => {
  const service = useService(restThenPool, project, mailbox.environment);
  afterEach(() => mailbox.clearFaults());
  const from = 'Acme <billing@acme.example>';

  // First: a dispatch delivers again a second later, and would hide that a webhook does not.
  test('payment.failed, delivered twice → one failure mail', async () => {
    const { email, orderId } = await newBuyer({ meta: { tier: 'premium' } });
    const event = paymentFailed({ order_id: orderId, error_description: 'Card declined by the bank.' });
    for (const _ of [1, 2]) expect((await postWebhook(service, event)).status).toBe(200);
    const [mail] = await mailbox.untilMailTo(email);
    expect(mail).toMatchObject({ from, to: [email], subject: 'Your payment for the Premium plan failed' });
    expect(mail?.text).toContain('Card declined by the bank.');
    await untilDelivered();
    expect(await mailbox.mailsTo(email)).toHaveLength(1);
  });

  test('a purchase → one success mail and the refreshed pages, without a scheduler; verified again → still one mail', async () => {
    await untilDelivered();
    const before = (await mailbox.revalidations()).length;
    const { id, email, accessToken, paymentId, paid } = await newBuyer({ amount: 123456 });
    await database.query("update public.profiles set display_name = 'Asha Rao' where user_id = $1", [id]);
    const buy = () => verify(service, accessToken, paid);
    expect((await buy()).status).toBe(200);
    const mails = await mailbox.untilMailTo(email);
    const [subject, to] = ['Payment received: your Pro plan is active', [email]];
    expect(mails).toMatchObject([{ from, to, subject, idempotency_key: `payment-success/${paymentId}` }]);
    for (const field of ['Asha Rao', 'Pro', '₹1234.56', paid.gateway_payment_id]) {
      expect(mails[0]?.text).toContain(field);
    }
    await untilDelivered();
    const refreshed = (await mailbox.revalidations()).slice(0, -before || undefined);
    expect(refreshed.length).toBeGreaterThanOrEqual(1);
    for (const paths of refreshed) expect(paths).toEqual(['/subscription', '/pricing', '/analytics', '/dashboard']);

    expect((await buy()).status).toBe(200);
    expect((await dispatch(service)).status).toBe(200);
    await untilDelivered();
    expect(await mailbox.mailsTo(email)).toHaveLength(1);
  });

  test('requests while mailbox and app hang → 200; every mail is delivered afterwards', async () => {
    await untilDelivered();
    for (const target of ['emails', 'revalidate']) await mailbox.fail({ mode: 'hang', target, times: 1 });
    const [first, second, failing] = [await newBuyer(), await newBuyer(), await newBuyer()];
    expect((await verify(service, first.accessToken, first.paid)).status).toBe(200);
    // From here on both receivers hold a request of the function.
    await mailbox.untilFaultsApplied();
    expect((await verify(service, second.accessToken, second.paid)).status).toBe(200);
    expect((await postWebhook(service, paymentFailed({ order_id: failing.orderId }))).status).toBe(200);
    expect(await readSideEffect(database, `payment-success/${first.paymentId}`)).toMatchObject({ state: 'pending' });

    await mailbox.clearFaults();
    // Repeated, because rows that the function is still settling become due only later.
    await vi.waitFor(async () => {
      await database.query('update billing.outbox set next_attempt_at = billing.clock() where delivered_at is null');
      await database.query('delete from billing.marks');
      expect((await dispatch(service)).status).toBe(200);
      expect(await countRows(database)).toMatchObject({ pending: 0, parked: 0 });
    }, { timeout: 30_000, interval: 100 });
    for (const { email } of [first, second, failing]) expect(await mailbox.mailsTo(email)).toHaveLength(1);
  });
});
