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
const addPlanOf = ({ id }: Purchase) =>
  write(
    "insert into public.plans (tier, name, price) select tier, 'Team', 99900 from public.payments where id = $1",
    id,
  );

test('an empty database has no findings, nor has a purchase', async () => {
  expect(await findings()).toEqual([]);
  await customer.buy('pro');
  expect(await findings()).toEqual([]);
});

const all =
  `captured_not_fulfilled dispute_lost entitled_not_paid expiry_failed failed_events missed_webhooks never_captured
  open_functions outbox_stuck paid_not_entitled paid_twice tier_mismatch unearned_credits unexpected_charges unmailed_payments`
    .split(/\s+/);
test('each view is in billing.findings, is read with the reader’s own rights and its comment explains what to do', async () => {
  const views = await database.query(
    `select relname as name, reloptions, length(obj_description(oid)) > 80 as tells from pg_class
     where relnamespace = 'billing'::regnamespace and relkind = 'v' and relname = any ($1) order by 1`,
    [[...all, 'findings']],
  );
  const rest = { reloptions: ['security_invoker=true'], tells: true };
  expect(views).toEqual([...all, 'findings'].sort().map((name) => ({ name, ...rest })));
  const { definition } = await database.one("select pg_get_viewdef('billing.findings'::regclass) as definition");
  for (const name of all) expect(definition).toContain(`FROM billing.${name} `);
});

describe('open_function', () => {
  const listed = async () =>
    (await database.query("select subject, detail from billing.findings where finding = 'open_function'"))
      .map(({ subject, detail }) => `${subject}: ${Object(detail).remedy}`);
  const create = (returns: string, body: string) =>
    write(`create function public.of_the_app() returns ${returns} as '${body}'`);
  afterEach(() => write('drop function public.of_the_app()'));

  test('lists a security definer function that anon may execute, until it is closed or marked as intended', async () => {
    await create('int language sql security definer', 'select 1');
    const revoke = 'revoke execute on function public.of_the_app() from public, anon;';
    expect(await listed()).toEqual([expect.stringMatching(/^public\.of_the_app\(\): /)]);
    expect((await listed())[0]).toContain(`"${revoke}"`);
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
  const reasons = async (...orders: { id: string }[]) => {
    const listed = await database.query('select payment_id, reason from billing.captured_not_fulfilled');
    return orders.map(({ id }) => listed.find(({ payment_id }) => payment_id === id)?.reason);
  };

  test('lists a captured payment without a plan, until the plan is created or the payment refunded', async () => {
    const [order, other] = [await orderUnplanned(), await orderUnplanned()];
    for (const each of [order, other]) await verify(each);
    expect(await findings()).toEqual(
      [order, other].map(({ id }) => ['captured_not_fulfilled', id, 'no plan of this tier']).sort(),
    );
    await database.send(refundEvent(paymentOf(other), 99900));
    await addPlanOf(order);
    await verify(order);
    expect(await findings()).toEqual([]);
  });

  test('lists one of a deleted user or without an amount, and none that is fulfilled, open or refunded', async () => {
    const fulfilled = await customer.buy('pro');
    const [open, refunded] = [await customer.order('basic'), await customer.order('premium')];
    const unknown = await customer.order('pro');
    await refunded.refund();
    await refunded.verify();
    await write('update public.payments set gateway_payment_id = $2 where id = $1', unknown.id, unknown.paymentId);
    await database.send(paymentCaptured({ id: unknown.paymentId, amount: undefined }));
    const gone = await (await database.customer()).order('pro');
    await write('delete from auth.users where id = $1', gone.user.id);
    await gone.capture();
    expect(await reasons(fulfilled, open, refunded)).toEqual([undefined, undefined, undefined]);
    expect(await reasons(unknown, gone)).toEqual(['not confirmed with its amount', 'paid, user gone']);
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

test('expiry_failed lists a subscription whose expiry failed, until the cause is fixed and it expires', async () => {
  await database.at('01-01');
  const other = await database.customer();
  for (const each of [customer, other]) await each.buy('pro');
  const condition = `user_id <> '${customer.id}' or subscription_tier <> 'free'`;
  await write(`alter table public.profiles add constraint broken check (${condition})`);
  const expire = async (at: string) => {
    await database.at(at);
    await write('select billing.expire_subscriptions()');
    await write('update billing.outbox set delivered_at = billing.clock()');
  };
  await expire('2027-01-05');
  const failed = 'select user_id, error from billing.expiry_failed';
  expect(await database.query(failed)).toEqual([{ user_id: customer.id, error: '23514' }]);
  expect(await other.tier()).toBe('free');
  await write('alter table public.profiles drop constraint broken');
  await expire('2027-01-05T01:00:01Z');
  expect([await customer.tier(), await findings()]).toEqual(['free', []]);
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
    const cycle = { id: 'sub_2', start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z', createdAt: null };
    const event = async (name: 'charged' | 'cancelled') => {
      const body = subscriptionEvent({ name, userId: customer.id, ...cycle });
      expect(await database.send(body)).toBe('mismatch');
      return sha256(body);
    };
    const charge = await event('charged');
    await event('cancelled');
    expect(await findings()).toEqual([]);
    await write("update billing.gateway_events set received_at = received_at - interval '16 minutes'");
    expect(await findings()).toEqual([['failed_events', charge, 'mismatch']]);
  });
});
