import { describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import {
  changeEnvelope,
  disputeEvent,
  gatewayEvent,
  orderPaid,
  paymentCaptured,
  refundEvent,
} from '../helpers/gateway/events.ts';
import type { Fields, RefundFields } from '../helpers/gateway/events.ts';
import { permutations } from '../helpers/orderings/permutations.ts';
import type { CustomerOrder } from '../helpers/records/customer.ts';
import { paymentOf, placeOrder, readPurchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readPayment } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';
import { endAccess } from '../helpers/records/support-actions.ts';
import { months } from '../helpers/records/time.ts';

// One dispute is about the second payment on an order, and one is lost. Refunds that failed are not repeated.
const findings = { paid_twice: 1, dispute_lost: 1, refund_failed: 9 };
const database = useDatabase({ at: '2026-06-15T00:00:00Z', findings });
const customer = useCustomer(database);

const active = 'pro: pro active to 2027-01-01';
const ended = 'free: pro cancelled to 2027-01-01';
const order = (of = customer) => of.order('pro', { at: '01-01' });
const buy = (of = customer) => of.buy('pro', { at: '01-01' });
const refundedAmount = async (payment: CustomerOrder) => (await payment.row()).refunded_amount;
/** What the mails to an address about an end say was refunded. */
const endedMails = async (email: string | null | undefined) => (await database.query(
  `select payload -> 'amount' as amount, payload -> 'currency' as currency from billing.outbox
     where kind = 'subscription-ended' and payload ->> 'to' = $1`,
  [email],
));
const refundable = async ({ paymentId }: CustomerOrder) =>
  (await database.one('select refundable_amount from billing.customer_payments where gateway_payment_id = $1', [
    paymentId,
  ])).refundable_amount;

function refundOf(payment: CustomerOrder, amount?: number) {
  const id = uniqueId('rfnd');
  return (status: NonNullable<RefundFields['status']>) => payment.refund(amount, { id, status });
}

describe('a refund', () => {
  test('of a part changes no access; several add up, each counted once by its id', async () => {
    const pro = await buy();
    const before = await readPurchase(database, pro);
    const first = { id: uniqueId('rfnd') };
    expect(await pro.refund(60000, first)).toBe('applied');
    expect(await pro.refund(60000, first)).toBe('already');
    expect(await pro.refund(39899)).toBe('applied');
    expect(await refundedAmount(pro)).toBe('99899');
    const mails = [expect.anything(), `payment-refunded/${first.id}`, expect.stringMatching(/^payment-refunded/)];
    expect(await readPurchase(database, pro)).toEqual({ ...before, mails });
    expect(await pro.verify()).toMatchObject({ outcome: 'already_applied' });
  });

  test('that reaches the full amount ends access: status, reason, time, profile and its history', async () => {
    const pro = await buy();
    await pro.refund(40000);
    await database.at('01-05');
    expect(await pro.refund(59900)).toBe('applied');
    expect(await customer.state()).toBe(ended);
    expect(await pro.row()).toMatchObject({ status: 'captured', fulfilled_at: expect.any(Date) });
    const about = await database.one(
      `select ended_reason, cancelled_at, from_tier, to_tier, reference from public.subscriptions
       join billing.tier_changes using (user_id) where user_id = $1 and cause = 'refund.processed'`,
      [customer.id],
    );
    const change = { from_tier: 'pro', to_tier: 'free', reference: pro.orderId };
    expect(about).toEqual({ ended_reason: 'refunded', cancelled_at: new Date('2026-01-05T00:00:00Z'), ...change });
  });

  test('without an id, a usable amount or a known status is ignored, and so is an entity that is none', async () => {
    const pro = await buy();
    const amounts = [undefined, null, '99900', 1.5, {}, -99900].map((amount) => ({ amount }));
    const bodies = [...amounts, { id: undefined }, { status: 'reversed' }].map((fields) =>
      refundBody('processed', fields, pro)
    );
    for (const entity of [undefined, 'rfnd_1']) {
      bodies.push(changeEnvelope(gatewayEvent('refund.processed', {}), { payload: { refund: { entity } } }));
    }
    for (const body of bodies) expect(await database.send(body)).toBe('ignored: refund.entity');
    expect([await customer.state(), await refundedAmount(pro)]).toEqual([active, '0']);
  });

  test('without a status takes it from the name of its event, and without a payment id the payment of its event', async () => {
    const pro = await buy();
    const refund = { id: uniqueId('rfnd'), status: undefined, payment_id: undefined };
    for (const [name, state] of [['created', active], ['processed', ended], ['failed', active]] as const) {
      await database.send(refundBody(name, refund, pro));
      expect(await customer.state(), name).toBe(state);
    }
  });

  test('of 0 of a payment of 0 is recorded and ends no access', async () => {
    const free = await placeOrder(database, { user: customer, amount: 0 });
    await verifyPurchase(database.service, free);
    expect(await database.send(refundEvent(paymentOf(free), 0))).toBe('applied');
    expect(await customer.tier()).toBe('pro');
  });

  test('of a deleted user’s payment is recorded', async () => {
    const pro = await buy();
    await database.query('delete from auth.users where id = $1', [customer.id]);
    expect(await pro.refund()).toBe('applied');
    expect(await refundedAmount(pro)).toBe('99900');
  });
});

describe('a full refund before the capture', () => {
  const paid = (pro: CustomerOrder) => database.send(orderPaid({ id: pro.paymentId }, { id: pro.orderId }));

  test.each<[string, (pro: CustomerOrder) => Promise<unknown>, ...string[]]>([
    ['payment.captured', (pro) => pro.capture(), 'applied', 'already'],
    ['order.paid', paid, 'applied', 'already'],
    ['verify', async (pro) => (await pro.verify()).outcome, 'refunded', 'refunded'],
  ])('is never fulfilled by %s', async (_, act, ...outcomes) => {
    const pro = await order();
    expect(await pro.refund()).toBe('applied');
    const nothing = {
      isFulfilled: false,
      subscription: null,
      tier: 'free',
      mails: [expect.stringMatching(/^payment-refunded/)],
    };
    for (const outcome of outcomes) {
      expect(await act(pro)).toBe(outcome);
      expect(await readPurchase(database, pro)).toEqual({ status: 'captured', paymentId: pro.paymentId, ...nothing });
    }
    expect(await pro.verify()).toEqual({ outcome: 'refunded' });
    expect(await customer.findings()).toEqual([]);
  });

  test('in two parts is never fulfilled, one of a part is', async () => {
    for (const [parts, state] of [[[50000, 49900], 'free: none'], [[99899], active]] as const) {
      const other = await database.customer();
      const pro = await order(other);
      for (const part of parts) await pro.refund(part);
      await pro.capture();
      expect(await other.state()).toBe(state);
    }
  });

  test('of one attempt leaves the next one on the order', async () => {
    const pro = await order();
    await database.send(refundEvent({ id: uniqueId('pay'), order_id: pro.orderId }, 99900));
    await pro.capture();
    expect(await readPurchase(database, pro)).toMatchObject({ paymentId: pro.paymentId, tier: 'pro' });
    expect(await refundedAmount(pro)).toBe('0');
    expect(await pro.refund()).toBe('applied');
    expect(await customer.state()).toBe(ended);
  });
});

test.each([['before', true], ['after', false]])(
  'a gateway subscription activated %s the refund of its purchase gives no access until it is charged',
  async (_, isFirst) => {
    const pro = await buy();
    await database.at('06-01');
    const steps = [() => customer.event('activated', '06-01'), () => pro.refund()];
    for (const step of isFirst ? steps : steps.reverse()) expect(await step()).toBe('applied');
    expect(await customer.subscription()).toMatchObject({ gateway_subscription_id: customer.gatewayId });
    expect(await customer.state()).toBe('free: pro active to 2026-06-01');
    await customer.event('charged', '06-01', months(6));
    expect(await customer.tier()).toBe('pro');
  },
);

describe('a full refund', () => {
  test('that is pending changes no access, and lets a capture that shows it grant the tier', async () => {
    const pro = await order();
    const send = refundOf(pro);
    expect(await send('pending')).toBe('applied');
    await pro.capture({ amount_refunded: 99900 });
    expect(await send('pending')).toBe('already');
    expect([await customer.state(), await refundedAmount(pro)]).toEqual([active, '0']);
    expect(await pro.verify()).toMatchObject({ outcome: 'already_applied', tier: 'pro' });
  });

  test('that fails after it was processed restores access, with the same period; until then verify returns refunded', async () => {
    const pro = await buy();
    const before = await customer.subscription();
    const send = refundOf(pro);
    await send('processed');
    for (let time = 0; time < 2; time++) expect(await pro.verify()).toEqual({ outcome: 'refunded' });
    expect(await customer.state()).toBe(ended);
    expect(await refundable(pro)).toBe('0');
    expect(await send('failed')).toBe('applied');
    expect(await refundable(pro)).toBe('99900');
    expect(await customer.subscription()).toEqual(before);
    expect(await customer.tier()).toBe('pro');
    expect(await pro.row()).toMatchObject({ refunded_amount: '0', ended_at: null, ended_reason: null });
    expect(await pro.verify()).toMatchObject({ outcome: 'already_applied', tier: 'pro' });
    const mails = (await customer.mails()).map((key) => key.split('/')[0]);
    expect(mails).toEqual(['payment-success', 'subscription-ended']);
    expect(await endedMails(customer.email)).toEqual([{ amount: 99900, currency: 'INR' }]);
  });

  test('of a cycle ends its access, and the mail says what was refunded', async () => {
    await customer.event('activated', '06-01', { planId: 'plan_pro', ...months(6) });
    await customer.charge(months(6), 'pro');
    const id = `pay_${months(6).start.slice(0, 7)}_${customer.gatewayId}`;
    expect(await database.send(refundEvent({ id }, 99900))).toBe('applied');
    expect(await customer.tier()).toBe('free');
    expect(await endedMails(customer.email)).toEqual([{ amount: 99900, currency: 'INR' }]);
  });

  test('that fails after the capture arrived fulfils the capture', async () => {
    const pro = await order();
    const send = refundOf(pro);
    await send('processed');
    await pro.capture();
    expect(await customer.state()).toBe('free: none');
    expect(await send('failed')).toBe('applied');
    expect(await customer.state()).toBe(active);
  });

  test.each([
    [['pending', 'processed'] as const, ended],
    [['pending', 'processed', 'failed'] as const, active],
  ])('gives the same result in every order of its events %j', async (statuses, end) => {
    for (const sequence of permutations([...statuses])) {
      const other = await database.customer();
      const send = refundOf(await buy(other));
      for (const status of sequence) await send(status);
      for (const status of sequence) expect(await send(status), sequence.join()).toBe('already');
      expect(await other.state(), sequence.join()).toBe(end);
    }
  });
});

describe('a dispute', () => {
  test.each(['won', 'lost', 'closed'])(
    'that ends %s is not opened by an event of that second, and changes no access',
    async (end) => {
      const pro = await buy();
      const before = await readPurchase(database, pro);
      const outcomes = [];
      for (const status of ['open', 'under_review', 'under_review', end]) outcomes.push(await dispute(pro, status));
      expect(outcomes).toEqual(['applied', 'applied', 'already', 'applied']);
      for (const late of ['open', 'under_review']) expect(await dispute(pro, late)).toBe('stale');
      expect(await dispute(pro, end)).toBe('already');
      expect(await pro.row()).toMatchObject({ dispute_status: end });
      expect(await readPurchase(database, pro)).toEqual(before);
    },
  );

  test('without a status or an entity is ignored; without a payment entity it finds the payment by its payment_id', async () => {
    const pro = await buy();
    for (const status of [undefined, null, 7, {}]) {
      expect(await dispute(pro, status)).toBe('ignored: dispute.entity.status');
    }
    expect(await database.send(gatewayEvent('payment.dispute.won', {}))).toBe('ignored: dispute.entity');
    expect(await pro.row()).toMatchObject({ dispute_status: null });
    const body = gatewayEvent('payment.dispute.created', { dispute: { payment_id: pro.paymentId } });
    expect(await database.send(body)).toBe('applied');
    expect(await pro.row()).toMatchObject({ dispute_status: 'open' });
  });

  test('about an extra payment on the order does not change the payment that counts', async () => {
    const pro = await buy();
    await pro.capture();
    const extra = { id: uniqueId('pay'), order_id: pro.orderId };
    await database.send(paymentCaptured(extra));
    expect(await database.send(disputeEvent('created', 'open', extra))).toBe('applied');
    expect(await database.send(disputeEvent('created', 'open', { ...extra, id: uniqueId('pay') }))).toBe('unmatched');
    expect(await pro.row()).toMatchObject({ dispute_status: null });
  });

  test('that is lost is a finding until an admin ends the payment’s access, which is final', async () => {
    const pro = await buy();
    await dispute(pro, 'open');
    expect(await customer.findings()).toEqual([]);
    await pro.dispute('lost');
    expect(await customer.findings()).toEqual([`dispute_lost ${pro.id}`]);
    expect(await customer.state()).toBe(active);

    await endAccess(database, pro.id);
    await expect(endAccess(database, pro.id)).rejects.toMatchObject({ code: 'PS409' });
    expect(await customer.findings()).toEqual([]);
    expect(await pro.row()).toMatchObject({ ended_reason: 'dispute_lost', dispute_status: 'lost' });
    expect(await database.one('select ended_reason from public.subscriptions where user_id = $1', [customer.id]))
      .toEqual({ ended_reason: 'dispute_lost' });
    expect(await pro.verify()).toMatchObject({ outcome: 'already_applied' });
    expect(await customer.state()).toBe(ended);
  });
});

test('a capture, a refund and a dispute of an unknown order are unmatched, and applied when the order is inserted', async () => {
  const buyer = await database.customer();
  for (const [of, part, tier] of [[customer, 100, 'pro'], [buyer, 99900, 'free']] as const) {
    const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
    for (const body of [paymentCaptured(money), refundEvent(money, part), disputeEvent('created', 'open', money)]) {
      expect(await database.send(body)).toBe('unmatched');
    }
    const { id } = await createPayment(database, { userId: of.id, orderId: money.order_id });
    const stored = { status: 'captured', refunded_amount: `${part}` };
    expect(await readPayment(database, id)).toMatchObject(stored);
    // The dispute names the payment alone: the sweep applies it.
    await database.sweep();
    expect(await readPayment(database, id)).toMatchObject({ ...stored, dispute_status: 'open' });
    expect(await of.tier()).toBe(tier);
  }
});

const dispute = (payment: CustomerOrder, status: unknown) =>
  database.send(disputeEvent(typeof status === 'string' ? status : 'created', status, paymentOf(payment)));

function refundBody(name: string, refund: Fields, payment: CustomerOrder): string {
  const entities = { refund: { payment_id: payment.paymentId, ...refund }, payment: paymentOf(payment) };
  return gatewayEvent(`refund.${name}`, entities);
}
