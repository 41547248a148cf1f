import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { disputeEvent, refundEvent, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
let userId: string;
beforeAll(async () => {
  database = await createTestDatabase({ findings: 'compared elsewhere' });
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier, duration_months = 1");
});
beforeEach(async () => {
  await setClock(database, at('06-01'));
  userId = (await createUser(database)).id;
});
afterEach(async () => {
  await setClock(database, null);
  await database.query('delete from auth.users; delete from billing.outbox');
});
afterAll(() => database.close());

type Step = Omit<SubscriptionEvent, 'userId' | 'id'>;
const at = (day: string) => `2026-${day}T00:00:00Z`;
const june = { start: at('06-01'), end: at('07-01') };
const july = { start: at('07-01'), end: at('08-01') };

async function event(id: string, step: Step): Promise<unknown> {
  if (step.createdAt) await setClock(database, step.createdAt);
  return await deliver(service, subscriptionEvent({ userId, id, ...step }));
}

/** A subscription of a tier that was charged for June. @returns its id at the gateway */
async function billed(tier: string): Promise<string> {
  const id = uniqueId('sub');
  const planId = `plan_${tier}`;
  await event(id, { name: 'activated', planId, ...june, createdAt: at('06-01') });
  await event(id, { name: 'charged', planId, ...june, createdAt: at('06-01'), payment: { id: uniqueId('pay') } });
  return id;
}

/** Makes and authorises the subscription of a change. @returns its id at the gateway */
async function changed(tier: string, when: string, paymentId: string | null = null, day = '06-10'): Promise<string> {
  const made = await callRpc(service, 'create_change', userId, tier, when, paymentId);
  expect(made).toMatchObject({ outcome: 'created' });
  const id = uniqueId('sub_new');
  await callRpc(service, 'store_subscription', made.id, id, 'https://gateway.example/s/1');
  const fields = { charge_at: Number(made.start_at) };
  await event(id, { name: 'authenticated', planId: `plan_${tier}`, createdAt: at(day), fields });
  return id;
}

/** A change now from basic to pro, paid on 10 June, with its renewal. */
async function upgraded() {
  const old = await billed('basic');
  await setClock(database, at('06-10'));
  const order = await callRpc(service, 'create_order', userId, 'pro', null, null, 'now');
  const orderId = uniqueId('order');
  await callRpc(service, 'store_order', order.payment_id, orderId);
  const renewal = await changed('pro', 'now', String(order.payment_id));
  await callRpc(service, 'verify_payment', userId, orderId, uniqueId('pay'), 'signature');
  return { old, renewal, paymentId: String(order.payment_id) };
}

/** What the gateway is to be told about a subscription, and when. Null: nothing. */
async function told(id: string): Promise<unknown> {
  const [row] = await database.query(
    `select next_attempt_at as at, payload -> 'at_cycle_end' as at_cycle_end from billing.outbox
     where key = 'cancel-subscription/' || $1 and parked_at is null`,
    [id],
  );
  return row ?? null;
}
const atEnd = (day: string) => ({ at: new Date(at(day)), at_cycle_end: true });
const cancel = () => callRpc(service, 'cancel_subscription', userId, true);
const resume = () => callRpc(service, 'resume_subscription', userId);
const billing = async () => Object((await callRpc(service, 'get_subscription', userId)).billing);
const grant = (tier: string, until: string) =>
  database.query("insert into billing.grants (user_id, tier, until, reason) values ($1, $2, $3, 'thanks')", [
    userId,
    tier,
    until,
  ]);
const settle = () => database.query("select billing.settle_access($1, '')", [userId]);

describe('a cancellation for the end of the period covers', () => {
  test('a subscription below a grant, and a resumption withdraws that', async () => {
    const id = await billed('pro');
    await setClock(database, at('06-02'));
    await grant('premium', at('06-20'));
    await settle();
    expect(await readTier(database, userId)).toBe('premium');
    await cancel();
    expect(await told(id)).toEqual(atEnd('06-29'));
    expect(await billing()).toMatchObject({ gateway_subscription_id: id, next_charge_at: null });
    expect(await resume()).toMatchObject({ outcome: 'resumed' });
    expect(await told(id)).toBeNull();
    await cancel();
    await setClock(database, at('06-25'));
    await settle();
    expect(await readSubscription(database, userId)).toMatchObject({ tier: 'pro', gateway_subscription_id: id });
    expect(await told(id)).toEqual(atEnd('06-29'));
  });

  test('a subscription below a row that was written by hand', async () => {
    const id = await billed('pro');
    await setClock(database, at('06-02'));
    await database.query(
      `update public.subscriptions set tier = 'premium', gateway_subscription_id = null, current_period_end = $2
       where user_id = $1`,
      [userId, at('06-20')],
    );
    await cancel();
    expect(await told(id)).toEqual(atEnd('06-29'));
  });

  test('the renewal of a change below a grant', async () => {
    const { old, renewal } = await upgraded();
    await grant('premium', at('06-20'));
    await settle();
    await cancel();
    expect(await told(old)).toEqual(atEnd('06-29'));
    expect(await told(renewal)).toEqual(atEnd('07-08'));
    expect(await resume()).toMatchObject({ outcome: 'resumed' });
    expect(
      await database.query(
        `select what, detail from billing.timeline
         where user_id = $1 and what in ('cancelled', 'resumed', 'change') order by at, rank, what`,
        [userId],
      ),
    ).toEqual([
      { what: 'change', detail: 'To pro from 10 Jul 2026.' },
      { what: 'cancelled', detail: 'By the customer, for the end of the period.' },
      { what: 'resumed', detail: 'By the customer.' },
    ]);
    expect(await told(renewal)).toBeNull();
    // The purchase replaced it.
    expect(await told(old)).toEqual(atEnd('06-29'));
  });

  test('a page that is open, and nothing that the customer starts later', async () => {
    await billed('basic');
    await setClock(database, '2026-06-01T10:00:00Z');
    const open = async () => {
      const made = await callRpc(service, 'create_subscription', userId, 'pro');
      const id = uniqueId('sub_open');
      await callRpc(service, 'store_subscription', made.id, id, 'https://gateway.example/s/1');
      return id;
    };
    const before = await open();
    await setClock(database, '2026-06-01T10:01:00Z');
    await cancel();
    expect(await told(before)).toMatchObject({ at: new Date('2026-06-01T10:01:00Z') });
    await setClock(database, '2026-06-01T10:02:00Z');
    const after = await open();
    expect(after).not.toBe(before);
    await event(after, { name: 'activated', planId: 'plan_pro', ...june, createdAt: '2026-06-01T10:03:00Z' });
    expect(await told(after)).toBeNull();
  });

  test('at once what is in its days of grace, so that the next try takes no money', async () => {
    const id = await billed('pro');
    await event(id, { name: 'pending', planId: 'plan_pro', createdAt: '2026-07-01T01:00:00Z' });
    await cancel();
    expect(await told(id)).toEqual({ at: new Date('2026-07-01T01:00:00Z'), at_cycle_end: false });
  });
});

test('a cancellation at once is sent although a message for the end of the cycle is under way', async () => {
  const id = await billed('pro');
  await cancel();
  await setClock(database, at('06-29'));
  const { token, rows: [row] } = Object(await callRpc(service, 'claim_outbox', 'gateway'));
  expect(row.payload).toEqual({ gateway_subscription_id: id, at_cycle_end: true });
  await callRpc(service, 'cancel_subscription', userId, false);
  expect(await callRpc(service, 'complete_outbox', token, String(row.id))).toEqual({ completed: 0 });
  const { rows } = Object(await callRpc(service, 'claim_outbox', 'gateway'));
  expect(rows).toMatchObject([{ payload: { gateway_subscription_id: id, at_cycle_end: false } }]);
});

test('a cycle that is charged after the start of a change remains: it is told for its end', async () => {
  const old = await billed('pro');
  await setClock(database, at('06-10'));
  await changed('basic', 'period_end');
  await event(old, {
    name: 'charged',
    planId: 'plan_pro',
    ...july,
    createdAt: at('07-01'),
    payment: { id: uniqueId('pay') },
  });
  expect(await told(old)).toEqual(atEnd('07-30'));
});

describe('of a subscription that waits for its first charge, reconciliation learns', () => {
  /** Applies the gateway's answer about the renewal of an upgrade, and returns when it is asked again. */
  async function learn(id: string, status: string, fields: Record<string, unknown> = {}): Promise<unknown> {
    const order = { gateway_subscription_id: id, plan_id: 'plan_pro', status, ...fields };
    const { id: orderId } = await database.one(
      'select id from billing.subscription_orders where gateway_subscription_id = $1',
      [id],
    );
    await callRpc(service, 'apply_subscription_order', orderId, JSON.stringify(order));
    return (await database.one('select next_check_at as at from billing.subscription_orders where id = $1', [orderId]))
      .at;
  }

  test('a failed charge, sends its mail, and asks again', async () => {
    const { renewal } = await upgraded();
    await setClock(database, '2026-07-10T02:00:00Z');
    const answer = { paid_count: 0, charge_at: Date.parse(at('07-11')) / 1000 };
    expect(await learn(renewal, 'pending', answer)).toEqual(new Date('2026-07-10T03:00:00Z'));
    expect(await billing()).toMatchObject({ gateway_subscription_id: renewal, status: 'pending' });
    expect(await database.query("select key from billing.outbox where kind = 'payment-pending'")).toHaveLength(1);
    expect(await told(renewal)).toBeNull();
  });

  test('a failed charge after it was told to stop at the end of a cycle: it is stopped at once', async () => {
    const { renewal } = await upgraded();
    await cancel();
    await setClock(database, '2026-07-10T02:00:00Z');
    expect(await told(renewal)).toMatchObject({ at_cycle_end: true });
    await database.query(
      "update billing.outbox set attempts = 1, delivered_at = billing.clock() where kind like 'cancel%'",
    );
    await learn(renewal, 'pending', { paid_count: 0 });
    expect(await told(renewal)).toEqual({ at: new Date('2026-07-10T02:00:00Z'), at_cycle_end: false });
  });

  test('that the gateway cancelled it: nothing is charged next', async () => {
    const { renewal } = await upgraded();
    expect(await billing()).toMatchObject({ gateway_subscription_id: renewal });
    await setClock(database, at('06-20'));
    await learn(renewal, 'cancelled', { ended_at: Date.parse(at('06-19')) / 1000 });
    expect(await billing()).toMatchObject({ next_charge_at: null });
    expect(await readTier(database, userId)).toBe('pro');
  });
});

describe('the renewal of a purchase', () => {
  test('goes on when its first charge fails, with a mail, and gives the next cycle when a retry succeeds', async () => {
    const { renewal } = await upgraded();
    await event(renewal, { name: 'pending', planId: 'plan_pro', createdAt: '2026-07-10T01:00:00Z' });
    expect(await told(renewal)).toBeNull();
    expect(
      await database.query(
        "select key, payload ->> 'access_ends_at' as ends from billing.outbox where kind = 'payment-pending'",
      ),
    ).toEqual([{ key: `payment-pending/${renewal}/2026-07-10T00:00:00.000Z`, ends: '2026-07-13T00:00:00.000Z' }]);
    const cycle = { start: at('07-10'), end: at('08-10') };
    await event(renewal, { name: 'activated', planId: 'plan_pro', ...cycle, createdAt: at('07-11') });
    await event(renewal, {
      name: 'charged',
      planId: 'plan_pro',
      ...cycle,
      createdAt: at('07-11'),
      payment: { id: uniqueId('pay') },
    });
    expect(await readSubscription(database, userId)).toMatchObject({ tier: 'pro', gateway_subscription_id: renewal });
    expect(await told(renewal)).toBeNull();
  });

  test('is the subscription that is charged next', async () => {
    const { renewal } = await upgraded();
    expect(await billing()).toMatchObject({
      gateway_subscription_id: renewal,
      next_charge_at: '2026-07-10T00:00:00+00:00',
    });
    expect(await database.one('select billing from billing.customers where user_id = $1', [userId])).toEqual({
      billing: 'billed',
    });
  });

  test('is stopped when the purchase is lost in a dispute', async () => {
    const { renewal, paymentId } = await upgraded();
    const { id } = await database.one('select gateway_payment_id as id from public.payments where id = $1', [
      paymentId,
    ]);
    await deliver(service, disputeEvent('lost', 'lost', { id: String(id), amount: 1 }));
    expect(await told(renewal)).toMatchObject({ at: new Date(at('06-10')) });
  });

  test('is made again after the customer cancelled it', async () => {
    const { renewal } = await upgraded();
    await cancel();
    await database.query("update billing.outbox set attempts = 1 where key = 'cancel-subscription/' || $1", [renewal]);
    expect(await resume()).toEqual({ outcome: 'cannot_be_resumed' });
    expect(await callRpc(service, 'preview_change', userId, 'pro', 'period_end')).toMatchObject({
      outcome: 'change',
      order_start: null,
      is_billed: true,
      change: { starts_at: '2026-07-10T00:00:00.000Z' },
    });
    await setClock(database, at('06-11'));
    const again = await changed('pro', 'period_end', null, '06-11');
    expect(await told(again)).toBeNull();
    expect(await billing()).toMatchObject({ gateway_subscription_id: again });
  });
});

test('what the gateway bills for a user who is deleted is told to end at once', async () => {
  const id = await billed('pro');
  await database.query('delete from auth.users where id = $1', [userId]);
  expect(await told(id)).toMatchObject({ at_cycle_end: false });
});

test('the first charge of a subscription is mailed as a payment, and each further one as a renewal', async () => {
  const made = await callRpc(service, 'create_subscription', userId, 'pro');
  const id = uniqueId('sub');
  await callRpc(service, 'store_subscription', made.id, id, 'https://gateway.example/s/1');
  await event(id, { name: 'activated', planId: 'plan_pro', ...june, createdAt: june.start });
  for (const [index, cycle] of [june, july].entries()) {
    const payment = { id: uniqueId('pay'), amount: 99_900 };
    const fields = { paid_count: index + 1 };
    await event(id, { name: 'charged', planId: 'plan_pro', ...cycle, createdAt: cycle.start, payment, fields });
  }
  const mails = await database.query(
    `select o.kind from billing.outbox o join auth.users u on u.email = o.payload ->> 'to'
     where u.id = $1 order by o.id`,
    [userId],
  );
  expect(mails.map(({ kind }) => kind)).toEqual(['payment-success', 'subscription-renewed']);
});

test('a change at the end of the period is told for exactly the start of the new subscription', async () => {
  const old = await billed('pro');
  await setClock(database, at('06-10'));
  const id = await changed('basic', 'period_end');
  expect([await told(old), await told(id)]).toEqual([atEnd('06-29'), null]);
  expect(await billing()).toMatchObject({ gateway_subscription_id: id, next_charge_at: '2026-07-01T00:00:00+00:00' });
});

test('a lower tier that is debited before its start does not rule before it', async () => {
  const old = await billed('premium');
  await setClock(database, at('06-10'));
  const id = await changed('basic', 'period_end');
  const early = { planId: 'plan_basic', ...july, createdAt: '2026-06-29T18:00:00Z' };
  await event(id, { name: 'activated', ...early });
  await event(id, { name: 'charged', ...early, payment: { id: uniqueId('pay') } });
  expect(await readTier(database, userId)).toBe('premium');
  expect([await told(old), await told(id)]).toEqual([expect.objectContaining({ at_cycle_end: true }), null]);
  await setClock(database, '2026-07-01T00:01:00Z');
  await database.query('select billing.sweep()');
  expect(await readTier(database, userId)).toBe('basic');
});

test.each(['refunded', 'cancelled at once'])(
  'the verification of a subscription that was %s is refused',
  async (by) => {
    const made = await callRpc(service, 'create_subscription', userId, 'pro');
    const id = uniqueId('sub');
    const payment = { id: uniqueId('pay'), amount: 99_900 };
    await callRpc(service, 'store_subscription', made.id, id, 'https://gateway.example/s/1');
    await event(id, { name: 'activated', planId: 'plan_pro', ...june, createdAt: at('06-01') });
    await event(id, { name: 'charged', planId: 'plan_pro', ...june, createdAt: at('06-01'), payment });
    const verify = () => callRpc(service, 'verify_subscription', userId, id, payment.id);
    const stranger = (await createUser(database)).id;
    expect(await callRpc(service, 'verify_subscription', stranger, id, payment.id)).toEqual({
      outcome: 'subscription_not_found',
    });
    expect(await verify()).toMatchObject({ outcome: 'already_applied', tier: 'pro' });
    if (by === 'refunded') {
      await deliver(service, refundEvent(payment, payment.amount));
    } else {
      await callRpc(service, 'cancel_subscription', userId, false);
    }
    expect(await verify()).toEqual({ outcome: 'refunded' });
  },
);
