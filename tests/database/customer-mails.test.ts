import { describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { disputeEvent, refundEvent, seconds } from '../helpers/gateway/events.ts';
import { applyOrderPayments } from '../helpers/gateway/reconciliation.ts';
import { attempt } from '../helpers/gateway/told.ts';
import { askChange, type Customer, customerOf, type CustomerOrder, subscribe } from '../helpers/records/customer.ts';
import { grantTier } from '../helpers/records/support-actions.ts';
import { day, months } from '../helpers/records/time.ts';

// The mails about an act of a customer, or of the gateway, that changes what will be charged.
const database = useDatabase({ isEmptied: true, findings: { missed_webhook: 'any' } });
const customer = useCustomer(database);

const [june, july] = [months(6), months(7)];
const planId = 'plan_pro';
const [endOfJune, twoDaysBefore] = ['2026-07-01T00:00:00.000Z', '2026-06-29T00:00:00.000Z'];
/** What a mail says of the subscription that `bill` made, where it goes on. */
const goesOn = {
  plan_name: 'Pro',
  valid_until: endOfJune,
  next_charge: { at: endOfJune, amount: 99900, currency: 'INR' },
};

/** Charges the customer for June, and sets the clock to 10 June. */
async function bill(): Promise<void> {
  await customer.event('activated', '06-01', { planId, ...june });
  await customer.charge(june, 'pro', { fields: { charge_at: seconds(day(july.start)) } });
  await database.at('06-10');
}
const cancel = (when: 'at once' | 'at the end' = 'at the end') => customer.cancel(when);
const resume = () => database.rpc('resume_subscription', customer.id);
/** Payloads of the mails of a kind that are not withdrawn, without the recipient. */
async function mails(kind: string): Promise<unknown[]> {
  const rows = await database.query(
    `select payload - 'to' - 'display_name' as payload from billing.outbox
     where kind = $1 and payload ->> 'to' = $2 and last_error is distinct from 'withdrawn' order by id`,
    [kind, customer.email],
  );
  return rows.map(({ payload }) => payload);
}
/** Delivers the mails that wait, as a dispatcher does. */
const send = () =>
  database.query("update billing.outbox set delivered_at = billing.clock() where destination = 'email'");

/** An event of the dispute of a payment: `open` or `lost`. */
const dispute = (id: string, status: string, createdAt: string) =>
  database.send(disputeEvent(status === 'open' ? 'created' : status, status, { id }, {}, { createdAt }));

/** A change for the end of June. */
const change = (tier = 'basic') => askChange(database, customer, tier, 'period_end');
const authorise = (next: Customer, time = '2026-06-10T00:01:00Z', tier = 'basic') =>
  next.event('authenticated', time, { planId: `plan_${tier}`, fields: { charge_at: seconds(day('07-01')) } });

describe('the mail subscription-cancelled', () => {
  const kind = 'subscription-cancelled';
  const atTheEnd = { plan_name: 'Pro', access_ends_at: endOfJune, is_ended: false, resume_until: twoDaysBefore };

  test('names the end of a billed period, and until when the gateway is not told', async () => {
    await bill();
    await cancel();
    expect(await mails(kind)).toEqual([atTheEnd]);
    expect(await customer.subscription()).toMatchObject({ end: endOfJune });
    await cancel();
    expect(await mails(kind)).toHaveLength(1);
    const [{ key, destination }] = await database.query('select key, destination from billing.outbox where kind = $1', [
      kind,
    ]) as [{ key: string; destination: string }];
    const { id } = await database.one('select id from billing.wishes');
    expect([key, destination]).toEqual([`${kind}/${id}`, 'email']);
  });

  const june2027 = '2027-06-10T00:00:00.000Z';
  const buy = (tier: string) => customer.buy(tier, { at: '06-10' });
  const grant = (tier: string, until: string, kind?: 'gift') => grantTier(database, customer.email, tier, until, kind);

  test.each<[string, prepare: () => Promise<unknown>, expected: object, when?: 'at once']>([
    ['can be resumed also while a change waits that nobody authorised', () => bill().then(() => change()), {}],
    ['of a purchase names its end, which is the last time to resume it', () => buy('pro'), {
      ...{ access_ends_at: june2027, resume_until: june2027 },
    }],
    ['of a purchase over a billed subscription does so, too', () => bill().then(() => buy('premium')), {
      ...{ plan_name: 'Premium', access_ends_at: june2027, resume_until: june2027 },
    }],
    ['within two days of the end says no word about resuming', () => bill().then(() => database.at('06-30')), {
      resume_until: null,
    }],
    ['at once names this moment', bill, {
      ...{ access_ends_at: '2026-06-10T00:00:00.000Z', is_ended: true, resume_until: null },
    }, 'at once'],
    ['names no end where other access lasts longer', async () => {
      await bill();
      await grant('basic', '2026-09-01');
      await customer.event('activated', '06-11', { planId, ...june });
      await customer.charge({ start: '2026-06-12', end: '2026-07-12' }, 'pro', { id: 'sub_newer' });
    }, { access_ends_at: null, resume_until: expect.any(String) }],
    ['while a charge is late names the end also beside a grant whose days of grace are over', async () => {
      await bill();
      await grant('basic', '2026-06-29');
      await database.at('2026-07-02T12:00:00Z');
    }, { resume_until: null }],
    ['below a gift is of what is paid, and the gift is what lasts', async () => {
      await bill();
      await grant('premium', '2026-09-01Z', 'gift');
    }, { access_ends_at: '2026-09-01T00:00:00.000Z' }],
  ])('%s, and there is no other mail about the end', async (_, prepare, expected, when) => {
    await prepare();
    await cancel(when);
    expect(await mails(kind)).toEqual([{ ...atTheEnd, ...expected }]);
    expect(await mails('subscription-ended')).toEqual([]);
  });

  test('is withdrawn by a resumption before it is sent; each cancellation has its own', async () => {
    await bill();
    await cancel();
    await resume();
    expect(await mails(kind)).toEqual([]);
    await cancel();
    expect(await mails(kind)).toEqual([atTheEnd]);
    await send();
    await resume();
    await cancel();
    expect(await mails(kind)).toEqual([atTheEnd, atTheEnd]);
  });

  test('for the end of the period is withdrawn by a cancellation at once', async () => {
    await bill();
    await cancel();
    await cancel('at once');
    expect(await mails(kind)).toMatchObject([{ is_ended: true, resume_until: null }]);
  });
});

describe('the mail subscription-resumed', () => {
  const kind = 'subscription-resumed';

  test('names what is charged next, once for each cancellation, and is withdrawn by the next one', async () => {
    await bill();
    await cancel();
    await resume();
    await resume();
    expect(await mails(kind)).toEqual([goesOn]);
    await cancel();
    expect(await mails(kind)).toEqual([]);
    await resume();
    expect(await mails(kind)).toEqual([goesOn]);
  });

  test('names a change that goes on, too', async () => {
    await bill();
    await authorise(await change());
    await cancel();
    await resume();
    const next_charge = { at: endOfJune, amount: 4900, currency: 'INR' };
    expect(await mails(kind)).toEqual([{ ...goesOn, next_plan_name: 'Basic', next_charge }]);
  });

  describe('about the renewal of a purchase', () => {
    const end = '2027-06-10T00:00:00.000Z';
    const ask = async (when: string, payment: string | null = null) => {
      const next = await askChange(database, customer, 'premium', when, { payment });
      expect(next.asked).toMatchObject({ start_at: seconds(end) });
      return (time: string) =>
        next.event('authenticated', time, { planId: 'plan_premium', fields: { charge_at: next.asked.start_at } });
    };
    /** A year of premium from 10 June, with a renewal. @returns what authorises it */
    const upgrade = async () => {
      await bill();
      const premium = await customer.order('premium', { start: 'now' });
      const authoriseIt = await ask('now', premium.id);
      await premium.verify();
      return authoriseIt;
    };

    test('that is made again follows its cancellation, once, and is withdrawn by the next one', async () => {
      const authoriseFirst = await upgrade();
      await authoriseFirst('2026-06-10T00:01:00Z');
      await cancel();
      await database.at('06-11');
      const authoriseIt = await ask('period_end');
      expect(await mails(kind)).toEqual([]);
      for (const time of ['2026-06-11T00:01:00Z', '2026-06-11T00:02:00Z']) await authoriseIt(time);
      const next_charge = { at: end, amount: 199900, currency: 'INR' };
      expect(await mails(kind)).toEqual([{ plan_name: 'Premium', valid_until: end, next_charge }]);
      expect(await mails('subscription-cancelled')).toEqual([]);
      await cancel();
      expect(await mails(kind)).toEqual([]);
      expect(await mails('subscription-cancelled')).toHaveLength(1);
    });

    test('can be resumed until two days before it starts, whatever ends before', async () => {
      const authoriseIt = await upgrade();
      await authoriseIt('2026-06-10T00:01:00Z');
      await cancel();
      const terms = { access_ends_at: end, resume_until: '2027-06-08T00:00:00.000Z' };
      expect(await mails('subscription-cancelled')).toMatchObject([terms]);
      await database.at('2027-06-07');
      expect(await resume()).toMatchObject({ outcome: 'resumed' });
    });

    test('is not sent where nothing was cancelled, nor for what was cancelled before its authorisation', async () => {
      const authoriseFirst = await upgrade();
      await authoriseFirst('2026-06-10T00:01:00Z');
      expect(await mails(kind)).toEqual([]);
      await cancel();
      await database.at('06-11');
      const authoriseIt = await ask('period_end');
      await database.at('06-12');
      await cancel();
      await authoriseIt('2026-06-12T00:01:00Z');
      expect(await mails(kind)).toEqual([]);
    });
  });

  test.each<[string, () => Promise<unknown>]>([
    ['for the end of the period', async () => authorise(await change())],
    ['now', () => customer.buy('premium', { start: 'now' })],
  ])('is withdrawn by a change %s', async (_, act) => {
    await bill();
    await cancel();
    await resume();
    await act();
    expect(await mails(kind)).toEqual([]);
  });

  test('of a purchase names its end', async () => {
    await customer.buy('pro', { at: '06-01' });
    await cancel();
    await resume();
    expect(await mails(kind)).toEqual([{ ...goesOn, valid_until: '2027-06-01T00:00:00.000Z', next_charge: null }]);
  });
});

describe('the mail change-scheduled', () => {
  const kind = 'change-scheduled';
  const scheduled = {
    plan_name: 'Basic',
    amount: 4900,
    currency: 'INR',
    interval: 'month',
    interval_count: 1,
    starts_at: endOfJune,
    undo_until: twoDaysBefore,
  };

  test('is enqueued when the change is authorised, once, and says what the answer says', async () => {
    await bill();
    const next = await change();
    expect(await mails(kind)).toEqual([]);
    await authorise(next);
    await authorise(next, '2026-06-10T00:02:00Z');
    expect(await mails(kind)).toEqual([scheduled]);
    const { key } = await database.one('select key from billing.outbox where kind = $1', [kind]);
    expect(key).toBe(`${kind}/${next.gatewayId}`);
    const { billing } = await database.rpc('get_subscription', customer.id);
    const { amount, currency, starts_at, undo_until } = scheduled;
    expect(billing).toMatchObject({ next: { amount, currency, starts_at, undo_until } });
  });

  test('is followed by one about the change that is undone, until another change or a cancellation', async () => {
    const undone = () => mails('change-undone');
    await bill();
    await authorise(await change());
    await database.rpc('create_change', customer.id, 'pro', 'period_end');
    expect(await undone()).toEqual([goesOn]);
    await database.rpc('create_change', customer.id, 'pro', 'period_end');
    expect(await undone()).toHaveLength(1);
    await authorise(await change('premium'), '2026-06-10T00:03:00Z', 'premium');
    expect(await undone()).toEqual([]);
    await database.rpc('create_change', customer.id, 'pro', 'period_end');
    expect(await undone()).toEqual([goesOn]);
    await cancel();
    expect(await undone()).toEqual([]);
  });

  test('below a gift, too, is followed by the end of what is paid', async () => {
    await bill();
    await authorise(await change());
    await grantTier(database, customer.email, 'premium', '2026-09-01Z', 'gift');
    await database.rpc('create_change', customer.id, 'pro', 'period_end');
    expect(await mails('change-undone')).toMatchObject([{ plan_name: 'Pro', valid_until: endOfJune }]);
    await cancel();
    await resume();
    expect(await mails('subscription-resumed')).toMatchObject([{ plan_name: 'Pro', valid_until: endOfJune }]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['is undone', () => database.rpc('create_change', customer.id, 'pro', 'period_end')],
    ['is cancelled', () => cancel()],
  ])('is withdrawn when the change %s before it is sent', async (_, act) => {
    await bill();
    await authorise(await change());
    await act();
    expect(await mails(kind)).toEqual([]);
  });

  test('about a change that was replaced is withdrawn, and the newer one stays when the gateway cancels the older', async () => {
    await bill();
    const first = await change();
    await authorise(first);
    await authorise(await change('premium'), '2026-06-10T00:03:00Z', 'premium');
    const newer = [expect.objectContaining({ plan_name: 'Premium', amount: 199900 })];
    expect(await mails(kind)).toEqual(newer);
    await first.event('cancelled', '06-12', { planId: 'plan_basic' });
    expect(await mails(kind)).toEqual(newer);
    expect(await mails('change-undone')).toEqual([]);
  });

  test('says what follows the change that waits already, where that one is changed again', async () => {
    await bill();
    const premium = await change('premium');
    await authorise(premium, '2026-06-10T00:01:00Z', 'premium');
    const again = customerOf(database, customer);
    await database.query(
      `insert into billing.gateway_subscriptions (
         user_id, asked_tier, asked_plan_id, asked_gateway_plan_id, asked_price, gateway_subscription_id, expires_at, starts_at, replaces
       )
       select $1, tier, id, gateway_plan_id, billing.price_of(p), $2, billing.clock() + interval '1 day', '2027-07-01', $3
       from public.plans p where tier = 'basic' and lookup_key is null`,
      [customer.id, again.gatewayId, premium.gatewayId],
    );
    await authorise(again, '2026-06-10T00:02:00Z', 'basic');
    expect((await mails(kind)).at(-1)).toMatchObject({
      ...{ plan_name: 'Basic', amount: 4900, interval: 'month', starts_at: '2027-07-01T00:00:00.000Z' },
    });
  });

  test('is not sent for a subscription that replaces nothing, or a change that was undone before', async () => {
    await bill();
    const next = await change();
    await cancel();
    await authorise(next);
    await customer.event('authenticated', '06-11', { planId });
    expect(await mails(kind)).toEqual([]);
  });
});

describe('the mail plan-changed', () => {
  const kind = 'plan-changed';
  const now = () => customer.buy('premium', { start: 'now' });

  test('takes the place of the one about a change that was undone or scheduled before', async () => {
    await bill();
    await authorise(await change());
    await database.rpc('create_change', customer.id, 'pro', 'period_end');
    await now();
    expect(await mails('change-undone')).toEqual([]);
    expect(await mails(kind)).toMatchObject([{ plan_name: 'Premium', old_plan_name: 'Pro', next_charge: null }]);
  });

  test.each(['open', 'cancelled', 'expired'])('names a charge only while it may be authorised: %s', async (state) => {
    await bill();
    const premium = await customer.order('premium', { start: 'now' });
    const next = await askChange(database, customer, 'premium', 'now', { payment: premium.id });
    if (state === 'cancelled') {
      await cancel();
      await next.event('cancelled', '2026-06-10T00:01:00Z', { planId: 'plan_premium' });
    }
    if (state === 'expired') {
      await database.query(
        'update billing.gateway_subscriptions set expires_at = billing.clock() where payment_id = $1',
        [
          premium.id,
        ],
      );
    }
    await premium.verify();
    const charge = state === 'open' ? { amount: 199900 } : null;
    expect(await mails(kind)).toMatchObject([{ next_charge: charge }]);
  });

  test('is withdrawn when the payment is refunded in full, and stays after a refund of a part', async () => {
    await bill();
    const premium = await now();
    await premium.refund(100, { id: 'rfnd_part' });
    expect(await mails(kind)).toHaveLength(1);
    await premium.refund(premium.amount - 100, { id: 'rfnd_rest' });
    expect(await mails(kind)).toEqual([]);
  });

  test.each(['lost in a dispute', 'never captured'])(
    'gives way to what goes on where the payment is %s, once',
    async (how) => {
      await bill();
      const premium = await now();
      expect(await mails('change-undone')).toEqual([]);
      if (how === 'never captured') {
        await database.at('06-17');
        expect(await applyOrderPayments(database.service, premium, null)).toMatchObject({ ended: true });
      } else {
        await premium.capture();
        await dispute(premium.paymentId, 'open', '2026-06-11Z');
        expect(await mails('change-undone')).toEqual([]);
        for (const time of ['2026-06-12Z', '2026-06-13Z']) await dispute(premium.paymentId, 'lost', time);
      }
      expect(await mails(kind)).toEqual([]);
      expect(await mails('change-undone')).toEqual([goesOn]);
      await cancel();
      expect(await mails('change-undone')).toEqual([]);
    },
  );

  test('gives way to the end of what is paid where the payment was lost, and is kept after all', async () => {
    await bill();
    const premium = await now();
    await premium.capture();
    await dispute(premium.paymentId, 'lost', '2026-06-11Z');
    await dispute(premium.paymentId, 'won', '2026-06-12Z');
    expect((await mails('change-undone')).at(-1)).toMatchObject({ plan_name: 'Premium', next_charge: null });
  });

  test('names the next charge again where the payment was lost, won, and lost again; only the last waits', async () => {
    await bill();
    const premium = await now();
    await premium.capture();
    const decisions = ['lost', 'won', 'lost'];
    for (const [day, end] of decisions.entries()) await dispute(premium.paymentId, end, `2026-06-${11 + day}Z`);
    expect(await mails('change-undone')).toEqual([goesOn]);
    await cancel();
    expect(await mails('change-undone')).toEqual([]);
  });

  test('comes back in the mail about what goes on, each time that a refund in full fails after its mail', async () => {
    await bill();
    const premium = await now();
    await premium.capture();
    for (const id of ['rfnd_1', 'rfnd_2']) {
      await send();
      await premium.refund(premium.amount, { id });
      await send();
      await premium.refund(premium.amount, { id, status: 'failed' });
      const sent = await mails('change-undone');
      expect(sent.at(-1)).toMatchObject({ plan_name: 'Premium', next_charge: null });
      expect(sent).toHaveLength(Number(id.at(-1)));
    }
    await cancel();
    expect(await mails('change-undone')).toHaveLength(1);
  });

  test.each<[string, (premium: CustomerOrder) => Promise<unknown>]>([
    ['its refund failed', async (premium) => {
      await premium.capture();
      await premium.refund(premium.amount, { id: 'rfnd_1' });
      await premium.refund(premium.amount, { id: 'rfnd_1', status: 'failed' });
    }],
    ['its dispute was won', async (premium) => {
      await premium.capture();
      await dispute(premium.paymentId, 'lost', '2026-06-11Z');
      await dispute(premium.paymentId, 'won', '2026-06-12Z');
    }],
    ['it was captured after all', async (premium) => {
      await database.at('06-17');
      await applyOrderPayments(database.service, premium, null);
      expect(await mails('change-undone')).toEqual([goesOn]);
      await premium.capture();
    }],
  ])('comes back in the mail about what goes on where %s, until a refund in full', async (_, keep) => {
    await bill();
    const premium = await now();
    await keep(premium);
    expect(await mails('change-undone')).toEqual([
      { plan_name: 'Premium', next_charge: null, valid_until: expect.stringContaining('2027-06-1') },
    ]);
    await premium.refund(100, { id: 'rfnd_part' });
    expect(await mails('change-undone')).toHaveLength(1);
    await premium.refund(premium.amount - 100, { id: 'rfnd_rest' });
    expect(await mails('change-undone')).toEqual([]);
  });

  test('of what is captured while a refund fails, nothing is said to go on', async () => {
    await bill();
    const premium = await customer.order('premium', { at: '06-10', start: 'now' });
    await premium.refund(premium.amount, { id: 'rfnd_early' });
    await premium.capture();
    await premium.refund(premium.amount, { id: 'rfnd_early', status: 'failed' });
    expect(await customer.tier()).toBe('premium');
    expect([await mails('change-undone'), (await mails('payment-success')).length]).toEqual([[], 1]);
  });

  test('a dispute that changes no charge has no mail', async () => {
    await customer.buy('pro', { at: '06-01' });
    const premium = await customer.buy('premium', { at: '06-02', start: 'now' });
    await premium.capture();
    await dispute(premium.paymentId, 'lost', '2026-06-11Z');
    expect(await mails('change-undone')).toEqual([]);
  });
});

describe('the mail payment-refunded', () => {
  const kind = 'payment-refunded';
  const endOfJanuary = '2026-02-01T00:00:00.000Z';

  test('of a part names the payment, and the access that remains; once for each refund', async () => {
    const pro = await customer.buy('pro', { at: '01-01' });
    const refund = { id: 'rfnd_part' };
    await pro.refund(10000, { ...refund, status: 'pending' });
    expect(await mails(kind)).toEqual([]);
    for (let time = 0; time < 2; time++) await pro.refund(10000, refund);
    expect(await mails(kind)).toEqual([{
      plan_name: 'Pro',
      amount: 10000,
      currency: 'INR',
      paid_amount: 99900,
      paid_at: '2026-01-01T00:00:00.000Z',
      transaction_id: pro.paymentId,
      access_plan_name: 'Pro',
      access_ends_at: '2027-01-01T00:00:00.000Z',
      next_charge: null,
    }]);
  });

  test('names the payment also where its capture was not heard of', async () => {
    const order = await customer.order('pro', { at: '01-01' });
    await order.refund(10000);
    expect(await mails(kind)).toMatchObject([{ transaction_id: order.paymentId }]);
  });

  test.each([['01-01', 'partly'], ['01-01', 'wholly'], ['01-02', 'partly'], ['01-02', 'wholly']])(
    'says of the next charge what is known while an authorisation of 01-01 is open: on %s, %s refunded',
    async (time, part) => {
      const premium = await customer.buy('premium', { at: '01-01' });
      await subscribe(database, customer, 'pro');
      await database.at(time);
      await premium.refund(part === 'partly' ? 10000 : undefined);
      const [mail] = await mails(part === 'partly' ? kind : 'subscription-ended');
      const { next_charge, is_open } = Object(mail);
      expect([next_charge, is_open]).toEqual([null, time === '01-01' ? true : undefined]);
    },
  );

  test.each(
    [
      ['cancelled', '2026-07-01T00:00:01Z'],
      ['paused', '06-20'],
    ] as const,
  )('is none of the first charge of a change from what was %s: access is over', async (state, time) => {
    await bill();
    const next = await change();
    await authorise(next);
    const payment = { id: 'pay_basic', amount: 4900 };
    await customer.event(state, time, { planId });
    await next.event('charged', '2026-07-01T00:00:02Z', { planId: 'plan_basic', ...july, payment });
    await database.at('2026-07-01T12:00:00Z');
    expect(await customer.tier()).toBe('basic');
    await database.send(refundEvent(payment, 4900));
    expect([await customer.tier(), await mails(kind)]).toEqual(['free', []]);
    expect(await mails('subscription-ended')).toMatchObject([{ plan_name: 'Basic', amount: 4900 }]);
  });

  test.each(['paused', 'halted'] as const)(
    'says of a %s subscription that nothing is charged for now',
    async (state) => {
      await bill();
      await customer.event(state, '2026-06-10T00:00:01Z', { planId });
      const premium = await customer.buy('basic', { at: '06-11' });
      await premium.refund(100);
      // What replaces it stops it.
      expect(Object((await mails(kind))[0])).toEqual(expect.not.objectContaining({ is_open: true }));
      await premium.refund();
      await cancel();
      await resume();
      expect(await mails('subscription-resumed')).toMatchObject([{ next_charge: null, is_open: true }]);
    },
  );

  test('of the whole payment names what takes over', async () => {
    await customer.buy('basic', { at: '01-01' });
    const premium = await customer.buy('premium', { at: '01-02' });
    await premium.refund();
    const basic = { access_plan_name: 'Basic', access_ends_at: endOfJanuary };
    expect(await mails(kind)).toMatchObject([{ plan_name: 'Premium', amount: 199900, ...basic }]);
    expect(await mails('subscription-ended')).toEqual([]);
  });

  test('of a second payment on an order names that payment', async () => {
    const first = await customer.order('pro', { at: '01-01' });
    const second = customer.again(first);
    await first.capture();
    await database.at('01-03');
    await second.capture();
    await second.refund();
    const about = { transaction_id: second.paymentId, paid_at: '2026-01-03T00:00:00.000Z' };
    expect(await mails(kind)).toMatchObject([about]);
  });

  test('is withdrawn when the refund fails before it is sent', async () => {
    const pro = await customer.buy('pro', { at: '01-01' });
    await pro.refund(10000, { id: 'rfnd_1' });
    await pro.refund(10000, { id: 'rfnd_1', status: 'failed' });
    expect(await mails(kind)).toEqual([]);
  });
});

describe('the mail about a charge', () => {
  test('that failed names the amount, and says whether access has ended', async () => {
    await bill();
    await customer.event('pending', '07-01', { planId, payment: { id: 'pay_failed', amount: 88800 } });
    await customer.event('halted', '07-05', { planId });
    const terms = { currency: 'INR', is_ended: false };
    expect(await mails('payment-pending')).toMatchObject([{ ...terms, amount: 88800 }]);
    expect(await mails('subscription-halted')).toMatchObject([{ ...terms, amount: 99900, is_ended: true }]);
  });

  test('that failed names the end also beside a purchase that a cancelled row by hand ended', async () => {
    await customer.buy('premium', { at: '05-01' });
    await database.at('05-02');
    await database.query("update public.subscriptions set status = 'cancelled' where user_id = $1", [customer.id]);
    await bill();
    await customer.event('pending', '07-01', { planId });
    expect(await mails('payment-pending')).toMatchObject([{ access_ends_at: '2026-07-04T00:00:00.000Z' }]);
  });

  test('that failed names the moment at which a refund ended access', async () => {
    await database.at('06-01');
    await customer.event('charged', '06-01', { planId, ...june, payment: { id: 'pay_june', amount: 99900 } });
    await database.at('06-03');
    await database.send(refundEvent({ id: 'pay_june', order_id: null }, 99900));
    await customer.event('pending', '07-01', { planId });
    expect(await mails('payment-pending')).toMatchObject([{
      access_ends_at: '2026-06-03T00:00:00.000Z',
      is_ended: true,
    }]);
  });

  test('of a plan that is none of ours is not sent', async () => {
    const foreign = { planId: 'plan_of_another_app' };
    await customer.event('activated', '06-01', { ...foreign, ...june });
    await customer.event('pending', '07-01', { ...foreign, payment: { id: 'pay_failed', amount: 88800 } });
    await customer.event('halted', '07-02', foreign);
    await customer.event('completed', '07-03', foreign);
    const sent = ['payment-success', 'payment-pending', 'subscription-halted', 'subscription-completed'].map(mails);
    expect((await Promise.all(sent)).flat()).toEqual([]);
  });

  test('says when access ends, also beside another subscription whose charge has been missing for a month', async () => {
    await customer.event('activated', '04-01', { planId, ...months(4) });
    await database.at('05-01');
    await database.query(
      `update public.subscriptions
       set current_period_start = $2, current_period_end = $3, gateway_subscription_id = 'sub_missing'
       where user_id = $1`,
      [customer.id, day('05-01'), june.start],
    );
    await customer.charge(june, 'pro');
    await customer.event('pending', '07-01', { planId });
    expect(await mails('payment-pending')).toMatchObject([{ access_ends_at: '2026-07-04T00:00:00.000Z' }]);
  });

  test.each(['pending', 'halted'] as const)(
    'that is %s says when access ends, also where a row by hand names what fails',
    async (name) => {
      const newer = customerOf(database, customer);
      await customer.bill(june, 'pro');
      const end = '2026-06-30T18:00:00Z';
      await newer.bill({ start: day('06-02'), end }, 'basic');
      await newer.event('pending', '2026-06-30T06:00:00Z', { planId: 'plan_basic' });
      await database.at('2026-06-30T08:00:00Z');
      await customer.moveEnd('2026-06-30T20:00:00Z');
      await customer.event(name, '2026-06-30T12:00:00Z', { planId });
      const kind = name === 'pending' ? 'payment-pending' : 'subscription-halted';
      expect((await mails(kind)).at(-1)).toMatchObject({ access_ends_at: '2026-07-04T00:00:00.000Z' });
    },
  );

  test('that failed after a cycle was charged that had been cancelled at once names no day of grace', async () => {
    await customer.event('activated', '06-01', { planId, ...june });
    await database.at('06-02');
    await cancel('at once');
    await customer.event('charged', '06-04', { planId, ...june });
    expect(await customer.state()).toBe('pro: pro active to 2026-07-01');
    await customer.event('pending', '06-11', { planId });
    expect(await mails('payment-pending')).toMatchObject([{ access_ends_at: endOfJune }]);
    await attempt(database, customer.gatewayId);
    await customer.event('pending', '06-12', { planId });
    // Then no days of grace follow.
    expect(await customer.row()).toMatchObject({ current_period_end: new Date(endOfJune), cancel_at_period_end: true });
  });

  test('names no next payment that the same charge stops', async () => {
    await database.at('06-01');
    const billed = await subscribe(database, customer, 'pro');
    await cancel('at once');
    const charge_at = seconds(day(july.start));
    await billed.charge(june, 'pro', { fields: { charge_at, paid_count: 1 } });
    expect(await mails('payment-success')).toMatchObject([{ next_charge_at: null }]);
  });

  test('names the end of the cycle as the next payment after a first charge that was tried again', async () => {
    await database.at('06-01');
    const billed = await subscribe(database, customer, 'pro');
    const retriedAt = '2026-06-02T06:00:00Z';
    await billed.event('charged', retriedAt, {
      planId,
      ...june,
      payment: { id: 'pay_retried', amount: 99900 },
      fields: { charge_at: seconds(retriedAt), paid_count: 1, remaining_count: 11 },
    });
    expect(await mails('payment-success')).toMatchObject([{ next_charge_at: '2026-07-01T00:00:00.000Z' }]);
    expect((await database.rpc('get_subscription', customer.id)).billing)
      .toMatchObject({ next_charge_at: '2026-07-01T00:00:00+00:00' });
  });

  test('names no next payment after the last cycle', async () => {
    await database.at('06-01');
    const billed = await subscribe(database, customer, 'pro');
    const charge_at = seconds(day(july.start));
    await billed.charge(june, 'pro', { fields: { charge_at, paid_count: 1, remaining_count: 1 } });
    expect(await mails('payment-success')).toMatchObject([{ next_charge_at: '2026-07-01T00:00:00.000Z' }]);
    await billed.charge(july, 'pro', { fields: { charge_at, paid_count: 2, remaining_count: 0 } });
    expect(await mails('subscription-renewed')).toMatchObject([{ next_charge_at: null }]);
  });

  test.each([['at the end', endOfJune], ['at once', null]] as const)(
    'that failed after a cancellation %s names the end %s, without days of grace',
    async (when, end) => {
      await bill();
      await cancel(when);
      await customer.event('pending', '06-11', { planId });
      const sent = await mails('payment-pending');
      expect(sent).toMatchObject(end === null ? [] : [{ access_ends_at: end }]);
      expect(sent).toHaveLength(end === null ? 0 : 1);
    },
  );
});
