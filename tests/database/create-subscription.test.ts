import { beforeEach, describe, expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import { refundEvent, seconds } from '../helpers/gateway/events.ts';
import { alertsAbout } from '../helpers/gateway/reconciliation.ts';
import { attempt, told } from '../helpers/gateway/told.ts';
import { askChange, type Customer, customerOf } from '../helpers/records/customer.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { day, months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
let customer: Customer;
beforeEach(async () => {
  await later(0);
  customer = await database.customer();
});

const june = months(6);
const minute = (minutes: number) => new Date(Date.parse(day('06-01')) + minutes * 60_000).toISOString();
const later = (minutes: number) => database.at(minute(minutes));
const hours = 60;
const url = 'https://gateway.example/s/1';

const create = (tier = 'pro', key: string | null = null, gatewayKeyId: string | null = null) =>
  database.rpc('create_subscription', customer.id, tier, key, gatewayKeyId);
const store = (id: unknown, gatewayId: string | null) =>
  gatewayId === null ? database.rpc('store_subscription', id) : database.rpc('store_subscription', id, gatewayId, url);
/** The outcome of a request, which the gateway has not answered. */
const outcome = async (...request: Parameters<typeof create>) => (await create(...request)).outcome;

/** Creates a subscription and stores what the gateway made. The customer's events are about it. */
async function subscribe(tier = 'pro', key: string | null = null): Promise<string> {
  const created = await create(tier, key);
  expect(created).toMatchObject({ outcome: 'created' });
  customer = customerOf(database, customer);
  expect(await store(created.id, customer.gatewayId)).toEqual({ outcome: 'stored' });
  return String(created.id);
}
/** The notes of what the gateway made for a request. */
const noting = (request_id: unknown) => ({ notes: { user_id: customer.id, request_id } });
const activate = (time = '06-01') =>
  customer.event('activated', time, { planId: 'plan_pro', ...june, createdAt: day('06-01') });

describe('a new subscription', () => {
  test('has the terms of the plan, can be authorised for 24 hours, and gives no access', async () => {
    const { plan, ...terms } = await create();
    expect(plan).toMatchObject({ tier: 'pro', price: 99900, gateway_plan_id: 'plan_pro' });
    expect(terms).toEqual({
      ...{ outcome: 'created', id: expect.any(String), status: 'created', running: null },
      ...{ gateway_plan_id: 'plan_pro', billing_cycles: 10, expire_by: seconds(day('06-02')), start_at: null },
      ...{ gateway_subscription_id: null, short_url: null },
      price: {
        ...{ id: Object(plan).id, gateway_plan_id: 'plan_pro', is_default: true },
        ...{ lookup_key: 'pro', amount: 99900, currency: 'INR', interval: 'year', interval_count: 1 },
      },
    });
    expect(await customer.state()).toBe('free: none');
    expect(await create('basic')).toMatchObject({ billing_cycles: 120 });
  });

  test('is newer than every act that is known, also where the clock was ahead', async () => {
    await later(25 * hours);
    await subscribe('basic');
    await database.rpc('cancel_subscription', customer.id, false);
    await later(0);
    await create();
    expect(
      await database.one(
        `select min(m.asked_at) filter (where m.asked_tier = 'pro') > greatest(
           max(m.asked_at) filter (where m.asked_tier = 'basic'), (select max(w.at) from billing.wishes w where w.user_id = $1)
         ) as is_newest
         from billing.gateway_subscriptions m where m.user_id = $1`,
        [customer.id],
      ),
    ).toEqual({ is_newest: true });
  });

  test.each([null, 'key'])(
    'whose function died is made again after 30 seconds, also where the clock was ahead (key %j)',
    async (key) => {
      await later(25 * hours);
      await customer.buy('basic');
      await later(0);
      await create('pro', key);
      expect(await outcome('pro', key)).toBe('in_flight');
      await later(0.5);
      expect(await outcome('pro', key)).toBe('created');
      // And the other way round.
      await later(26 * hours);
      await create('premium', key && 'another key');
      await later(1);
      expect(await outcome('premium', key && 'another key')).toBe('created');
    },
  );

  test.each([['in flight', 'in_flight', 1], ['open', 'existing', 31]])(
    'is %s no longer than by the clock, also where that was ahead',
    async (_, outcomeOf, minutes) => {
      await later(25 * hours);
      await subscribe('basic');
      await database.rpc('cancel_subscription', customer.id, false);
      await later(0);
      const created = await create();
      if (outcomeOf === 'existing') await store(created.id, uniqueId('sub'));
      expect(await outcome()).toBe(outcomeOf);
      await later(minutes);
      expect(await outcome()).toBe('created');
    },
  );

  test('is refused for an hour after ten, also where the clock was ahead', async () => {
    await later(25 * hours);
    await subscribe('basic');
    await database.rpc('cancel_subscription', customer.id, false);
    await later(0);
    for (let asked = 0; asked < 9; asked++) {
      await later(asked / 10);
      expect(await store((await create('pro', `key-${asked}`)).id, uniqueId('sub'))).toEqual({ outcome: 'stored' });
      await database.rpc('cancel_subscription', customer.id, false);
    }
    await later(70);
    expect(await outcome()).toBe('created');
  });

  test('names the period that runs', async () => {
    await customer.buy('basic');
    const until = '2026-07-01T00:00:00.000Z';
    expect(await create()).toMatchObject({ running: { tier: 'basic', until, early_renewal: 'replace' } });
  });

  test('is refused: a plan that the gateway does not bill, that is off sale or unknown; a deleted user', async () => {
    await database.setPlan('premium', 'gateway_plan_id = null');
    await database.setPlan('basic', 'is_active = false');
    expect(await create('premium')).toEqual({ outcome: 'not_at_gateway' });
    for (const tier of ['basic', 'no-such-plan']) {
      expect(await create(tier), tier).toEqual({ outcome: 'plan_not_found' });
    }
    await database.query('delete from auth.users');
    expect(await create()).toEqual({ outcome: 'user_not_found' });
  });
});

describe('the same open subscription', () => {
  test('is returned for 30 minutes', async () => {
    const id = await subscribe();
    await later(30 - 1 / 60);
    const open = { id, gateway_subscription_id: customer.gatewayId, short_url: url, status: 'created' };
    expect(await create()).toMatchObject({ outcome: 'existing', ...open });
    await later(30);
    expect(await outcome()).toBe('created');
  });

  test('is not returned for another tier, plan at the gateway or API key', async () => {
    await subscribe();
    expect(await outcome('basic')).toBe('created');
    await create('pro', null, 'key_live');
    await database.query(
      "update billing.gateway_subscriptions set gateway_key_id = 'key_test' where asked_tier = 'pro'",
    );
    expect(await outcome('pro', null, 'key_live')).toBe('created');
    await database.setPlan('pro', "gateway_plan_id = 'plan_new'");
    expect(await create()).toMatchObject({ outcome: 'created', gateway_plan_id: 'plan_new' });
  });

  test.each([null, 'key'])('is in flight for 30 seconds, or until the gateway made none (key %j)', async (key) => {
    await create('pro', key);
    expect(await create('pro', key)).toEqual({ outcome: 'in_flight' });
    await later(0.5);
    const { id, ...second } = await create('pro', key);
    expect(second).toMatchObject({ outcome: 'created', expire_by: seconds('2026-06-02T00:00:30Z') });
    expect(await store(id, null)).toEqual({ outcome: 'discarded' });
    expect(await outcome('pro', key)).toBe('created');
  });

  test('is stored once: a second id changes nothing, and is cancelled', async () => {
    const id = await subscribe();
    expect(await store(id, 'sub_other')).toEqual({ outcome: 'order_not_found' });
    expect(await told(database, 'sub_other')).toMatch(/^at cycle end/);
    expect(await store(id, customer.gatewayId)).toEqual({ outcome: 'stored' });
    expect(await customer.cancellation()).toBeNull();
    expect(await store(id, null)).toEqual({ outcome: 'discarded' });
    expect(await create()).toMatchObject({ outcome: 'existing', gateway_subscription_id: customer.gatewayId });
  });

  test('that is forgotten, or deleted with its user, before the gateway answers is cancelled when it does', async () => {
    const ends = [() => create('pro', 'key'), () => database.query('delete from auth.users')];
    for (const [minutes, end] of ends.entries()) {
      customer = await database.customer();
      const { id } = await create('pro', 'key');
      expect(id).toEqual(expect.any(String));
      await later(minutes + 1);
      await end();
      const made = uniqueId('sub');
      expect(await store(id, made)).toEqual({ outcome: 'order_not_found' });
      expect(await told(database, made)).toMatch(/^at cycle end/);
    }
  });

  test('that is deleted with its user, authorised meanwhile, is cancelled at once, also when the gateway answers', async () => {
    const { id } = await create();
    await database.query('delete from auth.users');
    await customer.event('authenticated', '06-01', { planId: 'plan_pro', fields: noting(id) });
    expect(await told(database, customer.gatewayId)).toMatch(/^at once/);
    expect(await store(id, customer.gatewayId)).toEqual({ outcome: 'order_not_found' });
    expect(await told(database, customer.gatewayId)).toMatch(/^at once/);
  });

  test.each(['activated', 'cancelled'] as const)(
    'that was not authorised yet, beside one that was %s, is cancelled at once when its user is deleted',
    async (status) => {
      await subscribe();
      const open = customer.gatewayId;
      await subscribe('basic');
      await customer.event(status, minute(1), { planId: 'plan_basic', ...june });
      await database.query('delete from auth.users');
      expect(await told(database, open)).toMatch(/^at once/);
      expect(await told(database, customer.gatewayId)).toMatch(status === 'activated' ? /^at once/ : /^nothing/);
    },
  );
});

describe('a first charge that arrives before the gateway answers', () => {
  const charge = (id: unknown) => customer.charge(june, 'pro', { fields: noting(id) });
  const requests = async () =>
    Number(
      (await database.one('select count(*) from billing.gateway_subscriptions where user_id = $1', [customer.id]))
        .count,
    );

  test('is of the request: its id, its API key, and a mail', async () => {
    const { id } = await create('pro', 'key', 'rzp_key');
    expect(await charge(id)).toBe('applied');
    expect(await create('pro', 'key')).toMatchObject({ outcome: 'existing', id, status: 'active' });
    expect(await store(id, customer.gatewayId)).toEqual({ outcome: 'stored' });
    expect(await requests()).toBe(1);
    expect(await database.one('select gateway_key_id from public.payments')).toEqual({ gateway_key_id: 'rzp_key' });
    expect(await customer.mails()).toEqual([expect.stringMatching(/^payment-success/)]);
  });

  test('is of no request where its notes name another user’s, or one that was answered', async () => {
    const answered = await subscribe('basic');
    const { id } = await create();
    customer = await database.customer();
    for (const other of [id, answered, 'none']) {
      customer = customerOf(database, customer);
      await charge(other);
    }
    expect(await requests()).toBe(3);
    const asked =
      `select gateway_subscription_id as of from billing.gateway_subscriptions where asked_plan_id is not null
                   order by asked_tier`;
    expect(await database.query(asked)).toEqual([{ of: expect.any(String) }, { of: null }]);
  });
});

test('a request whose id a row that was written by hand names is not stored twice', async () => {
  const { id } = await create();
  await database.query(
    `insert into public.subscriptions (user_id, tier, status, gateway_subscription_id) values ($1, 'pro', 'active', $2)`,
    [customer.id, customer.gatewayId],
  );
  expect(await store(id, customer.gatewayId)).toEqual({ outcome: 'order_not_found' });
  expect(await customer.row()).toMatchObject({ status: 'active', gateway_subscription_id: customer.gatewayId });
});

describe('an idempotency key', () => {
  test('names the subscription, also after it was activated; of another tier → key_conflict', async () => {
    const id = await subscribe('pro', 'key');
    expect(await create('basic', 'key')).toEqual({ outcome: 'key_conflict' });
    await activate();
    await later(10 * hours);
    expect(await create('pro', 'key')).toMatchObject({ outcome: 'existing', id, status: 'active' });
  });

  test('that is new for the open subscription names it, too, and only of its user', async () => {
    const id = await subscribe('pro');
    expect(await create()).toMatchObject({ outcome: 'existing', id });
    for (const key of ['key', 'another']) expect(await create('pro', key)).toMatchObject({ outcome: 'existing', id });
    await later(10 * hours);
    expect(await create('pro', 'another')).toMatchObject({ outcome: 'existing', id });
    customer = await database.customer();
    expect(await create('pro', 'key')).not.toMatchObject({ id });
  });
});

describe('within an hour', () => {
  test('an eleventh subscription → rate_limited until the first is an hour old', async () => {
    for (let minutes = 0; minutes < 10; minutes++) {
      await later(minutes);
      await create();
    }
    await later(10);
    expect(await create()).toEqual({ outcome: 'rate_limited', retry_after: 50 * 60 });
    await later(60);
    expect(await outcome()).toBe('created');
  });

  test('a twenty-first key of the open subscription → rate_limited until it is no longer returned', async () => {
    await subscribe('pro', 'key 0');
    for (let n = 1; n < 20; n++) expect(await outcome('pro', `key ${n}`)).toBe('existing');
    expect(await create('pro', 'key 20')).toEqual({ outcome: 'rate_limited', retry_after: 30 * 60 });
    expect(await outcome('pro', 'key 19')).toBe('existing');
  });
});

describe('a user with a subscription to the tier', () => {
  beforeEach(async () => {
    await subscribe();
    await activate();
  });

  test('that is billed → already_subscribed, but not for another tier', async () => {
    expect(await create()).toEqual({ outcome: 'already_subscribed' });
    expect(await outcome('basic')).toBe('created');
  });

  test('of which only a charge is known, or a row that was written by hand → already_subscribed', async () => {
    customer = await database.customer();
    await customer.charge(june, 'pro');
    expect(await create()).toEqual({ outcome: 'already_subscribed' });
    customer = await database.customer();
    await database.query(
      `insert into public.subscriptions (user_id, tier, plan_id, status, current_period_start, current_period_end, gateway_subscription_id)
       select $1, 'pro', p.id, 'active', $2, $3, $4 from public.plans p where p.tier = 'pro' and p.lookup_key is null`,
      [customer.id, june.start, june.end, customer.gatewayId],
    );
    expect(await create()).toEqual({ outcome: 'already_subscribed' });
    expect(await outcome('basic')).toBe('created');
  });

  test.each<[string, () => Promise<unknown>]>([
    ['cancelled at the end', () => customer.cancel('at the end')],
    ['halted', () => customer.event('halted', '06-15', { planId: 'plan_pro' })],
    ['halted after its cycle', () => customer.event('halted', '07-05', { planId: 'plan_pro' })],
    ...['basic', 'premium'].map((
      tier,
    ): [string, () => Promise<unknown>] => [`followed by a change to ${tier}`, async () => {
      const change = await askChange(database, customer, tier, 'period_end');
      await change.event('authenticated', '06-15', { planId: `plan_${tier}` });
    }]),
  ])('that is %s may start another one', async (_, end) => {
    await end();
    expect(await outcome()).toBe('created');
  });

  test('that was completed may start another one', async () => {
    customer = await database.customer();
    await activate();
    await customer.event('completed', '06-02', { planId: 'plan_pro' });
    expect(await outcome()).toBe('created');
  });
});

describe('the first payment', () => {
  const payment = { id: 'pay_first', amount: 99_900 };
  beforeEach(async () => {
    await subscribe();
    await activate();
    await customer.charge(june, 'pro', { payment, fields: { paid_count: 1 } });
  });

  test('is mailed as a payment, and each further charge as a renewal', async () => {
    await customer.charge(months(7), 'pro', { payment: { ...payment, id: 'pay_second' }, fields: { paid_count: 2 } });
    const rows = await database.query("select kind from billing.outbox where payload ->> 'to' is not null order by id");
    expect(rows.map(({ kind }) => kind)).toEqual(['payment-success', 'subscription-renewed']);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['refunded', () => database.send(refundEvent(payment, payment.amount))],
    ['cancelled at once', () => customer.cancel('at once')],
  ])('is verified by its customer alone, until it is %s', async (_, end) => {
    const verify = ({ id } = customer) => database.rpc('verify_subscription', id, customer.gatewayId, payment.id);
    expect(await verify(await database.customer())).toEqual({ outcome: 'subscription_not_found' });
    expect(await verify()).toMatchObject({ outcome: 'already_applied', tier: 'pro' });
    await end();
    expect(await verify()).toEqual({ outcome: 'refunded' });
  });
});

describe('a trial', () => {
  const planId = 'plan_pro';
  const inTrial = 'pro: pro active to 2026-06-15';
  beforeEach(() => database.setPlan('pro', 'trial_days = 14'));
  const authenticate = (time = '06-01') => customer.event('authenticated', time, { planId, createdAt: day('06-01') });

  test('is a start that many days later, and gives access from the authorisation until then', async () => {
    const { id, start_at } = await create();
    expect(start_at).toBe(seconds(day('06-15')));
    await store(id, customer.gatewayId);
    expect(await customer.tier()).toBe('free');
    expect(await authenticate()).toBe('applied');
    expect(await customer.state()).toBe(inTrial);
    expect(await create()).toEqual({ outcome: 'already_subscribed' });
    expect(await database.rpc('preview_change', customer.id, 'premium', 'now', null, false))
      .toMatchObject({ outcome: 'change', change: { credit: 0 } });
  });

  test('is given by an authorisation that arrives before the gateway answers', async () => {
    const { id } = await create();
    expect(await customer.event('authenticated', '06-01', { planId, fields: noting(id) })).toBe('applied');
    expect(await store(id, customer.gatewayId)).toEqual({ outcome: 'stored' });
    expect(await customer.state()).toBe(inTrial);
  });

  test('that was cancelled runs to its end, also after the gateway confirmed the cancellation', async () => {
    await subscribe();
    await authenticate();
    expect(await customer.cancel('at the end')).toMatchObject({ outcome: 'cancelled' });
    expect(await customer.cancellation()).toMatchObject({ state: 'pending' });
    await attempt(database, customer.gatewayId);
    await customer.event('cancelled', '06-13', { planId });
    expect(await customer.state()).toMatch(/^pro: /);
    expect(await database.rpc('resume_subscription', customer.id)).toEqual({ outcome: 'cannot_be_resumed' });
    expect(await customer.row()).toMatchObject({ cancel_at_period_end: true });
    await later(14 * 24 * hours + 1);
    expect(await database.one('select billing.settle_due() as ended')).toEqual({ ended: 1 });
    expect(await customer.tier()).toBe('free');
  });

  test('is given after a request that was never authorised, and that the gateway says it cancelled', async () => {
    const id = await subscribe();
    await later(24 * hours);
    await database.rpc('apply_gateway_subscription', id, JSON.stringify({ status: 'created' }));
    expect(await customer.event('cancelled', minute(24 * hours + 1), { planId })).toBe('unmatched');
    expect(await create()).toMatchObject({ outcome: 'created', start_at: seconds(minute((24 + 14 * 24) * hours + 1)) });
  });

  test('is not given to a user who paid or had a subscription before', async () => {
    await customer.buy('basic');
    expect(await create()).toMatchObject({ outcome: 'created', start_at: null });
    customer = await database.customer();
    await customer.event('activated', '06-01', { planId: 'plan_basic', ...june });
    expect(await create()).toMatchObject({ outcome: 'created', start_at: null });
  });
});

describe('reconciliation', () => {
  const claim = async () => (await database.rpc('claim_subscriptions_to_reconcile')).subscriptions;
  const apply = async (id: string, entity: Record<string, unknown> | null) =>
    (await database.rpc('apply_gateway_subscription', id, entity === null ? null : JSON.stringify(entity))).applied;
  const cycle = { current_start: seconds(june.start), current_end: seconds(june.end) };
  const paid = () => ({ id: customer.gatewayId, status: 'active', plan_id: 'plan_pro', ...cycle, notes: [] });
  const open = async () =>
    (await database.query(
      'select asked_tier as tier from billing.gateway_subscriptions where asked_plan_id is not null order by asked_tier',
    )).map(({ tier }) => tier);

  test('claims a subscription ten minutes after it was made, leases it for five, and asks again once authorised', async () => {
    const id = await subscribe();
    expect(await claim()).toEqual([]);
    await later(10);
    expect(await claim()).toEqual([{ id, gateway_subscription_id: customer.gatewayId }]);
    expect(await claim()).toEqual([]);
    await later(15);
    expect(await claim()).toHaveLength(1);
    await later(25 * hours);
    expect(await claim()).toHaveLength(1);
    await apply(id, { status: 'authenticated' });
    await later(26 * hours);
    expect(await claim()).toHaveLength(1);
  });

  test('does not claim a subscription whose event arrived, and forgets one that the gateway did not make', async () => {
    await subscribe();
    await activate();
    await create('basic');
    await later(10);
    expect(await claim()).toEqual([]);
    expect(await open()).toEqual(['basic', 'pro']);
    await later(25 * hours);
    expect(await claim()).toEqual([]);
    expect(await open()).toEqual(['pro']);
  });

  test('grants the first cycle that no webhook announced, with an alert; the webhook then changes nothing', async () => {
    const id = await subscribe();
    await later(10);
    await claim();
    expect(await apply(id, paid())).toBe(true);
    expect(await customer.state()).toBe('pro: pro active to 2026-07-01');
    expect(await alertsAbout(database, customer.gatewayId)).toEqual(['missed_webhook']);
    await later(60);
    expect(await claim()).toEqual([]);
    const before = await customer.subscription();
    await activate(minute(60));
    expect(await customer.subscription()).toEqual(before);
  });

  test('that was read before the first charge does not set the status back', async () => {
    const id = await subscribe();
    await activate();
    await customer.charge(june, 'pro', { fields: { paid_count: 1 } });
    expect(await apply(id, { ...paid(), status: 'authenticated', paid_count: 0 })).toBe(false);
    expect((await database.rpc('get_subscription', customer.id)).billing).toMatchObject({ status: 'active' });
  });

  test('of a cycle that ended long ago, and was never heard of, ends its access with it', async () => {
    const id = await subscribe();
    await database.at('08-01');
    await apply(id, paid());
    await database.expire();
    expect(await customer.state()).toBe('free: pro cancelled to 2026-07-01');
  });

  describe('of a request that a row without an end names, written by hand,', () => {
    let id: string;
    beforeEach(async () => {
      id = await subscribe();
      await database.query(
        `insert into public.subscriptions (user_id, tier, status, gateway_subscription_id) values ($1, 'pro', 'active', $2)`,
        [customer.id, customer.gatewayId],
      );
      await later(25 * hours);
    });

    test.each(['cancelled', 'expired'])('that is %s ends that row', async (status) => {
      expect(await apply(id, { status })).toBe(true);
      expect(await customer.state()).toBe('free: pro cancelled to none');
    });

    test.each([{ status: 'created' }, null])('that was not authorised goes on for 30 days: %j', async (answer) => {
      const due = async () => {
        await apply(id, answer);
        await database.query(
          "update billing.gateway_subscriptions set next_check_at = next_check_at - interval '1 hour'",
        );
        return await claim();
      };
      expect(await due()).toHaveLength(1);
      await database.at('07-02');
      expect(await due()).toEqual([]);
    });
  });

  test('asks again every hour until the authorisation expires, then cancels the subscription once', async () => {
    const id = await subscribe();
    for (const minutes of [10, 70, 24 * hours - 30]) {
      await later(minutes);
      expect(await claim()).toHaveLength(1);
      expect(await apply(id, { status: 'created' })).toBe(false);
      expect(await claim()).toEqual([]);
    }
    expect(await told(database, customer.gatewayId)).toBe('nothing');
    await later(24 * hours);
    expect(await claim()).toHaveLength(1);
    expect(await apply(id, { status: 'created' })).toBe(true);
    expect(await told(database, customer.gatewayId)).toBe('at once 2026-06-02');
    await later(48 * hours);
    expect(await claim()).toEqual([]);
    expect(await open()).toEqual([]);
  });

  test('does not forget one whose authorisation arrived after the answer was read', async () => {
    const id = await subscribe();
    await customer.event('authenticated', minute(24 * hours - 1), { planId: 'plan_pro' });
    await later(24 * hours + 1);
    const read = JSON.stringify({ id: customer.gatewayId, status: 'created' });
    await database.rpc('apply_gateway_subscription', id, read);
    expect(await database.query('select id from billing.gateway_subscriptions')).toEqual([{ id }]);
    expect(await told(database, customer.gatewayId)).toBe('nothing');
  });

  test.each([
    ['expired', { status: 'expired' }, []],
    ['unknown, such as under another account’s key,', null, ['pro']],
  ])('answering %s cancels nothing; what is unknown is forgotten after 30 days', async (_, entity, kept) => {
    const id = await subscribe();
    await later(10);
    await claim();
    expect(await apply(id, entity)).toBe(false);
    await later(24 * hours);
    expect(await claim()).toHaveLength(1);
    expect(await apply(id, entity)).toBe(false);
    expect(await open()).toEqual(kept);
    await later(30 * 24 * hours);
    expect(await claim()).toHaveLength(kept.length);
    await apply(id, entity);
    expect(await open()).toEqual([]);
    expect(await told(database, customer.gatewayId)).toBe('nothing');
  });

  test('of a user who was deleted meanwhile changes nothing', async () => {
    const id = await subscribe();
    await later(10);
    await claim();
    await database.query('delete from auth.users');
    expect(await apply(id, paid())).toBe(false);
  });
});
