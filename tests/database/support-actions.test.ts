import type pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { readFindings } from '../helpers/database/findings.ts';
import { waitUntilBlocked } from '../helpers/database/session.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';
import { gatewayEvent, paymentCaptured, refundEvent } from '../helpers/gateway/events.ts';
import { claim, enqueue, fail } from '../helpers/outbox/claims.ts';
import { paymentOf, placeOrder } from '../helpers/records/purchases.ts';
import { readAllRows, readLedger } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { act, openSupport, type SupportAction } from '../helpers/records/support-actions.ts';
import { months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
let support: pg.Client;
const customer = useCustomer(database);
beforeAll(async () => {
  support = await openSupport(database);
});

const until = '2126-01-01T00:00:00Z';
const grant = (tier: string, till: string | null = until) =>
  act(support, { action: 'grant', email: customer.email, tier, until: till });
const writeByHand = (tier: string, isCancelled = false) =>
  database.query(
    `insert into public.subscriptions (user_id, tier, status, current_period_end, cancel_at_period_end)
     values ($1, $2, 'active', $3, $4)`,
    [customer.id, tier, until, isCancelled],
  );
/** Expects that an action is refused and that nothing was written. */
async function refused(action: SupportAction, code: string, message: RegExp): Promise<void> {
  const before = await readAllRows(database);
  await expect(act(support, action)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  expect(await readAllRows(database)).toEqual(before);
}
const findingsOf = async (name: string) => (await readFindings(database)).filter((finding) => finding.includes(name));

describe('grant', () => {
  test('gives the tier without a payment, and the row says what it did, for whom, who did it and when', async () => {
    await database.at('01-01');
    const row = await grant('premium', '2026-02-01Z');
    const reason = 'the customer asked for it';
    const actor = { actor: 'subscriptions_support', actor_email: null, created_at: new Date('2026-01-01T00:00:00Z') };
    const result = `Grant ${row.reference} gives premium until 1 Feb 2026.`;
    expect(row).toMatchObject({ email: customer.email, user_id: customer.id, ...actor, reason, result });
    expect(await database.one('select id::text, reason from billing.grants')).toEqual({ id: row.reference, reason });
    expect(await customer.subscription()).toEqual({
      ...{ tier: 'premium', status: 'active', plan_tier: 'premium', gateway_subscription_id: null },
      ...{ start: '2026-01-01T00:00:00.000Z', end: '2026-02-01T00:00:00.000Z' },
    });
    const changes = 'select to_tier, cause, reference from billing.tier_changes where user_id = $1';
    const change = { to_tier: 'premium', cause: 'grant', reference: reason };
    expect(await database.query(changes, [customer.id])).toEqual([change]);
  });

  test('rules above a row that was written by hand while the clock was ahead', async () => {
    await database.at('01-02');
    await writeByHand('premium');
    await database.at('01-01');
    await grant('basic');
    expect(await customer.tier()).toBe('basic');
  });

  test('takes an address in any case, and an id', async () => {
    const action = { action: 'grant', tier: 'basic' };
    await act(support, { ...action, email: ` ${customer.email?.toUpperCase()} `, until: '2100-01-01Z' });
    const row = await act(support, { ...action, email: customer.id, until: '2101-01-01Z' });
    expect(row).toMatchObject({ email: customer.email });
  });

  test('by two admins at once grants once', async () => {
    const other = await openSupport(database);
    await support.query('begin');
    await grant('pro');
    const second = act(other, { action: 'grant', email: customer.email, tier: 'pro', until });
    second.catch(() => {});
    await waitUntilBlocked(database, other);
    await support.query('commit');
    await expect(second).rejects.toMatchObject({ code: 'PS409', message: expect.stringContaining('already') });
    expect(await database.query('select from billing.grants')).toHaveLength(1);
  });

  test('to a customer who is deleted meanwhile is refused', async () => {
    const owner = await database.connect();
    await owner.query('begin');
    await owner.query('delete from auth.users where id = $1', [customer.id]);
    const granted = act(support, { action: 'grant', email: customer.id, tier: 'pro', until });
    granted.catch(() => {});
    await waitUntilBlocked(database, support);
    await owner.query('commit');
    await expect(granted).rejects.toMatchObject({ code: 'PS404', message: expect.stringContaining('deleted') });
  });

  test.each<[string, Partial<SupportAction>, string, RegExp]>([
    ['without a reason', { reason: ' ' }, 'PS400', /needs a reason/],
    ['without a customer', { email: null }, 'PS400', /needs email/],
    ['to an unknown customer', { email: 'unknown@example.com' }, 'PS404', /unknown@example.com/],
    ['to an unknown id', { email: crypto.randomUUID() }, 'PS404', /-/],
    ['of an unknown tier', { tier: 'gold' }, 'PS400', /"gold" is no tier/],
    ['until a time in the past', { until: '2020-01-01Z' }, 'PS400', /in the future/],
    ['without an end', { until: null }, 'PS400', /until/],
  ])('%s is refused and writes nothing', async (_, change, code, message) => {
    await refused({ action: 'grant', email: customer.email, tier: 'pro', until, ...change }, code, message);
  });
});

test('revoke_grant ends the only grant that runs, or that of its reference, of this customer, once', async () => {
  await grant('premium');
  await act(support, { action: 'revoke_grant', email: customer.email });
  expect(await customer.tier()).toBe('free');
  const { reference } = await grant('pro');
  await grant('premium');
  await refused({ action: 'revoke_grant', email: customer.email }, 'PS400', /2 grants/);
  const { email } = await database.customer();
  await refused({ action: 'revoke_grant', reference, email }, 'PS404', /no such grant/);
  await refused({ action: 'revoke_grant', reference: '0' }, 'PS404', /no such grant/);
  expect(await act(support, { action: 'revoke_grant', reference })).toMatchObject({ email: customer.email });
  await refused({ action: 'revoke_grant', reference }, 'PS409', /ended before/);
});

test.each(['paymentId', 'orderId', 'id'] as const)('end_access ends a payment by its %s, once', async (key) => {
  const action = { action: 'end_access', reference: (await customer.buy('pro'))[key] };
  await refused({ ...action, email: (await database.customer()).email }, 'PS404', /no payment/);
  await refused({ ...action, reference: uniqueId('pay') }, 'PS404', /no payment/);
  expect(await act(support, action)).toMatchObject({ email: customer.email, user_id: customer.id });
  expect(await customer.tier()).toBe('free');
  await refused(action, 'PS409', /ended before/);
});

test('reconcile_now makes one or all open orders of the customer due, and is refused without any', async () => {
  await refused({ action: 'reconcile_now', email: customer.email }, 'PS404', /nothing to reconcile/);
  await refused({ action: 'reconcile_now' }, 'PS400', /needs email or reference/);
  const orders = [await customer.order('pro'), await customer.order('basic')];
  const due = () =>
    Promise.all(orders.map(async (order) => Number((await order.row()).next_reconcile_at) <= Date.now()));
  await act(support, { action: 'reconcile_now', reference: orders[0]?.orderId });
  expect(await due()).toEqual([true, false]);
  const { result } = await act(support, { action: 'reconcile_now', email: customer.email });
  expect(result).toBe('Orders to read: 2. Subscriptions to read: 0.');
  expect(await due()).toEqual([true, true]);
});

test('reconcile_now has a subscription read also in the middle of its period', async () => {
  const claim = async () => (await database.rpc('claim_subscriptions_to_reconcile')).subscriptions;
  await customer.bill(months(1), 'basic');
  await database.at('01-10');
  await claim();
  expect(await claim()).toEqual([]);
  const { result } = await act(support, { action: 'reconcile_now', email: customer.email });
  expect(result).toBe('Orders to read: 0. Subscriptions to read: 1.');
  expect(await claim()).toMatchObject([{ gateway_subscription_id: customer.gatewayId }]);
  expect(await claim()).toEqual([]);
});

describe('requeue_mail', () => {
  async function park(): Promise<number> {
    const id = await enqueue(database, 'email');
    await database.query('update billing.outbox set payload = $2 where id = $1', [id, { to: customer.email }]);
    await fail(database.service, (await claim(database.service, 'email')).token, [id], { final: true });
    return id;
  }
  const stateOf = (id: number) => database.one('select state, attempts from billing.messages where id = $1', [id]);

  test('queues a parked message again and names its customer; one that is queued, withdrawn or unknown is refused', async () => {
    const id = await park();
    expect(await act(support, { action: 'requeue_mail', reference: id })).toMatchObject({ user_id: customer.id });
    expect(await stateOf(id)).toEqual({ state: 'queued', attempts: 0 });
    await refused({ action: 'requeue_mail', reference: id }, 'PS409', /is queued already/);
    const withdraw =
      "update billing.outbox set parked_at = now(), last_error = 'withdrawn', claims = '{}' where id = $1";
    await database.query(withdraw, [id]);
    await refused({ action: 'requeue_mail', reference: id }, 'PS409', /./);
    for (const reference of [0, 'no such key']) await refused({ action: 'requeue_mail', reference }, 'PS404', /./);
  });

  test('of a message that is delivered meanwhile is refused', async () => {
    const id = await park();
    const dispatcher = await database.connect();
    await dispatcher.query('begin');
    await dispatcher.query('update billing.outbox set delivered_at = now(), parked_at = null where id = $1', [id]);
    const requeued = act(support, { action: 'requeue_mail', reference: id });
    requeued.catch(() => {});
    await waitUntilBlocked(database, support);
    await dispatcher.query('commit');
    const message = expect.stringContaining('was delivered at');
    await expect(requeued).rejects.toMatchObject({ code: 'PS409', message });
    expect(await stateOf(id)).toMatchObject({ state: 'delivered' });
  });
});

describe('replay_event and ignore_event', () => {
  /** A captured payment of a tier without a plan. @returns the hash of the event and the tier */
  async function capture() {
    const tier = uniqueId('team');
    const body = paymentCaptured(paymentOf(await placeOrder(database, { user: customer, tier })));
    expect(await database.send(body)).toBe('plan_not_found');
    return { tier, hash: sha256(body) };
  }

  test('a replay after the plan exists grants the tier; another one is refused', async () => {
    const { tier, hash } = await capture();
    await database.query("insert into public.plans (tier, name, price) values ($1, 'Team', 99900)", [tier]);
    const action = { action: 'replay_event', reference: hash };
    const result = 'payment.captured was applied again: applied.';
    expect(await act(support, action)).toMatchObject({ user_id: customer.id, email: customer.email, result });
    expect(await customer.tier()).toBe(tier);
    await refused(action, 'PS409', /^the outcome of this webhook is final: applied$/);
  });

  test('an ignored event is no finding, and can be replayed later', async () => {
    const { hash } = await capture();
    const finding = ['failed_events', hash, 'plan_not_found'];
    expect(await findingsOf(hash)).toEqual([finding]);
    await act(support, { action: 'ignore_event', reference: `\\x${hash}` });
    expect(await findingsOf(hash)).toEqual([]);
    expect(await readLedger(database, hash)).toMatchObject({ outcome: 'ignored: by an admin' });
    await refused({ action: 'ignore_event', reference: hash }, 'PS409', /./);
    await act(support, { action: 'replay_event', reference: hash });
    expect(await findingsOf(hash)).toEqual([finding]);
    await act(support, { action: 'ignore_event', reference: hash });
  });

  test.each(['', '00', 'g'.repeat(64), '0'.repeat(64)])('a replay of "%s" is refused', async (reference) => {
    await refused({ action: 'replay_event', reference }, 'PS404', /./);
  });
});

describe('a note ends the findings that have no other end', () => {
  test('unmailed_payment, by its payment', async () => {
    await database.query('delete from public.profiles');
    const { id } = await customer.buy('pro');
    expect(await findingsOf(id)).toEqual([['unmailed_payment', id]]);
    await act(support, { action: 'note', reference: id });
    expect(await findingsOf(id)).toEqual([]);
  });

  test("missed_webhook, until reconciliation finds the next one; a webhook ends it, too, but not the doctor's", async () => {
    const missed = [['missed_webhook', 'webhooks']];
    const raise = async () => {
      await database.query("insert into billing.marks (kind, key) values ('missed_webhook', $1)", [uniqueId('order')]);
      return await findingsOf('webhooks');
    };
    await raise();
    expect(await raise()).toEqual(missed);
    await act(support, { action: 'note', reference: 'webhooks' });
    expect(await findingsOf('webhooks')).toEqual([]);
    expect(await raise()).toEqual(missed);
    await database.send(gatewayEvent('doctor.ping', {}));
    expect(await findingsOf('webhooks')).toEqual(missed);
    await database.send(paymentCaptured({ id: uniqueId('pay') }));
    expect(await findingsOf('webhooks')).toEqual([]);
  });
});

describe('the trail', () => {
  const note = (session: Pick<pg.Client, 'query'> = support) => act(session, { action: 'note', email: customer.email });

  test('is never changed or deleted, also not by its owner or the service', async () => {
    await note();
    for (const sql of ["update billing.support_actions set reason = 'x'", 'delete from billing.support_actions']) {
      for (const session of [support, database.service]) {
        await expect(session.query(sql), sql).rejects.toMatchObject({ code: '42501' });
      }
      await expect(database.query(sql), sql).rejects.toMatchObject({ code: 'PS409' });
    }
    await expect(database.query('truncate billing.support_actions')).rejects.toMatchObject({ code: 'PS409' });
  });

  test('outlives its user, without address, id and reason from 90 days after the deletion', async () => {
    await database.at('01-01');
    const { id, reason } = await note();
    await database.query('delete from auth.users');
    const keptAt = async (at: string) => {
      await database.at(at);
      await database.query('select billing.erase_deleted_users()');
      return await database.one('select email, user_id, reason from billing.support_actions where id = $1', [id]);
    };
    expect(await keptAt('03-31')).toEqual({ email: customer.email, user_id: customer.id, reason });
    expect(await keptAt('04-02')).toEqual({ email: null, user_id: null, reason: 'erased with the user' });
  });

  test('names the admin of a JWT, but not by the claims of a direct connection of support', async () => {
    const [api, direct] = [await database.connect(), await openSupport(database)];
    for (const session of [api, direct]) {
      await session.query(`select set_config('request.jwt.claims', '{"email": "admin@example.com"}', false)`);
    }
    expect([(await note(api)).actor_email, (await note(direct)).actor_email]).toEqual(['admin@example.com', null]);
  });

  test('takes no actor, time or result from the caller', async () => {
    const { created_at, ...row } = await database.one(
      `insert into billing.support_actions (action, reference, reason, actor, created_at, result)
       values ('note', 'webhooks', 'seen', 'another', '2020-01-01', 'all done') returning actor, created_at, result`,
    );
    expect(row).toEqual({ actor: 'postgres', result: 'Noted.' });
    expect(Number(created_at)).toBeGreaterThan(Date.UTC(2021));
  });
});

describe('a cancellation and a resumption by support', () => {
  const january = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
  const charged = async () =>
    Object((await database.rpc('get_subscription', customer.id)).billing).next_charge_at ?? null;
  const bill = async () => {
    await customer.event('activated', january.start, { planId: 'plan_basic', ...january });
    await customer.charge(january, 'basic');
    await database.at('01-10');
  };

  test('cover what the customer pays for, also below a grant, and say what is charged next', async () => {
    await bill();
    await grant('premium');
    const cancelled = await act(support, { action: 'cancel', email: customer.email });
    expect(cancelled.result).toMatch(/^Access ends on .*\. Nothing is charged next\.$/);
    expect(await charged()).toBeNull();
    expect(await customer.cancellation()).toMatchObject({ at: 'cycle end' });
    const resume = { action: 'resume', email: customer.id };
    const resumed = await act(support, resume);
    await refused(resume, 'PS409', /nothing was cancelled/);
    expect(resumed.result).toBe('Resumed. Next charge: 49.00 INR on 1 Feb 2026.');
    expect(await charged()).not.toBeNull();
    expect(await customer.mails()).toContainEqual(expect.stringContaining('subscription-cancelled'));
    await database.at('01-11');
    await database.rpc('cancel_subscription', customer.id, true);
    const { rows } = await support.query(
      `select what || ': ' || detail as text from billing.timeline
       where user_id = $1 and what in ('cancelled', 'resumed') order by at, what`,
      [customer.id],
    );
    expect(rows.map(({ text }) => text)).toEqual([
      'cancelled: By support, for the end of the period.',
      'resumed: By support.',
      'cancelled: By the customer, for the end of the period.',
    ]);
  });

  test('takes back a cancellation that only the subscription knows, below a later grant', async () => {
    await bill();
    await act(support, { action: 'cancel', email: customer.email });
    await database.at('01-11');
    await grant('premium');
    const { result } = await act(support, { action: 'resume', email: customer.email });
    expect(result).toBe('Resumed. Next charge: 49.00 INR on 1 Feb 2026.');
  });

  test('takes back a cancellation that only a row by hand knows', async () => {
    await database.at('01-01');
    await writeByHand('premium', true);
    const { result } = await act(support, { action: 'resume', email: customer.email });
    expect(result).toBe('Resumed. Nothing is charged next.');
    expect(await database.one('select cancel_at_period_end from public.subscriptions')).toEqual({
      cancel_at_period_end: false,
    });
  });

  test('now ends the access at once', async () => {
    await bill();
    const { result } = await act(support, { action: 'cancel', email: customer.email, at_period_end: false });
    expect(result).toBe('Access has ended. Nothing is charged next.');
    expect([await customer.tier(), await customer.cancellation()]).toEqual(['free', { at: 'once', state: 'pending' }]);
    await refused({ action: 'resume', email: customer.email }, 'PS409', /nothing was cancelled/);
  });

  test('are refused where there is nothing to cancel or resume, without a customer, and for another action', async () => {
    await refused({ action: 'cancel', email: customer.email }, 'PS404', /nothing to cancel/);
    await refused({ action: 'resume', email: customer.email }, 'PS404', /nothing to resume/);
    await refused({ action: 'cancel' }, 'PS400', /needs email/);
    await refused({ action: 'note', email: customer.email, at_period_end: true }, '23514', /at_period_end/);
  });

  test('a refund says what is charged next, and so does its mail', async () => {
    await bill();
    const [payment] = await database.query('select gateway_payment_id as id from public.payments');
    const { result } = await act(support, { action: 'refund', reference: payment?.id });
    expect(result).toMatch(/Next charge: 49\.00 INR on 1 Feb 2026\.$/);
    await database.send(refundEvent({ id: String(payment?.id), order_id: null }, 4900));
    const [mail] = await database.query("select payload from billing.outbox where kind = 'subscription-ended'");
    expect(Object(mail?.payload).next_charge).toEqual({
      at: '2026-02-01T00:00:00.000Z',
      amount: 4900,
      currency: 'INR',
    });
  });
});
