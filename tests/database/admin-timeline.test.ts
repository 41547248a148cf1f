import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver, sha256 } from '../helpers/gateway/deliver.ts';
import {
  disputeEvent,
  paymentCaptured,
  paymentFailed,
  refundEvent,
  subscriptionEvent,
} from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder } from '../helpers/records/purchases.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { act, openSupport } from '../helpers/records/support-actions.ts';
import { actAsOwner, grantTier } from '../helpers/records/support-actions.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase({ findings: 'compared elsewhere' });
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

const timeline = async (email: string | null) =>
  (await database.query(
    "select what, reference, detail, link from billing.timeline where email = $1 and what <> 'signed_up' order by at, rank, detail",
    [email],
  )).map(({ what, reference, detail, link }) => [what, reference, detail, link]);

/** Runs a function on a day of January. */
async function on(day: number, doWork: () => Promise<unknown>): Promise<void> {
  await setClock(database, `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`);
  await doWork();
}

test('billing.timeline tells what happened to a customer, with links into the gateway’s dashboard', async () => {
  const user = await createUser(database);
  const failed = uniqueId('pay');
  await setClock(database, '2026-01-01T00:00:00Z');
  const order = await placeOrder(database, { user });
  const money = paymentOf(order);
  await database.query("update public.payments set gateway_key_id = 'key_live_1' where id = $1", [order.id]);
  await database.query("update billing.settings set gateway_dashboard = 'https://gateway.test/{mode}/{kind}/{id}'");
  await on(2, () => deliver(service, paymentFailed({ ...money, id: failed, error_description: 'Card declined.' })));
  await on(3, () => deliver(service, paymentCaptured(money)));
  await on(4, () => deliver(service, disputeEvent('created', 'open', money)));
  // The dispute counts from the time of its event, which here is today.
  await database.query("update public.payments set dispute_event_at = '2026-01-04Z' where id = $1", [order.id]);
  const refund = refundEvent(money, 99900);
  await on(5, () => deliver(service, refund));
  await on(6, async () => act(await openSupport(database), { action: 'note', email: user.email, reason: 'Called us' }));

  const refundId = JSON.parse(refund).payload.refund.entity.id;
  const [at, paid] = [`https://gateway.test/live`, `https://gateway.test/live/payments/${order.paymentId}`];
  expect(await timeline(user.email)).toEqual([
    ['order', order.orderId, 'Order of 999.00 INR for pro.', `${at}/orders/${order.orderId}`],
    ['attempt_failed', order.orderId, 'payment.failed: applied. Card declined.', `${at}/payments/${failed}`],
    ['mail', expect.any(String), 'payment-failed: queued.', null],
    ['webhook', order.orderId, 'payment.captured: applied.', `${at}/orders/${order.orderId}`],
    ['captured', order.paymentId, '999.00 INR captured for pro, 3 Jan 2026 to 3 Jan 2027.', paid],
    ['tier_changed', order.orderId, 'free to pro: payment.captured.', null],
    ['mail', expect.any(String), 'payment-success: queued.', null],
    ['webhook', order.orderId, 'payment.dispute.created: applied.', `${at}/orders/${order.orderId}`],
    ['dispute', order.paymentId, 'Dispute: open.', paid],
    ['webhook', order.orderId, 'refund.processed: applied.', `${at}/orders/${order.orderId}`],
    ['refunded', refundId, `999.00 INR of payment ${order.paymentId}: processed.`, paid],
    ['tier_changed', order.orderId, 'pro to free: refund.processed.', null],
    ['mail', expect.any(String), 'subscription-ended: queued.', null],
    ['support_action', expect.any(String), 'note by subscriptions_support: Noted. Reason: Called us.', null],
  ]);
});

test('billing.timeline shows a subscription that the gateway bills, its cancellation, and grants', async () => {
  const user = await createUser(database);
  const id = uniqueId('sub');
  await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
  const pay = uniqueId('pay');
  const start = '2026-02-01T00:00:00Z';
  await setClock(database, start);
  await deliver(
    service,
    subscriptionEvent({
      name: 'charged',
      userId: user.id,
      id,
      planId: 'plan_pro',
      start,
      end: '2026-03-01T00:00:00Z',
      createdAt: start,
      payment: { id: pay, amount: 99900 },
    }),
  );
  await service.query('select public.cancel_subscription($1, true)', [user.id]);
  await setClock(database, '2026-02-02T00:00:00Z');
  await grantTier(database, user.email, 'premium', '2026-03-01Z', 'sorry');
  const { id: grant } = await database.one('select id::text from billing.grants where user_id = $1', [user.id]);
  await setClock(database, '2026-02-03T00:00:00Z');
  await actAsOwner(database, { action: 'revoke_grant', reference: grant });
  expect((await timeline(user.email)).map(([what, reference, detail]) => [what, reference, detail])).toEqual(
    expect.arrayContaining([
      ['webhook', id, 'subscription.charged: applied.'],
      ['captured', pay, '999.00 INR captured for pro, 1 Feb 2026 to 1 Mar 2026.'],
      ['cancellation', id, 'At the end of the cycle, to the gateway: queued.'],
      ['grant', grant, 'premium until 1 Mar 2026: sorry.'],
      ['grant_ended', grant, 'revoked.'],
    ]),
  );
});

test('billing.timeline tells webhooks from what was read from the gateway', async () => {
  const order = await placeOrder(database, { user: await createUser(database) });
  await deliver(service, paymentCaptured(paymentOf(order)));
  await database.query('update billing.gateway_events set deliveries = 0 where subject_id = $1', [order.orderId]);
  const lines = await timeline(order.user.email);
  expect(lines.filter(([, reference]) => reference === order.orderId).map(([what]) => what)).toContain(
    'reconciliation',
  );
});

test('billing.timeline tells the state of each mail, and nothing of other customers', async () => {
  const [one, other] = [await placeOrder(database), await placeOrder(database)];
  await deliver(service, paymentCaptured(paymentOf(one)));
  const key = `payment-success/${one.id}`;
  await database.query("update billing.outbox set parked_at = now(), last_error = 'HTTP 422' where key = $1", [key]);
  expect((await timeline(one.user.email)).find(([what]) => what === 'mail')?.[2]).toBe(
    'payment-success: parked. HTTP 422.',
  );
  await database.query(
    'update billing.outbox set parked_at = null, last_error = null, delivered_at = now() where key = $1',
    [
      key,
    ],
  );
  expect((await timeline(one.user.email)).find(([what]) => what === 'mail')?.[2]).toBe('payment-success: delivered.');
  expect((await timeline(other.user.email)).map(([what]) => what)).toEqual(['order']);
});

test('a link needs the mode of the API key and the address of the dashboard', async () => {
  const link = async (key: string | null) =>
    (await database.one("select billing.gateway_link($1, 'orders', 'order_1') as link", [key])).link;
  expect(await link('key_test_1')).toBe('https://gateway.test/test/orders/order_1');
  expect([await link('key_local'), await link(null)]).toEqual([null, null]);
  await expect(database.query("update billing.settings set gateway_dashboard = 'http://gateway.test/{id}'")).rejects
    .toMatchObject({ code: '23514' });
  await database.query('update billing.settings set gateway_dashboard = null');
  expect(await link('key_test_1')).toBeNull();
});

test('billing.webhooks, billing.messages and billing.customer_payments name the customer', async () => {
  const order = await placeOrder(database);
  const body = paymentFailed({ ...paymentOf(order), error_description: 'Card declined' });
  await deliver(service, body);
  const of = { user_id: order.user.id };
  expect(await database.one("select * from billing.webhooks where body_sha256 = decode($1, 'hex')", [sha256(body)]))
    .toMatchObject({ ...of, email: order.user.email, event: 'payment.failed', deliveries: 1, outcome: 'applied' });
  expect(await database.one('select * from billing.messages where recipient = $1', [order.user.email]))
    .toMatchObject({ ...of, kind: 'payment-failed', state: 'queued', next_attempt_at: expect.any(Date) });
  expect(await database.one('select * from billing.customer_payments where user_id = $1', [order.user.id]))
    .toMatchObject({ ...of, status: 'failed', attempts: '1', last_error: 'Card declined', kind: 'order' });
});
