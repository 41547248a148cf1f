import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { paymentFailed, refundEvent } from '../helpers/gateway/events.ts';
import { alertsAbout, applyOrderPayments, listed } from '../helpers/gateway/reconciliation.ts';
import type { CustomerOrder } from '../helpers/records/customer.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { grantTier } from '../helpers/records/support-actions.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);
const successMails = async () => (await customer.mails()).filter((key) => key.startsWith('payment-success'));

describe('two payments on an order', () => {
  let one: CustomerOrder;
  let two: CustomerOrder;
  beforeEach(async () => {
    one = await customer.order('pro');
    two = customer.again(one);
  });

  /** The payments that do not count: `two refunded 99900`. */
  const extras = async () =>
    (await database.query('select * from public.payments where extra_of = $1', [one.id])).map((row) =>
      `${row.gateway_payment_id === one.paymentId ? 'one' : 'two'} refunded ${row.refunded_amount}`
    );
  const counts = async () => (await one.row()).gateway_payment_id === one.paymentId ? 'one' : 'two';

  test('the one that does not count is a finding until it is refunded in full, which changes no access', async () => {
    await one.capture();
    const before = await one.row();
    await two.capture();
    const finding = [`paid_twice ${two.paymentId}`];
    expect(await customer.findings()).toEqual(finding);
    const which = { id: uniqueId('rfnd') };
    for (const outcome of ['applied', 'already']) expect(await two.refund(99899, which)).toBe(outcome);
    expect([await customer.findings(), await extras()]).toEqual([finding, ['two refunded 99899']]);
    // An event may name no order.
    await database.send(refundEvent({ id: two.paymentId }, 1));
    expect([await customer.findings(), await extras()]).toEqual([[], ['two refunded 99900']]);
    await database.query('update billing.gateway_events set payload = null');
    expect(await customer.findings()).toEqual([]);
    expect(await one.row()).toEqual(before);
    expect(await customer.tier()).toBe('pro');
  });

  test.each(['one', 'two'])(
    'of three a captured one follows the one that counts and is refunded, not one verified before: %s',
    async (first) => {
      const third = customer.again(one);
      const [counted, verified] = first === 'one' ? [one, two] : [two, one];
      await counted.capture();
      await verified.verify();
      await third.capture();
      await counted.refund();
      expect(await one.row()).toMatchObject({ gateway_payment_id: third.paymentId });
      expect(await customer.tier()).toBe('pro');
      // Both are owed.
      expect(await customer.findings()).toEqual([`paid_twice ${verified.paymentId}`]);
    },
  );

  test.each(['verified first', 'verified later'])('a captured one counts before one %s', async (order) => {
    const steps = [() => one.verify(), () => two.capture()];
    for (const step of order === 'verified first' ? steps : steps.reverse()) await step();
    expect(await one.row())
      .toMatchObject({ gateway_payment_id: two.paymentId, gateway_signature: null, confirmed_at: expect.any(Date) });
    expect(await extras()).toEqual(['one refunded 0']);
    expect(await successMails()).toEqual([`payment-success/${one.id}`]);
    expect(await one.capture()).toBe('already');
    expect(await counts()).toBe('two');
    expect(await customer.findings()).toEqual([`paid_twice ${one.paymentId}`]);
    await one.refund();
    expect(await customer.findings()).toEqual([]);
    expect(await customer.tier()).toBe('pro');
  });

  test('each is told to the app once, also when the other one counts instead', async () => {
    await database.set('events = true');
    await one.verify();
    await two.capture();
    const told = await database.query(
      `select o.payload #>> '{data,gateway_payment_id}' as id from billing.outbox o
       where o.kind = 'payment.captured' order by o.id`,
    );
    expect(told.map(({ id }) => id)).toEqual([one.paymentId, two.paymentId]);
    await database.set('events = false');
  });

  test('a refund of the one that counts lets the other one count, and changes no access', async () => {
    await one.verify();
    await one.capture();
    await two.capture();
    const before = await customer.state();
    expect(await one.refund()).toBe('applied');
    const second = { gateway_payment_id: two.paymentId, gateway_signature: null, confirmed_at: expect.any(Date) };
    expect(await one.row()).toMatchObject({ ...second, refunded_amount: '0' });
    expect(await extras()).toEqual(['one refunded 99900']);
    expect(await customer.state()).toBe(before);
    expect(await customer.mails()).toEqual([`payment-success/${one.id}`]);
    expect(await two.refund()).toBe('applied');
    expect(await customer.tier()).toBe('free');
  });

  test.each(['capture', 'verify'] as const)('after a refund of one the %s of two grants it again', async (way) => {
    await one.capture();
    await one.refund();
    expect(await customer.tier()).toBe('free');
    await two[way]();
    expect(await customer.tier()).toBe('pro');
    const { period_start, period_end } = await one.row();
    const row = await customer.row();
    const period = { current_period_start: period_start, current_period_end: period_end };
    expect(row).toMatchObject({ status: 'active', ended_reason: null, ...period });
    const ended = expect.stringMatching(/^subscription-ended\//);
    expect(await customer.mails()).toEqual([`payment-success/${one.id}`, ended]);
  });

  test('one that was refunded before its capture does not count before one that is only verified', async () => {
    await one.verify();
    await two.refund();
    await two.capture();
    expect([await counts(), await customer.tier()]).toEqual(['one', 'pro']);
  });

  test('one that was refunded does not count after a refund of the other one', async () => {
    await one.capture();
    await two.capture();
    await two.refund();
    await one.refund();
    expect([await counts(), await customer.tier()]).toEqual(['one', 'free']);
  });

  test('one that is known only by its refund never counts', async () => {
    await one.capture();
    await two.refund(1);
    await one.refund();
    expect(await counts()).toBe('one');
    expect(await customer.tier()).toBe('free');
  });

  test('verify stores the signature of the one that a webhook had captured, and of no other', async () => {
    await one.capture();
    await two.verify();
    expect(await one.row()).toMatchObject({ gateway_signature: null });
    await one.verify();
    expect(await one.row()).toMatchObject({ gateway_signature: 'signature' });
  });

  test('the verification of the other one is an act of the customer, too: the purchase ranks above a gift', async () => {
    await one.capture();
    await grantTier(database, customer.email, 'basic', '2026-12-31Z', 'thanks');
    expect(await customer.tier()).toBe('basic');
    await two.verify();
    expect(await customer.tier()).toBe('pro');
  });

  test('the verification of one that was refunded is no such act', async () => {
    await one.capture();
    await two.capture();
    await two.refund();
    await grantTier(database, customer.email, 'basic', '2026-12-31Z', 'thanks');
    await two.verify();
    expect(await customer.tier()).toBe('basic');
  });

  test('one that was only verified is reconciled when it counts', async () => {
    await one.capture();
    await two.verify();
    await database.query('update public.payments set next_reconcile_at = null where id = $1', [one.id]);
    await one.refund();
    const due = { confirmed_at: null, next_reconcile_at: expect.any(Date) };
    expect(await one.row()).toMatchObject({ gateway_payment_id: two.paymentId, ...due });
  });
});

describe('a verified payment that is never captured', () => {
  let order: CustomerOrder;
  beforeEach(async () => {
    order = await customer.buy('pro', { at: '01-01' });
  });
  const apply = (answer: unknown[] | null) => applyOrderPayments(database.service, order, answer);

  test.each<[string, Record<string, unknown>[] | null]>([
    ['a payment that is only authorised', [{ status: 'authorized' }]],
    ['404', null],
  ])('loses access after 120 hours of the answer %s, and gets it by a later capture', async (_, fields) => {
    const answer = fields && listed(order, ...fields);
    for (const time of ['2026-01-01T00:15:00Z', '01-03', '2026-01-05T23:59:00Z']) {
      await database.at(time);
      expect(await apply(answer)).toMatchObject({ ended: false });
      expect(await customer.tier()).toBe('pro');
    }
    await database.at('01-06');
    expect(await apply(answer)).toMatchObject({ ended: true });
    expect(await customer.state()).toMatch(/^free: pro cancelled/);
    const ended = { ended_at: new Date('2026-01-06'), ended_reason: 'never_captured', next_reconcile_at: null };
    const before = { fulfilled_at: expect.any(Date), verified_at: new Date('2026-01-01') };
    expect(await order.row()).toMatchObject({ status: 'failed', ...before, ...ended });
    expect(await customer.findings()).toEqual([`never_captured ${order.id}`]);
    expect(await alertsAbout(database, order.orderId)).toEqual([]);
    expect(await apply(answer)).toMatchObject({ ended: false });

    await database.at('01-07');
    expect(await order.capture()).toBe('applied');
    expect(await customer.state()).toBe('pro: pro active to 2027-01-07');
    expect(await order.period()).toBe('2026-01-07 to 2027-01-07');
    expect(await order.row()).toMatchObject({ status: 'captured', ended_at: null, ended_reason: null });
    expect(await customer.findings()).toEqual([]);
    expect(await successMails()).toEqual([`payment-success/${order.id}`]);
  });

  test('gives no access by another verification or a failed attempt, until the gateway captures it', async () => {
    await database.at('01-06');
    await apply([]);
    for (const payment of [order, customer.again(order), order]) {
      expect(await payment.verify()).toEqual({ outcome: 'never_captured' });
      await database.send(paymentFailed({ id: uniqueId('pay'), order_id: order.orderId }));
      expect(await customer.tier()).toBe('free');
      expect(await customer.findings()).toEqual([`never_captured ${order.id}`]);
    }
    expect(await order.row()).toMatchObject({ next_reconcile_at: new Date('2026-01-06') });
    await apply(listed(order, { status: 'captured' }));
    expect(await customer.tier()).toBe('pro');
    expect(await order.verify()).toMatchObject({ outcome: 'already_applied', tier: 'pro' });
  });
});
