import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readFindings } from '../helpers/database/findings.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, paymentFailed, refundEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { claim, enqueue, fail } from '../helpers/outbox/claims.ts';
import type { Customer } from '../helpers/records/customer.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { uniqueId } from '../helpers/records/records.ts';

const database = useDatabase({ isEmptied: true });
let customer: Customer;
beforeEach(async () => {
  customer = await database.customer();
});
afterEach(() => database.query('truncate billing.gateway_events cascade'));

const findings = () => readFindings(database);
const write = (sql: string, ...parameters: unknown[]) => database.query(sql, parameters);
/** An order of a tier without a plan. */
const orderUnplanned = () => placeOrder(database, { user: customer, tier: uniqueId('team') });
const verify = (order: Purchase) => verifyPurchase(database.service, order);
const insertPlan = "insert into public.plans (tier, name, price) select tier, 'Team', 99900 from public.payments";
const addPlanOf = ({ id }: Purchase) => write(`${insertPlan} where id = $1`, id);

describe('open_function', () => {
  const listed = () => database.query("select subject, detail from billing.findings where finding = 'open_function'");
  const create = (returns: string, body: string) =>
    write(`create function public.of_the_app() returns ${returns} as '${body}'`);
  afterEach(() => write('drop function public.of_the_app()'));

  test('lists a security definer function that anon may execute, until it is closed or marked as intended', async () => {
    await create('int language sql security definer', 'select 1');
    const revoke = 'revoke execute on function public.of_the_app() from public, anon;';
    const detail = { remedy: expect.stringContaining(`"${revoke}"`) };
    expect(await listed()).toMatchObject([{ subject: 'public.of_the_app()', detail }]);
    await write("comment on function public.of_the_app() is 'Open to everybody: the landing page shows it.'");
    expect(await listed()).toEqual([]);
    await write('comment on function public.of_the_app() is null');
    expect(await listed()).toHaveLength(1);
    await write(revoke);
    expect(await listed()).toEqual([]);
  });

  test.each([
    ['security invoker', 'int language sql', 'select 1'],
    ['trigger', 'trigger language plpgsql security definer', 'begin return null; end'],
  ])('lists no %s function', async (_, returns, body) => {
    await create(returns, body);
    expect(await listed()).toEqual([]);
  });
});

describe('captured_not_fulfilled', () => {
  const listed = async () =>
    (await findings()).flatMap(([finding, ...row]) => finding === 'captured_not_fulfilled' ? [row] : []);

  test('lists a captured payment without a plan, until the plan is created or the payment refunded', async () => {
    const [order, other] = [await orderUnplanned(), await orderUnplanned()];
    for (const each of [order, other]) await verify(each);
    expect(await listed()).toEqual([[order.id, 'no plan of this tier'], [other.id, 'no plan of this tier']].sort());
    await database.send(refundEvent(paymentOf(other), 99900));
    await addPlanOf(order);
    await verify(order);
    expect(await findings()).toEqual([]);
  });

  test('lists one of a deleted user or without an amount, and none that is fulfilled, open or refunded', async () => {
    await customer.buy('pro');
    const [refunded] = [await customer.order('premium'), await customer.order('basic')];
    await refunded.refund();
    await refunded.verify();
    const unknown = await customer.order('pro');
    await write('update public.payments set gateway_payment_id = $2 where id = $1', unknown.id, unknown.paymentId);
    await database.send(paymentCaptured({ id: unknown.paymentId, amount: undefined }));
    const gone = await (await database.customer()).order('pro');
    await write('delete from auth.users where id = $1', gone.user.id);
    await gone.capture();
    const reasons = [[unknown.id, 'not confirmed with its amount'], [gone.id, 'paid, user gone']];
    expect(await listed()).toEqual(reasons.sort());
  });
});

describe('outbox_stuck', () => {
  test('lists rows that were due for more than 15 minutes, and neither rows due later nor delivered rows', async () => {
    await database.at('01-01');
    for (const key of ['due', 'delivered']) await enqueue(database, 'email', key);
    await write("update billing.outbox set delivered_at = '2026-01-01T00:00:01Z' where key <> 'due'");
    await database.at('2026-01-01T00:15:00Z');
    await enqueue(database, 'email', 'fresh');
    expect(await findings()).toEqual([]);
    await database.at('2026-01-01T00:15:01Z');
    expect(await findings()).toEqual([['outbox_stuck', 'due', 'due']]);
  });

  test('lists parked rows with their error, until they are requeued; not withdrawn rows', async () => {
    const id = await enqueue(database, 'email', 'given up');
    const { token, ids } = await claim(database.service, 'email');
    await fail(database.service, token, ids, { error: 'HTTP 422', final: true });
    await enqueue(database, 'gateway', 'withdrawn');
    await write("update billing.outbox set parked_at = now(), last_error = 'withdrawn' where key = 'withdrawn'");
    expect(await database.query('select key, state, last_error from billing.outbox_stuck')).toEqual([
      { key: 'given up', state: 'parked', last_error: 'HTTP 422' },
    ]);
    await write('select billing.requeue($1)', id);
    expect(await findings()).toEqual([]);
  });
});

describe('failed_events', () => {
  test('lists an event whose effect failed, also when it is parked, until it is applied', async () => {
    const body = paymentFailed({ ...paymentOf(await customer.order('pro')), id: uniqueId('pay') });
    await write("alter table public.payments add constraint broken check (status <> 'failed') not valid");
    await database.send(body);
    expect(await findings()).toEqual([['failed_events', sha256(body), 'failed: 23514']]);
    await write("update billing.gateway_events set outcome = 'parked'");
    expect(await findings()).toEqual([['failed_events', sha256(body), 'parked']]);
    await write('alter table public.payments drop constraint broken');
    await write('select billing.replay_event(body_sha256) from billing.failed_events');
    expect(await findings()).toEqual([]);
  });

  test('lists an event without a plan, until the payment is fulfilled', async () => {
    const order = await orderUnplanned();
    const body = paymentCaptured(paymentOf(order));
    await database.send(body);
    expect(await findings()).toContainEqual(['failed_events', sha256(body), 'plan_not_found']);
    await addPlanOf(order);
    await verify(order);
    expect(await findings()).toEqual([]);
  });

  test('lists a capture of another amount, until it is refunded; not a refund of a payment that does not count', async () => {
    const order = await customer.order('pro');
    const other = { ...paymentOf(order), id: uniqueId('pay'), amount: 1 };
    const body = paymentCaptured(other);
    expect(await database.send(body)).toBe('mismatch');
    await order.verify();
    expect(await findings()).toEqual([['failed_events', sha256(body), 'mismatch']]);
    await database.send(refundEvent(other, 1));
    expect(await findings()).toEqual([]);
  });

  test('lists, after 15 minutes, a charge of a gateway subscription that does not count', async () => {
    await customer.buy('pro');
    await write("update public.subscriptions set gateway_subscription_id = 'sub_1'");
    const cycle = { id: 'sub_2', start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' };
    for (const name of ['charged', 'cancelled'] as const) {
      expect(await database.send(subscriptionEvent({ name, userId: customer.id, ...cycle }))).toBe('mismatch');
    }
    const failed = () => database.query('select event from billing.failed_events');
    expect(await failed()).toEqual([]);
    await write("update billing.gateway_events set received_at = received_at - interval '16 minutes'");
    expect(await failed()).toEqual([{ event: 'subscription.charged' }]);
  });
});
