import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';
import {
  disputeEvent,
  orderPaid,
  paymentCaptured,
  paymentFailed,
  refundEvent,
  seconds,
} from '../helpers/gateway/events.ts';
import { askChange, type Customer, type CustomerOrder } from '../helpers/records/customer.ts';
import { paymentOf } from '../helpers/records/purchases.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { act, actAsOwner, endAccess, grantTier, openSupport } from '../helpers/records/support-actions.ts';
import { day, months } from '../helpers/records/time.ts';

const database = useDatabase({ findings: 'compared elsewhere' });
beforeEach(async () => {
  await database.at('01-01');
});
const customer = useCustomer(database);

const read = ({ email }: Pick<Customer, 'email'> = customer) =>
  database.one('select * from billing.customers where email = $1', [email]);
/** `payment <id> pro: 1 Jan 2026 to 1 Jan 2027, ended 3 Jan 2026, ruling` */
const periods = async () =>
  (await database.query(
    `select concat(kind, ' ', source_id, ' ', tier, ': ', billing.day_text(starts_at), ' to ', billing.day_text(ends_at),
       ', ended ' || billing.day_text(ended_at), case when is_ruling then ', ruling' end) as text
     from billing.periods where user_id = $1 order by starts_at, ends_at`,
    [customer.id],
  )).map(({ text }) => text);

describe('billing.customers says in one sentence why', () => {
  test('a user has no tier who never paid', async () => {
    const why = 'No payment, subscription or grant gives a tier.';
    const nothing = { source_kind: null, until: null, billing: null, last_payment_at: null };
    expect(await read()).toMatchObject({ tier: 'free', why, ...nothing, lifetime_amounts: {}, open_findings: '0' });
  });

  test('a payment gives the tier, and after its refund or an admin’s end of access that it gave it', async () => {
    const order = await customer.buy('pro');
    const paid = `Payment ${order.paymentId} of 1 Jan 2026`;
    const person = { user_id: customer.id, name: customer.email?.split('@')[0], tier: 'pro' };
    const source = { source_kind: 'payment', source_id: order.id, billing: 'one-time' };
    expect(await read()).toMatchObject({
      ...{ ...person, ...source, why: `${paid} gives pro until 1 Jan 2027.`, lifetime_amounts: { INR: 99900 } },
      ...{ last_payment_at: new Date('2026-01-01T00:00:00Z'), until: new Date('2027-01-01T00:00:00Z') },
    });
    await order.refund();
    const why = `${paid} gave pro and ended on 1 Jan 2026: refunded.`;
    expect(await read()).toMatchObject({ tier: 'free', why, source_kind: null, lifetime_amounts: { INR: 0 } });
    await endAccess(database, (await customer.buy('pro')).paymentId);
    expect(await read()).toMatchObject({ tier: 'free', why: expect.stringContaining('ended by admin') });
  });

  test('a refunded cycle gave it until its refund, also after a cancellation', async () => {
    await customer.event('activated', '01-01', { planId: 'plan_pro', ...months(1) });
    await customer.charge(months(1), 'pro', { payment: { id: 'pay_cycle', amount: 99900 } });
    await database.at('01-20');
    await database.send(refundEvent({ id: 'pay_cycle', amount: 99900 }, 99900));
    const why = `Subscription ${customer.gatewayId} of 1 Jan 2026 gave pro and ended on 20 Jan 2026: refunded.`;
    expect(await read()).toMatchObject({ tier: 'free', why });
    await customer.cancel('at once');
    expect(await read()).toMatchObject({ tier: 'free', why });
  });

  test('a grant gives it', async () => {
    const id = await grantTier(database, customer.email, 'premium', '2026-03-01Z', 'press');
    const why = `Grant ${id} of 1 Jan 2026 (press) gives premium until 1 Mar 2026.`;
    expect(await read()).toMatchObject({ why, billing: 'complimentary', lifetime_amounts: {} });
  });

  test('a row written by hand gives it', async () => {
    const insert = "insert into public.subscriptions (user_id, tier, status) values ($1, 'pro', 'active')";
    await database.query(insert, [customer.id]);
    const why = 'The subscription row that was written by hand on 1 Jan 2026 gives pro.';
    const row = { tier: 'free', why, source_kind: 'manual', billing: null, open_findings: '2' };
    expect(await read()).toMatchObject(row);
  });

  test('a row written by hand without an end gives it, until the gateway has told when it charges', async () => {
    await database.query(
      `insert into public.subscriptions (user_id, tier, status, gateway_subscription_id)
       values ($1, 'pro', 'active', $2)`,
      [customer.id, uniqueId('sub')],
    );
    const why = 'The subscription row that was written by hand on 1 Jan 2026 gives pro. When the gateway charges the ' +
      'next cycle is not known.';
    expect(await read()).toMatchObject({ why, billing: 'billed' });
  });

  test('a row written by hand gives it, until what is paid below it is charged or changes: a later fact ranks above', async () => {
    await customer.charge(months(1), 'pro');
    await database.at('01-10');
    const write = () =>
      database.query(
        "update public.subscriptions set tier = 'premium', current_period_end = '2026-03-15Z' where user_id = $1",
        [customer.id],
      );
    const given =
      'The subscription row that was written by hand on 10 Jan 2026 gives premium until 15 Mar 2026, or until ';
    await write();
    expect(await read()).toMatchObject({ why: `${given}the gateway charges the next cycle on 1 Feb 2026.` });
    const next = await askChange(database, customer, 'basic', 'period_end');
    const fields = { charge_at: seconds('2026-02-01T00:00:00Z') };
    await next.event('authenticated', '01-10', { planId: 'plan_basic', fields });
    expect(await read()).toMatchObject({ why: `${given}basic begins on 1 Feb 2026.` });
  });

  test('a subscription that the gateway bills gives it, with each cycle in the amounts and the periods', async () => {
    const payment = { id: uniqueId('pay'), amount: 4900 };
    await customer.charge(months(1), 'basic');
    await customer.charge(months(2), 'basic', { payment });
    const id = customer.gatewayId;
    const source = { source_kind: 'gateway_subscription', source_id: id, billing: 'billed' };
    const why =
      `Subscription ${id} of 1 Jan 2026 gives basic until 1 Mar 2026, when the gateway charges the next cycle.`;
    expect(await read()).toMatchObject({ ...source, why, lifetime_amounts: { INR: 9800 } });
    const cycles = ['1 Jan 2026 to 1 Feb 2026', '1 Feb 2026 to 1 Mar 2026, ruling']
      .map((cycle) => `gateway_subscription ${id} basic: ${cycle}`);
    expect(await periods()).toEqual(cycles);
    await database.send(refundEvent(payment, 4900));
    expect((await periods())[1]).toMatch(/: 1 Feb 2026 to 1 Mar 2026, ended 1 Feb 2026$/);
  });

  test('a subscription that is paused or was cancelled is not called billed, and no charge is announced', async () => {
    await customer.charge(months(1), 'basic');
    const given = `Subscription ${customer.gatewayId} of 1 Jan 2026 gives basic until 1 Feb 2026`;
    await customer.event('paused', '2026-01-05T00:00:00Z', { planId: 'plan_basic' });
    expect(await read()).toMatchObject({ billing: 'paused', why: `${given}. The gateway has paused it.` });
    const fields = { charge_at: seconds(months(1).end) };
    await customer.event('resumed', '2026-01-06T00:00:00Z', { planId: 'plan_basic', fields });
    expect(await read()).toMatchObject({ billing: 'billed' });
    await customer.cancel('at the end');
    expect(await read()).toMatchObject({ billing: 'ending', why: `${given} and was cancelled for that day.` });
  });
});

test('what the gateway ended, and told a day later, ended for support on the day that the customer reads', async () => {
  await customer.charge(months(1), 'basic');
  await customer.event('cancelled', '2026-01-11T00:00:00Z', {
    planId: 'plan_basic',
    createdAt: '2026-01-10T00:00:00Z',
  });
  expect((await customer.row()).cancelled_at).toEqual(new Date('2026-01-11T00:00:00Z'));
  expect((await read()).why).toContain('gave basic and ended on 11 Jan 2026: cancelled.');
});

test('in the days of grace grace_until is their end; before, and while the gateway is asked, there is none', async () => {
  await customer.buy('pro');
  expect((await read()).grace_until).toBeNull();
  await database.at('2027-01-02');
  const ends = { until: new Date('2027-01-01T00:00:00Z'), grace_until: new Date('2027-01-04T00:00:00Z') };
  expect(await read()).toMatchObject({ tier: 'pro', ...ends });
  const billed = await database.customer();
  await billed.charge(months(1), 'basic');
  await database.at('2026-02-01T00:10:00Z');
  expect(await read(billed)).toMatchObject({ until: new Date('2026-02-01T00:00:00Z'), grace_until: null });
});

test('what arrives about a charge before its subscription is known once the subscription names it', async () => {
  const start = day('01-01');
  const payment = { id: uniqueId('pay'), amount: 4900, order_id: uniqueId('order') };
  const bodies = [paymentCaptured(payment), orderPaid({ ...payment, currency: 'INR' }, { id: payment.order_id })];
  for (const body of bodies) await database.send(body);
  const outcomes = async () =>
    (await database.query(
      'select outcome from billing.webhooks where body_sha256 = any (array(select decode(x, $2) from unnest($1::text[]) x))',
      [bodies.map(sha256), 'hex'],
    )).map(({ outcome }) => outcome);
  expect(await outcomes()).toEqual(['unmatched', 'unmatched']);
  await customer.charge({ start, end: day('02-01') }, 'basic', { payment });
  expect(await outcomes()).toEqual(['already', 'already']);
});

test('billing.periods shows overlaps, and the one that rules', async () => {
  const order = await customer.buy('pro');
  const grant = await grantTier(database, customer.email, 'premium', '2026-03-01Z', 'press');
  const payment = `payment ${order.id} pro: 1 Jan 2026 to 1 Jan 2027`;
  const granted = `grant ${grant} premium: 1 Jan 2026 to 1 Mar 2026`;
  expect((await periods()).sort()).toEqual([`${granted}, ruling`, payment]);
  await actAsOwner(database, { action: 'revoke_grant', email: customer.email });
  expect((await periods()).sort()).toEqual([`${granted}, ended 1 Jan 2026`, `${payment}, ruling`]);
});

test('open_findings counts the findings of this customer', async () => {
  for (const each of [customer, await database.customer()]) await (await each.buy('pro')).dispute('lost');
  expect(await read()).toMatchObject({ open_findings: '1' });
  const found = 'select finding, remedy from billing.findings where email = $1';
  const remedy = 'End the access of the payment.';
  expect(await database.query(found, [customer.email])).toEqual([{ finding: 'dispute_lost', remedy }]);
});

test('a user of single sign-on has a row, and the address may be that of another user, too', async () => {
  const [id, email] = [crypto.randomUUID(), `${uniqueId('sso')}@example.com`];
  await database.query('insert into auth.users (id, email, is_sso_user) values ($1, $2, true)', [id, email]);
  const identity = "values ($1, 'sso:1', $2, $1, jsonb_build_object('email', $2::text))";
  const columns = '(id, provider, provider_id, user_id, identity_data)';
  await database.query(`insert into auth.identities ${columns} ${identity}`, [id, email]);
  expect(await read({ email })).toMatchObject({ user_id: id, tier: 'free' });
  await createUser(database, { email });
  await expect(database.query('select billing.user_id_of($1)', [email])).rejects.toMatchObject({ code: 'PS409' });
});

describe('a search of customers', () => {
  const [asha, ashok] = ['asha.rao@shop.example.com', 'ashok@example.com'];
  let found: Customer;
  let order: CustomerOrder;
  beforeAll(async () => {
    found = await database.customer({ email: asha });
    await database.query("update public.profiles set display_name = 'Asha 100%_Rao' where user_id = $1", [found.id]);
    await createUser(database, { email: ashok });
    for (let count = 1; count <= 21; count += 1) await createUser(database, { email: `many${count}@example.com` });
    order = await found.buy('pro');
    await order.refund(100, { id: 'rfnd_of_asha' });
    await found.charge(months(1), 'none', { payment: { id: 'pay_of_asha', amount: 100 } });
  });
  const search = async (text: string) =>
    (await database.query('select email, found_by from billing.search_customers($1)', [text]))
      .map(({ email, found_by }) => [email, found_by]);

  test('finds by the ids of the user and of what was paid', async () => {
    const ids = {
      ...{ [found.id]: 'user', [order.id]: 'payment', [order.orderId]: 'orders', [order.paymentId]: 'payments' },
      ...{ rfnd_of_asha: 'refund', [found.gatewayId]: 'subscriptions', pay_of_asha: 'payments' },
    };
    for (const [id, way] of Object.entries(ids)) expect(await search(` ${id} `), id).toEqual([[asha, way]]);
    expect(await search(crypto.randomUUID())).toEqual([]);
  });

  test.each([[asha, 1], ['ASH', 2], ['rao', 1], ['100%_r', 1], ['shop.example', 1], ['a%a', 0], ['', 0], [' ', 0]])(
    'finds by "%s" %i',
    async (text, count) => {
      expect((await search(text)).map(([email]) => email)).toEqual([asha, ashok].slice(0, count));
    },
  );

  test('returns at most 20, the exact address first', async () => {
    expect(await search('many')).toHaveLength(20);
    expect((await search('many3@example.com'))[0]).toEqual(['many3@example.com', 'email']);
  });

  test('works without the extension pg_trgm', async () => {
    const admin = await database.connect();
    await admin.query('begin; drop extension pg_trgm cascade');
    const { rows } = await admin.query("select email from billing.search_customers('rao')");
    await admin.query('rollback');
    expect(rows).toEqual([{ email: asha }]);
  });
});

describe('billing.timeline', () => {
  const timeline = async ({ email }: Pick<Customer, 'email'> = customer) =>
    (await database.query(
      "select * from billing.timeline where email = $1 and what <> 'signed_up' order by at, rank, detail",
      [email],
    )).map(({ what, reference, detail, link }) => [what, reference, detail, link]);

  test('tells what happened to a customer, with links into the gateway’s dashboard', async () => {
    const order = await customer.order('pro');
    const [failed, refund] = [uniqueId('pay'), uniqueId('rfnd')];
    await database.query("update public.payments set gateway_key_id = 'key_live_1' where id = $1", [order.id]);
    await database.set("gateway_dashboard = 'https://gateway.test/{mode}/{kind}/{id}'");
    const money = paymentOf(order);
    await database.at('01-02');
    await database.send(paymentFailed({ ...money, id: failed, error_description: 'Card declined.' }));
    await database.at('01-03');
    await order.capture();
    await database.at('01-04');
    const dispute = { id: uniqueId('disp'), amount: 10000 };
    await database.send(disputeEvent('created', 'open', money, dispute, { createdAt: '2026-01-04T00:00:00Z' }));
    await database.at('01-05');
    await order.refund(99900, { id: refund });
    await database.at('01-06');
    await act(await openSupport(database), { action: 'note', email: customer.email, reason: 'Called us' });

    const { orderId, paymentId } = order;
    const at = 'https://gateway.test/live';
    const [ordered, paid] = [`${at}/orders/${orderId}`, `${at}/payments/${paymentId}`];
    expect(await timeline()).toEqual([
      ['order', orderId, 'Order of 999.00 INR for pro.', ordered],
      ['attempt_failed', orderId, 'payment.failed: applied. Card declined.', `${at}/payments/${failed}`],
      ['mail', expect.any(String), 'payment-failed: queued.', null],
      ['webhook', orderId, 'payment.captured: applied.', ordered],
      ['captured', paymentId, '999.00 INR captured for pro, 3 Jan 2026 to 3 Jan 2027.', paid],
      ['tier_changed', orderId, 'free to pro: payment.captured.', null],
      ['mail', expect.any(String), 'payment-success: queued.', null],
      ['webhook', paymentId, 'payment.dispute.created: applied.', paid],
      ['dispute', dispute.id, `100.00 INR of payment ${paymentId}, chargeback: open.`, paid],
      ['webhook', orderId, 'refund.processed: applied.', ordered],
      ['refunded', refund, `999.00 INR of payment ${paymentId}: processed.`, paid],
      ['tier_changed', orderId, 'pro to free: refund.processed.', null],
      ['mail', expect.any(String), 'subscription-ended: queued.', null],
      ['support_action', expect.any(String), 'note by subscriptions_support: Noted. Reason: Called us.', null],
    ]);
  });

  test('names no tier of an order of the app that has none', async () => {
    await database.query('insert into public.payments (user_id, amount, gateway_order_id) values ($1, 4900, $2)', [
      customer.id,
      uniqueId('order'),
    ]);
    expect((await timeline()).map(([, , what]) => what)).toEqual(['Order of 49.00 INR.']);
  });

  test('shows a subscription that the gateway bills, its cancellation, and grants', async () => {
    const pay = uniqueId('pay');
    await customer.charge(months(2), 'pro', { payment: { id: pay, amount: 99900 } });
    await customer.cancel('at the end');
    await database.at('02-02');
    const grant = await grantTier(database, customer.email, 'premium', '2026-03-01Z', 'sorry');
    await database.at('02-03');
    await actAsOwner(database, { action: 'revoke_grant', reference: grant });
    const lines = (await timeline()).map((line) => line.slice(0, 3));
    expect(lines).toEqual(expect.arrayContaining([
      ['webhook', customer.gatewayId, 'subscription.charged: applied.'],
      ['captured', pay, '999.00 INR captured for pro, 1 Feb 2026 to 1 Mar 2026.'],
      ['cancellation', customer.gatewayId, 'At the end of the cycle, to the gateway: queued.'],
      ['grant', grant, 'premium until 1 Mar 2026: sorry.'],
      ['grant_ended', grant, 'revoked.'],
    ]));
  });

  test('shows what was written by hand: the subscription row, and the tier of the profile', async () => {
    await customer.charge(months(1), 'pro');
    await database.query("update public.subscriptions set tier = 'premium' where user_id = $1", [customer.id]);
    await database.query("update public.profiles set subscription_tier = 'premium' where user_id = $1", [customer.id]);
    expect((await timeline()).map((line) => line.slice(0, 3))).toEqual(expect.arrayContaining([
      ['written_by_hand', customer.gatewayId, 'The subscription row: premium until 1 Feb 2026.'],
      ['tier_changed', null, 'pro to premium: the profile was written by hand.'],
    ]));
  });

  test('tells webhooks from what was read, the state of each mail, and nothing of other customers', async () => {
    const [order, other] = [await customer.order('pro'), await database.customer()];
    await other.order('pro');
    await order.capture();
    const mail = async (columns: string) => {
      await database.query(`update billing.outbox set ${columns} where key = 'payment-success/${order.id}'`);
      return (await timeline()).find(([what]) => what === 'mail')?.[2];
    };
    expect(await mail("parked_at = now(), last_error = 'HTTP 422'")).toBe('payment-success: parked. HTTP 422.');
    expect(await mail('parked_at = null, last_error = null, delivered_at = now()')).toBe('payment-success: delivered.');
    await database.query(`update billing.gateway_events set deliveries = 0 where subject_id = '${order.orderId}'`);
    const kinds = async (of: Customer) => (await timeline(of)).map(([what]) => what).sort();
    expect(await kinds(customer)).toEqual(['captured', 'mail', 'order', 'reconciliation', 'tier_changed']);
    expect(await kinds(other)).toEqual(['order']);
  });

  test('has links only with the mode of the API key and the address of the dashboard', async () => {
    const link = async (key: string | null) =>
      (await database.one("select billing.gateway_link($1, 'orders', 'order_1') as link", [key])).link;
    expect(await link('key_test_1')).toBeNull();
    await database.set("gateway_dashboard = 'https://gateway.test/{mode}/{kind}/{id}'");
    expect(await link('key_test_1')).toBe('https://gateway.test/test/orders/order_1');
    expect([await link('key_local'), await link(null)]).toEqual([null, null]);
    const insecure = database.set("gateway_dashboard = 'http://gateway.test/{id}'");
    await expect(insecure).rejects.toMatchObject({ code: '23514' });
  });
});

test('billing.webhooks, billing.messages and billing.customer_payments name the customer', async () => {
  const body = paymentFailed({ ...paymentOf(await customer.order('pro')), error_description: 'Card declined' });
  await database.send(body);
  const [user_id, email] = [customer.id, customer.email];
  const rowOf = (view: string, column: string, value: unknown) =>
    database.one(`select * from billing.${view} where ${column}::text = $1`, [value]);
  expect(await rowOf('webhooks', 'body_sha256', `\\x${sha256(body)}`))
    .toMatchObject({ user_id, email, event: 'payment.failed', deliveries: 1, outcome: 'applied' });
  expect(await rowOf('messages', 'recipient', email))
    .toMatchObject({ user_id, kind: 'payment-failed', state: 'queued', next_attempt_at: expect.any(Date) });
  expect(await rowOf('customer_payments', 'user_id', user_id))
    .toMatchObject({ user_id, status: 'failed', attempts: '1', last_error: 'Card declined', kind: 'order' });
});
