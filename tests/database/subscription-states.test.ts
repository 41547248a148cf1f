import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { seconds, type SubscriptionEvent } from '../helpers/gateway/events.ts';
import { customerOf } from '../helpers/records/customer.ts';
import { day, months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);

const [june, july, august] = [months(6), months(7), months(8)];

const event = (name: SubscriptionEvent['name'], time: string, fields: Partial<SubscriptionEvent> = {}, of = customer) =>
  of.event(name, time, { planId: 'plan_pro', ...fields });
const paid = (count: number) => ({ fields: { paid_count: count } });

async function bill(): Promise<void> {
  await event('authenticated', '06-01');
  await event('activated', '2026-06-01T00:00:01Z', { ...june, ...paid(1) });
  await event('charged', '2026-06-01T00:00:02Z', { ...june, ...paid(1) });
}
const untilJuly = 'pro: pro active to 2026-07-01';
const untilAugust = 'pro: pro active to 2026-08-01';
const untilSeptember = 'pro: pro active to 2026-09-01';
const ended = 'free: pro cancelled to 2026-07-01';

/** The mails: kind, end of access and, where it has one, the gateway's page. */
async function mails(): Promise<string[]> {
  const rows = await database.query(
    `select concat_ws(' ', kind, coalesce(payload ->> 'access_ends_at', 'no end'), payload ->> 'manage_url') as text
     from billing.outbox where destination in ('email', 'notice') order by id`,
  );
  return rows.map(({ text }) => String(text).replace('T00:00:00.000Z', ''));
}
const billing = async () => (await database.rpc('get_subscription', customer.id)).billing;

test('a first charge with the time at which its cycle began, before the authorisation, ends the authorisation', async () => {
  await event('authenticated', '2026-06-01T12:00:00Z', { fields: { charge_at: seconds(day(june.start)) } });
  const fields = { paid_count: 1, charge_at: seconds(day(july.start)) };
  await event('charged', '2026-06-01T00:00:00Z', { ...june, fields });
  expect(await billing()).toMatchObject({ status: 'active', next_charge_at: '2026-07-01T00:00:00+00:00' });
  await event('authenticated', '2026-06-01T12:00:00Z', { fields: { paid_count: 0 } });
  expect(await billing()).toMatchObject({ status: 'active' });
});

describe('a charge that fails', () => {
  beforeEach(bill);

  test('is answered with the day on which access ends, in the days of grace and after them', async () => {
    const ends = async () => Object(await database.rpc('get_subscription', customer.id)).subscription?.access_ends_at;
    expect(await ends()).toBeNull();
    await event('pending', '07-01');
    await customer.stateAt('07-02');
    expect(await ends()).toBe('2026-07-04T00:00:00+00:00');
    expect((await database.one('select why from billing.customers where user_id = $1', [customer.id])).why)
      .toContain('until 1 Jul 2026, and without a renewal days of grace until 4 Jul 2026.');
    await customer.stateAt('07-05');
    expect(await ends()).toBe('2026-07-04T00:00:00+00:00');
  });

  test('keeps access for the days of grace, with one mail for the cycle that says when it ends', async () => {
    const manage_url = 'https://gateway.example/s/1';
    const fields = { short_url: manage_url, charge_at: seconds(day('07-02')) };
    expect(await event('pending', '07-01', { fields })).toBe('applied');
    expect(await event('pending', '07-02', { fields })).toBe('applied');
    // Only this one says when the cycle began, which was charged an hour late.
    const begun = { ...fields, current_start: seconds(day(july.start)) + 3600 };
    expect(await event('pending', '2026-07-02T12:00:00Z', { fields: begun })).toBe('applied');
    expect(await mails()).toEqual([`payment-pending 2026-07-04 ${manage_url}`]);
    expect(await billing()).toEqual({
      gateway_subscription_id: customer.gatewayId,
      status: 'pending',
      next_charge_at: '2026-07-02T00:00:00+00:00',
      payment_attention: true,
      manage_url,
      price: { lookup_key: 'pro', amount: 99900, currency: 'INR', interval: 'year', interval_count: 1 },
      next: null,
    });
    expect(await customer.state()).toBe(untilJuly);
  });

  test('and then succeeds renews the period, and the next failure has a mail of its own', async () => {
    await event('pending', '07-01');
    await event('charged', '07-02', { ...july, ...paid(2) });
    expect(await billing()).toMatchObject({ status: 'active', payment_attention: false });
    expect(await customer.stateAt('07-20')).toBe(untilAugust);
    await event('pending', '08-01');
    expect(await mails()).toEqual(['payment-pending 2026-07-04', 'payment-pending 2026-08-04']);
  });

  test('again in a later cycle, after a new card that was not charged, has mails of its own', async () => {
    const unpaid = ({ start, end }: typeof july) => ({
      fields: { current_start: seconds(start), current_end: seconds(end), paid_count: 1 },
    });
    await event('pending', '07-01', unpaid(july));
    await event('halted', '07-04', unpaid(july));
    await event('activated', '07-10', { ...july, ...unpaid(july) });
    const first = await mails();
    for (const time of ['08-01', '08-02']) await event('pending', time, unpaid(august));
    await event('halted', '08-04', unpaid(august));
    expect((await mails()).slice(first.length)).toEqual([
      'payment-pending 2026-07-04',
      'subscription-halted 2026-07-04',
    ]);
  });

  test('and then succeeds is told to who was told of the failure, also of a subscription that was not asked for here', async () => {
    const payment = (id: string) => ({ payment: { id, amount: 99900 } });
    await event('pending', '07-01');
    await event('charged', '07-02', { ...july, ...paid(2), ...payment('pay_retried') });
    await event('charged', '08-01', { ...august, ...paid(3), ...payment('pay_in_time') });
    const told = await database.query(
      "select key from billing.outbox where destination in ('email', 'notice') order by id",
    );
    expect(told.map(({ key }) => key)).toEqual([
      `payment-pending/${customer.gatewayId}/2026-07-01T00:00:00.000Z`,
      'subscription-renewed/pay_retried',
    ]);
  });

  describe('is a failed payment of the customer', () => {
    const failed = {
      amount: 99900,
      currency: 'INR',
      status: 'failed',
      tier: 'pro',
      captured_at: null,
      period_end: null,
    };
    /** The cycle that begins unpaid. */
    const unpaid = ({ start, end }: typeof july, count: number) => ({
      fields: { current_start: seconds(start), current_end: seconds(end), paid_count: count },
    });
    const charge = (count: number) => ({
      ...paid(count),
      payment: { id: `pay_${customer.id}_${count}`, amount: 99900 },
    });
    /** Its payments, the newest first: status and day. */
    async function payments(): Promise<string> {
      const { payments } = await database.rpc('get_subscription', customer.id);
      return Object.values(Object(payments)).map((one) =>
        `${Object(one).status} ${Object(one).created_at.slice(5, 10)}`
      ).join(', ');
    }

    test('once for each cycle, also after the retry succeeded and after a halt', async () => {
      await event('pending', '07-01', unpaid(july, 1));
      await event('pending', '07-02', unpaid(july, 1));
      const { payments: [newest] } = Object(await database.rpc('get_subscription', customer.id));
      expect(newest).toMatchObject({
        ...failed,
        gateway_subscription_id: customer.gatewayId,
        gateway_payment_id: null,
      });
      await event('charged', '07-03', { ...july, ...charge(2) });
      expect(await payments()).toBe('captured 07-03, failed 07-01');
      await event('pending', '08-01', unpaid(august, 2));
      await event('halted', '08-04', unpaid(august, 2));
      await event('cancelled', '08-05');
      await database.query('update billing.gateway_events set payload = null');
      expect(await payments()).toBe('failed 08-01, captured 07-03, failed 07-01');
    });

    test('in any order of the events, and also if only the halt is known', async () => {
      await event('charged', '07-03', { ...july, ...charge(2) });
      await event('halted', '2026-07-02T12:00:00Z', unpaid(july, 1));
      expect(await payments()).toBe('captured 07-03, failed 07-02');
      await event('pending', '07-03', { ...unpaid(july, 1), createdAt: day('07-01') });
      expect(await payments()).toBe('captured 07-03, failed 07-01');
    });

    test('that is no charge, order, revenue or finding', async () => {
      const numbers = () =>
        database.one(
          `select (select count(*) from billing.periods p where p.user_id = $1) as periods,
            (select count(*) from billing.received r where r.user_id = $1) as received,
            (select count(*) from billing.paid_periods p where p.user_id = $1) as paid,
            (select count(*) from billing.findings_of($1)) as findings`,
          [customer.id],
        );
      const before = await numbers();
      await event('pending', '07-01', unpaid(july, 1));
      expect(await payments()).toContain('failed 07-01');
      expect(await numbers()).toEqual(before);
    });

    test('which an order for the same price does not return, and which support sees', async () => {
      await event('pending', '07-01', unpaid(july, 1));
      await database.at('2026-07-01T00:00:10Z');
      expect(await database.rpc('create_order', customer.id, 'pro')).toMatchObject({ outcome: 'created' });
      expect(await payments()).toBe('created 07-01, failed 07-01');
      const { kind, attempts, source_id } = await database.one(
        "select * from billing.customer_payments where user_id = $1 and status = 'failed'",
        [customer.id],
      );
      expect({ kind, attempts, source_id }).toEqual({ kind: 'cycle', attempts: '1', source_id: customer.gatewayId });
      const lines = await database.query(
        "select what, detail from billing.timeline where user_id = $1 and at::date = '2026-07-01' and what <> 'webhook'",
        [customer.id],
      );
      expect(lines).toContainEqual({
        what: 'attempt_failed',
        detail: expect.stringMatching(/^The renewal of .* for pro failed\.$/),
      });
      expect(lines.filter(({ what }) => what === 'order')).toHaveLength(1);
    });
  });

  test.each([['pending', 'stale'], ['halted', 'applied']] as const)('told late as %s is %s', async (name, outcome) => {
    await event('charged', '07-02', { ...july, ...paid(2) });
    expect(await event(name, '07-02', { createdAt: day('07-01') })).toBe(outcome);
    expect(await mails()).toEqual([]);
    expect(await billing()).toMatchObject({ status: 'active' });
  });

  test('of a subscription under a purchase announces no end of access', async () => {
    await customer.buy('premium', { at: '06-20' });
    await event('pending', '07-01');
    expect(await mails()).toContain('payment-pending no end');
  });

  test.each(['', ', whose row was written by hand,'])(
    'of a subscription over another one%s that is not renewed says when access ends',
    async (written) => {
      await database.at('2026-06-01T01:00:00Z');
      if (written !== '') await database.query("update public.subscriptions set current_period_end = '2026-06-25'");
      const over = customerOf(database, customer);
      const cycle = { start: '2026-06-01T06:00:00Z', end: '2026-07-01T06:00:00Z' };
      await event('activated', cycle.start, { ...cycle, planId: 'plan_premium' }, over);
      await event('pending', cycle.end, { planId: 'plan_premium' }, over);
      expect(await mails()).toEqual(['payment-pending 2026-07-04T06:00:00.000Z']);
    },
  );
});

test.each(['completed', 'cancelled'] as const)(
  'a row by hand that names a subscription which is %s ends after its days of grace: the gateway is not asked',
  async (status) => {
    await bill();
    await event(status, '06-10', { ...june, ...paid(1) });
    await database.at('06-11');
    await database.query(
      `update public.subscriptions set tier = 'pro', status = 'active', current_period_end = '2026-07-15', cancelled_at = null,
         ended_reason = null`,
    );
    const named = 'pro: pro active to 2026-07-15';
    expect(await customer.stateAt('07-17')).toBe(named);
    expect(await customer.stateAt('07-19')).toBe(named.replace('pro: pro active', 'free: pro cancelled'));
  },
);

test('what has no plan of ours is shown until its days of grace are over, once it is complete: the gateway is not asked', async () => {
  await customer.buy('pro', { at: '06-01' });
  const attached = { planId: undefined, ...june };
  await event('activated', '06-02', { ...attached });
  await event('charged', '06-02', { ...attached, ...paid(1) });
  await event('completed', '06-10', { ...attached, ...paid(1) });
  expect(await customer.stateAt('07-02')).toBe(untilJuly);
  // Then the purchase goes on.
  expect(await customer.stateAt('07-05')).toBe('pro: pro active to 2027-06-01');
});

test('the last cycle names no next charge; retries of its charge do', async () => {
  await event('charged', '06-01', { ...june, ...paid(1) });
  expect(await billing()).toMatchObject({ status: 'active', next_charge_at: '2026-07-01T00:00:00+00:00' });
  const retried = { remaining_count: 0, status: 'pending', charge_at: seconds(day('07-02')) };
  await event('pending', '07-01', { fields: retried });
  expect(await billing()).toMatchObject({ status: 'pending', next_charge_at: '2026-07-02T00:00:00+00:00' });
  const last = { remaining_count: 0, charge_at: seconds(day('08-01')), paid_count: 2 };
  await event('charged', '07-02', { ...july, ...paid(2), fields: last });
  expect(await billing()).toMatchObject({ status: 'active', next_charge_at: null });
  await event('charged', '07-03', { ...july, ...paid(2), fields: { ...last, remaining_count: 1, charge_at: null } });
  expect(await billing()).toMatchObject({ status: 'active', next_charge_at: null });
});

test.each([[['updated', 'charged']], [['charged', 'updated']]] as const)(
  'the last charge names no next one, also beside another event of its second: %j',
  async (order) => {
    await bill();
    for (const name of order) {
      const left = name === 'charged' ? 0 : 1;
      const fields = { paid_count: 2, remaining_count: left, charge_at: seconds(day('08-01')), status: 'active' };
      await event(name, '07-01', { ...july, fields });
    }
    expect(await billing()).toMatchObject({ status: 'active', next_charge_at: null });
  },
);

describe('after a reconciliation, whose clock is not that of the gateway', () => {
  const read = async (time: string, status: string, paid_count: number, cycle = june) => {
    await database.at(time);
    const [current_start, current_end] = [seconds(cycle.start), seconds(cycle.end)];
    return await customer.reconcile({ status, paid_count, current_start, current_end, charge_at: current_end });
  };
  const nextCheck = async () =>
    (await database.one('select next_check_at <= billing.clock() as is_due from billing.gateway_subscriptions')).is_due;
  beforeEach(bill);

  test('an event that the gateway made ten minutes before it by its clock counts, and it is read again', async () => {
    await read('2026-07-01T00:10:00Z', 'active', 1);
    expect(await nextCheck()).toBe(false);
    await event('pending', '2026-07-01T00:11:00Z', { createdAt: day('07-01'), ...paid(1) });
    expect(await billing()).toMatchObject({ status: 'pending' });
    expect(await nextCheck()).toBe(true);
  });

  test.each(['pending', 'halted'] as const)('%s from before the charge that it told changes nothing', async (name) => {
    await read('2026-07-02', 'active', 2, july);
    await event(name, '2026-07-02T00:01:00Z', { createdAt: '2026-07-01T06:00:00Z', ...paid(1) });
    expect(await billing()).toMatchObject({ status: 'active', next_charge_at: '2026-08-01T00:00:00+00:00' });
    expect(await mails()).not.toContainEqual(expect.stringMatching(/pending|halted/));
  });

  test('what it read of the last cycle stays, and a charge that follows by the clock of the gateway counts', async () => {
    await read('2026-07-01T00:10:00Z', 'pending', 1);
    expect(await billing()).toMatchObject({ status: 'pending' });
    const last = { paid_count: 2, remaining_count: 0, charge_at: null };
    await event('charged', '2026-07-01T00:10:30Z', { ...july, createdAt: day('07-01'), fields: last });
    expect(await billing()).toMatchObject({ status: 'active', next_charge_at: null });
  });
});

test('a subscription that was cancelled for its end has ended then, also where the gateway tells it later', async () => {
  await bill();
  await customer.cancel('at the end');
  await event('cancelled', '2026-07-01T22:00:00Z', { createdAt: day('07-01') });
  expect(await customer.row()).toMatchObject({ ended_reason: 'cancelled', cancelled_at: new Date(day('07-01')) });
  const mail = await database.one("select payload from billing.outbox where kind = 'subscription-ended'");
  expect(mail.payload).toMatchObject({ ends_at: '2026-07-01T00:00:00.000Z' });
});

describe('a halted subscription', () => {
  beforeEach(bill);

  test('ends after the days of grace without a reconciliation, at the time that its mail names', async () => {
    await event('pending', '07-01');
    expect(await event('halted', '07-03')).toBe('applied');
    expect(await mails()).toEqual(['payment-pending 2026-07-04', 'subscription-halted 2026-07-04']);
    expect(await customer.stateAt('2026-07-03T23:59:59Z')).toBe(untilJuly);
    expect(await customer.stateAt('2026-07-04T00:00:01Z')).toBe(ended);
  });

  test.each<[string, SubscriptionEvent['name'][], end: string]>([
    ['after its days of grace: they were had', ['halted', 'activated', 'paused', 'resumed'], '2026-07-04'],
    ['before it is halted: it had none', ['paused', 'resumed', 'halted'], '2026-07-01'],
  ])('that is paused and goes on %s', async (_, names, end) => {
    const times = names[0] === 'paused' ? ['06-20', '07-15', '08-04'] : ['07-03', '07-10', '07-12', '07-14'];
    for (const [index, name] of names.entries()) {
      await event(name, times[index] ?? '', name === 'activated' ? june : {});
    }
    expect(await customer.stateAt('08-05')).toBe(ended);
    expect(Object(await database.rpc('get_subscription', customer.id)).subscription)
      .toMatchObject({ access_ends_at: `${end}T00:00:00+00:00` });
  });

  test.each([['at once', 'at the end'], ['at the end', 'at once']] as const)(
    'that lapsed keeps the end that its mail named when it is cancelled %s, then %s',
    async (...cancellations) => {
      await event('halted', '07-03');
      expect(await customer.stateAt('2027-07-05')).toBe(ended);
      const read = async () => Object(await database.rpc('get_subscription', customer.id)).subscription;
      const before = await read();
      expect(before).toMatchObject({ ended_reason: 'lapsed', access_ends_at: '2026-07-04T00:00:00+00:00' });
      for (const when of cancellations) {
        await customer.cancel(when);
        expect(await read()).toEqual(before);
      }
      await database.query("update billing.outbox set told_at = billing.clock() where destination = 'gateway'");
      expect(await event('cancelled', '07-06')).toBe('applied');
      expect(await customer.stateAt('07-07')).toBe(ended);
      expect(await read()).toEqual(before);
      expect(await billing()).toBeNull();
    },
  );

  test.each(['first', 'last'])(
    'has the newest charge, in whatever order they arrive, with the halt %s',
    async (place) => {
      const halt = (time: string) => event('halted', time, { createdAt: day('07-04') });
      if (place === 'first') await halt('07-04');
      await event('charged', '07-10', july);
      await event('charged', '07-11', { ...june, createdAt: '2026-06-01T00:00:03Z' });
      if (place === 'last') await halt('07-12');
      expect(await customer.state()).toBe(untilAugust);
    },
  );
});

test('a paused subscription gives what is paid and no days of grace; resumed later, it goes on with the next charge', async () => {
  await bill();
  expect(await event('paused', '06-10')).toBe('applied');
  expect(await customer.state()).toBe(untilJuly);
  expect(await billing()).toMatchObject({ status: 'paused', next_charge_at: null });
  expect(await customer.stateAt('2026-07-01T00:00:01Z')).toBe(ended);
  await event('resumed', '07-15');
  expect(await customer.state()).toBe(ended);
  await event('charged', '08-01', august);
  expect(await customer.state()).toBe(untilSeptember);
});

test('a completed subscription ends with its paid period, with a mail that says so', async () => {
  await bill();
  expect(await event('completed', '06-02')).toBe('applied');
  expect(await mails()).toEqual(['subscription-completed 2026-07-01']);
  expect(await billing()).toBeNull();
  expect(await customer.stateAt('2026-06-30T23:59:59Z')).toBe(untilJuly);
  expect(await customer.stateAt('2026-07-01T00:00:01Z')).toBe(ended);
});

test('a subscription that is completed after its retries failed keeps the end that was told', async () => {
  await bill();
  await event('pending', '07-01');
  await event('halted', '07-02');
  expect(await customer.stateAt('2026-07-03')).toBe(untilJuly);
  const told = await mails();
  expect(await event('completed', '2026-07-03T12:00:00Z')).toBe('applied');
  expect(await customer.stateAt('2026-07-03T23:59:59Z')).toBe(untilJuly);
  expect(await customer.stateAt('2026-07-04T00:00:01Z')).toBe(ended);
  expect((await mails()).slice(0, told.length)).toEqual(told);
});
