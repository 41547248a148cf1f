import { describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { disputeEvent, type Fields, paymentCaptured, refundEvent } from '../helpers/gateway/events.ts';
import { permutations } from '../helpers/orderings/permutations.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { actAsOwner, endAccess } from '../helpers/records/support-actions.ts';
import { months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);

const price = 99900;
const active = 'pro: pro active to 2027-01-01';
const ended = 'free: pro cancelled to 2027-01-01';
const buy = async () => {
  const order = await customer.buy('pro', { at: '01-01', start: 'now' });
  await order.capture();
  return order;
};
/** Delivers an event of a dispute at a second of 2 January. @returns the outcome */
const dispute = (payment: string, id: string | undefined, second: number, status: string, fields: Fields = {}) =>
  database.send(disputeEvent(
    status === 'open' ? 'created' : status,
    status,
    { id: payment },
    { id, amount: price, ...fields },
    { createdAt: new Date(Date.UTC(2026, 0, 2, 0, 0, second)).toISOString() },
  ));
const status = async (payment: string) =>
  (await database.one('select dispute_status from public.payments where gateway_payment_id = $1', [payment]))
    .dispute_status;
const kept = async (payment: string) =>
  Number(
    (await database.one('select billing.kept(p) as kept from public.payments p where gateway_payment_id = $1', [
      payment,
    ]))
      .kept,
  );
const lifetime = async () =>
  (await database.one('select lifetime_amounts from billing.customers where user_id = $1', [customer.id]))
    .lifetime_amounts;
const disputesOf = async (payment: string) =>
  (await database.query(
    `select concat_ws(' ', dispute_id, phase, amount, amount_deducted, status) as text
    from billing.disputes where gateway_payment_id = $1 order by dispute_id`,
    [payment],
  )).map(({ text }) => text);
const refundable = async (payment: string) =>
  Number(
    (await database.one(
      'select refundable_amount as left from billing.customer_payments where gateway_payment_id = $1',
      [payment],
    )).left,
  );
const credit = async () =>
  Number(Object((await database.rpc('preview_change', customer.id, 'premium', 'now')).change).credit);

test('a lost one is a finding until the time that its payment paid for is over, also while the next cycle runs', async () => {
  const findings = async (at: string) => {
    await database.at(at);
    return await customer.findings();
  };
  await customer.bill(months(1), 'pro');
  await dispute(`pay_${months(1).start.slice(0, 7)}_${customer.gatewayId}`, uniqueId('disp'), 1, 'lost');
  expect(await findings('01-31')).toEqual([`dispute_lost pay_2026-01_${customer.gatewayId}`]);
  await customer.bill(months(2), 'pro');
  expect([await customer.tier(), await findings('02-02')]).toEqual(['pro', []]);
});

test('nor is one of a purchase that is over', async () => {
  await (await buy()).dispute('lost');
  await database.sweep('2027-02-01');
  expect([await customer.tier(), await customer.findings()]).toEqual(['free', []]);
});

describe('the newest event of a dispute counts', () => {
  test('won, then lost in pre-arbitration: a finding, and nothing is kept', async () => {
    const { id, paymentId: payment } = await buy();
    const first = uniqueId('disp');
    expect(await dispute(payment, first, 1, 'open')).toBe('applied');
    expect(await dispute(payment, first, 2, 'won')).toBe('applied');
    expect([await status(payment), await kept(payment), await customer.findings()]).toEqual(['won', price, []]);
    const again = { phase: 'pre_arbitration' };
    expect(await dispute(payment, first, 3, 'under_review', again)).toBe('applied');
    expect(await dispute(payment, first, 4, 'lost', { ...again, amount_deducted: price })).toBe('applied');
    expect([await status(payment), await kept(payment), await lifetime()]).toEqual(['lost', 0, { INR: 0 }]);
    expect(await customer.findings()).toEqual([`dispute_lost ${id}`]);
    expect(await disputesOf(payment)).toEqual([`${first} pre_arbitration ${price} ${price} lost`]);
    expect([await customer.state(), await refundable(payment)]).toEqual([active, 0]);
  });

  test('a retrieval that was closed, then a chargeback of another id that was lost', async () => {
    const { id, paymentId: payment } = await buy();
    await dispute(payment, 'disp_retrieval', 1, 'closed', { phase: 'retrieval' });
    expect([await status(payment), await kept(payment)]).toEqual(['closed', price]);
    await dispute(payment, 'disp_chargeback', 2, 'open');
    await dispute(payment, 'disp_chargeback', 3, 'lost');
    expect([await status(payment), await kept(payment)]).toEqual(['lost', 0]);
    expect(await customer.findings()).toEqual([`dispute_lost ${id}`]);
  });

  test('lost, then won: the payment is kept again, and the finding is gone', async () => {
    const { id, paymentId: payment } = await buy();
    await dispute(payment, 'disp_back', 1, 'lost', { amount_deducted: price });
    expect(await customer.findings()).toEqual([`dispute_lost ${id}`]);
    await dispute(payment, 'disp_back', 2, 'won', { amount_deducted: 0 });
    expect([await status(payment), await kept(payment), await lifetime()]).toEqual(['won', price, { INR: price }]);
    expect(await customer.findings()).toEqual([]);
  });

  test('without an id it is the one dispute of its payment', async () => {
    const { paymentId: payment } = await buy();
    for (const [second, each] of ['open', 'lost', 'won'].entries()) await dispute(payment, undefined, second, each);
    expect(await disputesOf(payment)).toEqual([`${payment} chargeback ${price} won`]);
  });

  const named = uniqueId('disp');
  test.each([[[undefined, named]], [[`${named}_2`, undefined]], [[undefined, `${named}_3`, undefined]]])(
    'with the ids %j it is one dispute, whose loss counts once',
    async (ids) => {
      const { paymentId: payment } = await buy();
      for (const [second, id] of ids.entries()) await dispute(payment, id, second, 'lost', { amount: 40000 });
      expect([await disputesOf(payment), await kept(payment)]).toEqual([
        [`${ids.join('')} chargeback 40000 lost`],
        59900,
      ]);
    },
  );

  test.each(['an event', 'the statement'])(
    'lost without a time, then won by %s: the payment is kept again',
    async (by) => {
      const [{ paymentId: payment }, id] = [await buy(), uniqueId('disp')];
      await database.at('01-05');
      const lost = { id: payment, amount: price };
      expect(await database.send(disputeEvent('lost', 'lost', lost, { id }, { createdAt: null }))).toBe(
        'applied',
      );
      expect([await kept(payment), await dispute(payment, id, 1, 'open')]).toEqual([0, 'stale']);
      await database.at('01-06');
      const won = { id, payment_id: payment, amount: price, status: 'won' };
      if (by === 'the statement') await database.rpc('apply_statement_item', 'disputes', JSON.stringify(won));
      else await database.send(disputeEvent('won', 'won', lost, won, { createdAt: '2026-01-05T00:00:01Z' }));
      expect([await kept(payment), await customer.findings()]).toEqual([price, []]);
    },
  );
});

describe('a part that was lost', () => {
  test('100.00 of 999.00 leaves the rest: access, credit, lifetime, revenue and what can be refunded', async () => {
    const { id, paymentId: payment } = await buy();
    await database.at('01-02');
    const before = await credit();
    await dispute(payment, 'disp_part', 1, 'lost', { amount: 10000, amount_deducted: 10000 });
    expect([await kept(payment), await refundable(payment)]).toEqual([89900, 89900]);
    expect([await lifetime(), await customer.state()]).toEqual([{ INR: 89900 }, active]);
    expect(before - await credit()).toBeCloseTo(10000 * 364 / 365, -1);
    await database.query('select billing.run_passes()');
    expect(await database.one("select sum(refunded)::int as lost from billing.revenue_monthly where currency = 'INR'"))
      .toEqual({ lost: 10000 });
    // An admin ends the finding with a note, and access stays.
    await database.at('01-03');
    expect(await customer.findings()).toEqual([`dispute_lost ${id}`]);
    await actAsOwner(database, { action: 'note', reference: payment, email: customer.email });
    expect([await customer.findings(), await customer.state()]).toEqual([[], active]);
  });

  test('adds up over two disputes and a refund, and is never more than was paid', async () => {
    const { paymentId: payment } = await buy();
    await dispute(payment, 'disp_one', 1, 'open', { amount: 60000 });
    await dispute(payment, 'disp_two', 2, 'open', { amount: 20000 });
    expect([await kept(payment), await status(payment)]).toEqual([price, 'open']);
    await dispute(payment, 'disp_two', 3, 'lost', { amount: 20000, amount_deducted: 15000 });
    expect(await kept(payment)).toBe(price - 15000);
    await dispute(payment, 'disp_one', 4, 'lost', { amount: 60000 });
    expect(await kept(payment)).toBe(price - 75000);
    await database.send(refundEvent({ id: payment }, 30000));
    expect([await kept(payment), await lifetime()]).toEqual([0, { INR: 0 }]);
    // Refunds and losses are no more than what was paid: it is refunded in full.
    await database.query('select billing.run_passes()');
    expect(await database.one("select sum(refunded)::int as lost from billing.revenue_monthly where currency = 'INR'"))
      .toEqual({ lost: price });
    expect(await customer.state()).toBe(ended);
    await dispute(payment, 'disp_one', 5, 'won', { amount: 60000 });
    expect(await customer.state()).toBe(active);
  });

  test.each(['before', 'after'])('%s the refund of the rest: the access of the purchase ends', async (when) => {
    const { paymentId: payment, refund } = await buy();
    const lose = () => dispute(payment, uniqueId('disp'), 1, 'lost', { amount: 10000, amount_deducted: 10000 });
    if (when === 'before') {
      await lose();
      const { amount, result } = await actAsOwner(database, { action: 'refund', reference: payment });
      expect([amount, result]).toEqual([
        '89900',
        expect.stringMatching(/Its access ends when the refund is processed/),
      ]);
    }
    await refund(89900);
    if (when === 'after') {
      expect(await customer.state()).toBe(active);
      await lose();
    }
    expect([await kept(payment), await customer.state()]).toEqual([0, ended]);
    expect(await customer.findings()).toEqual([]);
  });

  test.each(['before', 'after'])('%s the refund of the rest: the paid time of the cycle ends', async (when) => {
    const cycle = months(1);
    await customer.bill(cycle, 'pro');
    const payment = `pay_${cycle.start.slice(0, 7)}_${customer.gatewayId}`;
    const acts = [
      () => dispute(payment, uniqueId('disp'), 1, 'lost', { amount: 10000, amount_deducted: 10000 }),
      () => database.send(refundEvent({ id: payment, amount: price }, 89900)),
    ];
    for (const act of when === 'before' ? acts : acts.reverse()) {
      expect(await customer.tier()).toBe('pro');
      await act();
    }
    expect([await kept(payment), await customer.tier()]).toEqual([0, 'free']);
  });
});

describe('a lost dispute whose access an admin ended, and that is reversed, gives the paid time back', () => {
  const reverse = async (payment: string) => {
    const id = uniqueId('disp');
    await dispute(payment, id, 1, 'lost', { amount_deducted: price });
    await database.at('01-03');
    await endAccess(database, payment);
    const lost = await customer.state();
    await dispute(payment, id, 2, 'won', { amount_deducted: 0 });
    return [lost, await customer.state(), await customer.findings()];
  };

  test('of a purchase', async () => {
    const { paymentId } = await buy();
    expect(await reverse(paymentId)).toEqual([ended, active, []]);
  });

  test('of a purchase on credit, which replaces again what it was credited with', async () => {
    await buy();
    const premium = await customer.buy('premium', { at: '01-02', start: 'now' });
    await premium.capture();
    expect(await reverse(premium.paymentId)).toEqual([active, 'premium: premium active to 2027-01-02', []]);
    expect((await customer.sources())[0]).toBe('payment pro to 2027-01-01 replaced');
  });
});

describe('a dispute before its payment is known', () => {
  test('of an order counts when the payment is captured', async () => {
    const order = await customer.order('pro', { at: '01-01' });
    expect(await dispute(order.paymentId, 'disp_early', 1, 'lost')).toBe('unmatched');
    await order.capture();
    await database.sweep();
    expect([await status(order.paymentId), await kept(order.paymentId)]).toEqual(['lost', 0]);
    expect(await customer.findings()).toEqual([`dispute_lost ${order.id}`]);
  });

  test('of a further payment on an order counts for that payment alone', async () => {
    const order = await buy();
    const extra = { id: uniqueId('pay'), order_id: order.orderId };
    expect(await dispute(extra.id, 'disp_extra', 1, 'lost')).toBe('unmatched');
    await database.send(paymentCaptured(extra));
    await database.sweep();
    expect([await kept(extra.id), await kept(order.paymentId)]).toEqual([0, price]);
    // The other payment counts for the order after the refund: each keeps its own disputes.
    await order.refund();
    expect([await status(extra.id), await status(order.paymentId)]).toEqual(['lost', null]);
  });

  test('of a charge counts when the charge arrives, whatever order its payment names', async () => {
    await customer.event('activated', '01-01', { planId: 'plan_pro', ...months(1) });
    const payment = uniqueId('pay');
    const early = disputeEvent('lost', 'lost', { id: payment, order_id: uniqueId('order') });
    expect(await database.send(early)).toBe('unmatched');
    await customer.charge(months(1), 'pro', { payment: { id: payment, amount: price } });
    await database.sweep();
    expect([await status(payment), await kept(payment)]).toEqual(['lost', 0]);
    expect(await customer.findings()).toEqual([`dispute_lost ${payment}`]);
    expect(await database.one('select outcome from billing.gateway_events where subject_id = $1', [payment]))
      .toEqual({ outcome: 'already' });
  });
});

test('reordered and repeated events end the same', async () => {
  const ends = new Set<string>();
  for (const order of permutations(['retrieval', 'open', 'won', 'lost', 'capture'])) {
    const bought = await customer.order('pro', { at: '01-01' });
    const { paymentId: payment } = bought;
    const [first, second] = [`disp_1_${payment}`, `disp_2_${payment}`];
    const send: Record<string, () => Promise<unknown>> = {
      retrieval: () => dispute(payment, first, 1, 'closed', { phase: 'retrieval' }),
      open: () => dispute(payment, second, 2, 'open', { amount: 50000 }),
      won: () => dispute(payment, second, 3, 'won', { amount: 50000 }),
      lost: () => dispute(payment, second, 3, 'lost', { amount: 50000, amount_deducted: 40000 }),
      capture: () => bought.capture(),
    };
    for (const step of [...order, ...order]) await send[step]?.();
    const rows = (await disputesOf(payment)).join().replaceAll(payment, '');
    ends.add(`${rows}: ${await status(payment)} ${await kept(payment)}`);
    await database.query('delete from public.payments where gateway_payment_id = $1', [payment]);
  }
  expect([...ends]).toEqual([
    `disp_1_ retrieval ${price} closed,disp_2_ chargeback 50000 40000 lost: lost ${price - 40000}`,
  ]);
});

test('a lost dispute about what a refund left ends access, and the mail does not say that the refund did', async () => {
  const order = await buy();
  await database.send(refundEvent({ id: order.paymentId, order_id: null }, 20000));
  for (const [index, end] of ['open', 'lost'].entries()) await dispute(order.paymentId, 'disp_left', index, end);
  const [mail] = await database.query("select payload from billing.outbox where kind = 'subscription-ended'");
  expect(await customer.tier()).toBe('free');
  expect(mail?.payload).toMatchObject({ plan_name: 'Pro', next_charge: null });
  expect(mail?.payload).not.toHaveProperty('amount');
});

test('nor does it name the refund of an earlier cycle', async () => {
  for (const [month, id] of [[1, 'pay_january'], [2, 'pay_february']] as const) {
    await customer.event('charged', months(month).start, {
      planId: 'plan_pro',
      ...months(month),
      payment: { id, amount: price },
    });
    await database.send(refundEvent({ id, order_id: null }, 20000));
  }
  await database.at('02-10');
  for (const [index, end] of ['open', 'lost'].entries()) await dispute('pay_february', 'disp_february', index, end);
  const [mail] = await database.query("select payload from billing.outbox where kind = 'subscription-ended'");
  expect(mail?.payload).toMatchObject({ plan_name: 'Pro' });
  expect(mail?.payload).not.toHaveProperty('amount');
});
