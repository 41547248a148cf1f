import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { localKeys } from '../../scripts/stack/defaults.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { type Checkout, checkout, requestSubscription, verify } from '../helpers/http/requests.ts';
import { countRows, readSideEffect } from '../helpers/outbox/side-effects.ts';
import { startTestMailbox } from '../helpers/outbox/test-mailbox.ts';
import { poolSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { createPayment } from '../helpers/records/records.ts';

const mailbox = await startTestMailbox();
afterAll(() => mailbox.stop());
afterEach(() => mailbox.clearFaults());
const refreshed = ['/subscription', '/pricing', '/analytics', '/dashboard'];

describe.each(poolSample)('%s', (target) => {
  const project = useProject();
  const service = useService(target, project, mailbox.environment);

  /** A user with the display name Asha Rao and a paid checkout. */
  async function createBuyer(amount = 123456, meta = { tier: 'pro' }) {
    const user = await createCaller(project.database);
    await project.database.query("update public.profiles set display_name = 'Asha Rao' where user_id = $1", [user.id]);
    const payment = await createPayment(project.database, { userId: user.id, amount, meta });
    return { ...user, payment, paid: await checkout(payment.orderId) };
  }

  async function buy({ accessToken, paid }: { accessToken: string; paid: Checkout }): Promise<string> {
    const response = await verify(service, accessToken, paid);
    expect(response.status).toBe(200);
    return (await response.json()).subscription.validUntil;
  }

  /** Makes every undelivered side effect due now, also one with a lease or a pause. */
  async function makeDue(): Promise<void> {
    await project.database.query(
      'update billing.outbox set next_attempt_at = billing.clock() where delivered_at is null',
    );
    await project.database.query('delete from billing.marks');
  }

  function dispatch(): Promise<Response> {
    return service.request('/api/internal/outbox', { method: 'POST', headers: { apikey: localKeys.secret } });
  }

  function untilDelivered(): Promise<void> {
    return vi.waitFor(async () => {
      expect(await countRows(project.database)).toMatchObject({ pending: 0, parked: 0 });
    }, { timeout: 30_000, interval: 20 });
  }

  test('a purchase → one success mail with the fields of the contract, without a scheduler', async () => {
    const buyer = await createBuyer();
    const validUntil = await buy(buyer);
    const day = new Intl.DateTimeFormat('en-IN', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(validUntil));
    const [mail, ...others] = await mailbox.untilMailTo(buyer.email);
    expect(others).toEqual([]);
    expect(mail).toMatchObject({
      from: 'Acme <billing@acme.example>',
      to: [buyer.email],
      subject: 'Payment received: your Pro plan is active',
      idempotency_key: `payment-success/${buyer.payment.id}`,
    });
    const fields = ['Asha Rao', 'Pro', '₹1234.56', buyer.paid.gateway_payment_id, day];
    for (const field of fields) {
      expect(mail?.html).toContain(`>${field}<`);
      expect(mail?.text).toContain(field);
    }
    expect(mail?.html).toContain('href="https://app.example.com/dashboard"');
    expect(mail?.text).toContain('https://app.example.com/dashboard');
  });

  test('a purchase → the four pages are refreshed', async () => {
    await untilDelivered();
    const before = (await mailbox.revalidations()).length;
    await buy(await createBuyer());
    await untilDelivered();
    const calls = (await mailbox.revalidations()).slice(0, -before || undefined);
    expect(calls.length).toBeGreaterThanOrEqual(1);
    for (const paths of calls) expect(paths).toEqual(refreshed);
  });

  test('payment.failed → one failure mail with the fields of the contract', async () => {
    const { email, payment } = await createBuyer(99900, { tier: 'premium' });
    const event = paymentFailed({ order_id: payment.orderId, error_description: 'Card declined by the bank.' });
    for (let delivery = 0; delivery < 2; delivery++) expect((await postWebhook(service, event)).status).toBe(200);
    const [mail] = await mailbox.untilMailTo(email);
    expect(mail).toMatchObject({ from: 'Acme <billing@acme.example>', to: [email] });
    expect(mail?.subject).toBe('Your payment for the Premium plan failed');
    for (const field of ['Asha Rao', 'Premium', '₹999.00', 'Card declined by the bank.']) {
      expect(mail?.html).toContain(`>${field}<`);
      expect(mail?.text).toContain(field);
    }
    expect(mail?.html).toContain('href="https://app.example.com/pricing"');
    expect(mail?.text).toContain('https://app.example.com/pricing');
    await untilDelivered();
    expect(await mailbox.mailsTo(email)).toHaveLength(1);
  });

  test('a purchase verified again → still one mail', async () => {
    const buyer = await createBuyer();
    await buy(buyer);
    await mailbox.untilMailTo(buyer.email);
    await buy(buyer);
    expect((await dispatch()).status).toBe(200);
    await untilDelivered();
    expect(await mailbox.mailsTo(buyer.email)).toHaveLength(1);
  });

  test('an accepted mail whose answer is lost → sent again under the same key, one mail', async () => {
    await mailbox.fail({ mode: 'garbage', times: 1, applied: true });
    const buyer = await createBuyer();
    await buy(buyer);
    const key = `payment-success/${buyer.payment.id}`;
    await vi.waitFor(async () => {
      expect(await readSideEffect(project.database, key)).toMatchObject({ last_error: 'no answer application_error' });
    }, { timeout: 30_000, interval: 20 });
    await makeDue();
    expect((await dispatch()).status).toBe(200);
    await untilDelivered();
    expect(await readSideEffect(project.database, key)).toMatchObject({ state: 'delivered', claims: 2 });
    expect(await mailbox.mailsTo(buyer.email)).toHaveLength(1);
  });

  test('requests while mailbox and app hang → 200; every mail is delivered afterwards', async () => {
    await untilDelivered();
    await mailbox.fail({ mode: 'hang', target: 'emails', times: 1 });
    await mailbox.fail({ mode: 'hang', target: 'revalidate', times: 1 });
    const [first, second, failing] = await Promise.all([createBuyer(), createBuyer(), createBuyer()]);
    await buy(first);
    // From here on both receivers hold a request of the function.
    await mailbox.untilFaultsApplied();
    await buy(second);
    expect((await requestSubscription(service, second.accessToken)).status).toBe(200);
    expect((await postWebhook(service, paymentFailed({ order_id: failing.payment.orderId }))).status).toBe(200);
    expect(await countRows(project.database)).toMatchObject({ parked: 0 });
    expect(await readSideEffect(project.database, `payment-success/${first.payment.id}`)).toMatchObject({
      state: 'pending',
    });

    await mailbox.clearFaults();
    // Repeated, because rows that the function is still settling become due only later.
    await vi.waitFor(async () => {
      await makeDue();
      expect((await dispatch()).status).toBe(200);
      expect(await countRows(project.database)).toMatchObject({ pending: 0, parked: 0 });
    }, { timeout: 30_000, interval: 100 });
    for (const { email } of [first, second, failing]) expect(await mailbox.mailsTo(email)).toHaveLength(1);
  });
});
