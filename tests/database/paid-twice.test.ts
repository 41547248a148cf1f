import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { readFindings } from '../helpers/database/findings.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, refundEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
afterEach(async () => {
  await setClock(database, null);
  await setEarlyRenewal(database, 'replace');
  await database.query(
    `truncate auth.users, public.payments, billing.outbox, billing.gateway_events,
       billing.gateway_subscriptions cascade`,
  );
});
afterAll(() => database.close());

const findings = () => readFindings(database);
const write = (sql: string, ...parameters: unknown[]) => database.query(sql, parameters);

async function buy(order: { user?: Purchase['user']; tier?: string } = {}) {
  const purchase = await placeOrder(database, order);
  expect(await verifyPurchase(service, purchase)).toMatchObject({ outcome: 'applied' });
  return purchase;
}

describe('paid_twice', () => {
  test.each(['before', 'after'])(
    'lists a second payment on an order, unless it was refunded; refunded %s its capture',
    async (when) => {
      const order = await buy();
      await deliver(service, paymentCaptured(paymentOf(order)));
      const extra = { ...paymentOf(order), id: uniqueId('pay') };
      const refundExtra = (amount: number) => deliver(service, refundEvent(extra, amount));
      if (when === 'before') await refundExtra(99900);
      await deliver(service, paymentCaptured(extra));
      if (when === 'after') {
        const row = ['paid_twice', extra.id, 'a further payment on the order'];
        expect(await findings()).toEqual([row]);
        await refundExtra(99899);
        expect(await findings()).toEqual([row]);
        await refundExtra(1);
      }
      expect(await findings()).toEqual([]);
    },
  );

  test('keeps a refund after payloads are emptied', async () => {
    const order = await buy();
    await deliver(service, paymentCaptured(paymentOf(order)));
    const extra = { ...paymentOf(order), id: uniqueId('pay') };
    await deliver(service, paymentCaptured(extra));
    await deliver(service, refundEvent(extra, 99900));
    await write('update billing.gateway_events set payload = null');
    expect(await findings()).toEqual([]);
  });

  test('lists a renewal that replaced paid time, once, until it is refunded', async () => {
    const { user } = await buy();
    const renewal = await buy({ user });
    expect(await findings()).toEqual([['paid_twice', renewal.paymentId, 'another payment for the same time']]);
    await deliver(service, refundEvent(paymentOf(renewal), 99900));
    expect(await findings()).toEqual([]);
  });

  test('lists neither renewals that extend, nor another tier, nor another user’s payment', async () => {
    const { user } = await buy();
    await setEarlyRenewal(database, 'extend');
    for (let i = 0; i < 2; i++) await buy({ user });
    await buy({ user, tier: 'basic' });
    await buy();
    expect(await findings()).toEqual([]);
  });

  test('names the payment that does not count: a captured one counts before one that is only verified', async () => {
    const order = await buy();
    const row = ['paid_twice', order.paymentId, 'a further payment on the order'];
    await deliver(service, paymentCaptured({ ...paymentOf(order), id: uniqueId('pay') }));
    expect(await findings()).toEqual([row]);
    await deliver(service, paymentCaptured(paymentOf(order)));
    expect(await findings()).toEqual([row]);
    await deliver(service, refundEvent(paymentOf(order), 99900));
    expect(await findings()).toEqual([]);
    expect(await readTier(database, order.user.id)).toBe('pro');
  });

  test('lists no second payment that was verified and not captured within five days', async () => {
    await setClock(database, '2026-01-01T00:00:00Z');
    const order = await buy();
    await deliver(service, paymentCaptured({ ...paymentOf(order), id: uniqueId('pay') }));
    await setClock(database, '2026-01-05T23:59:59Z');
    await write("update billing.outbox set delivered_at = billing.clock() where destination <> 'gateway'");
    expect(await findings()).toEqual([['paid_twice', order.paymentId, 'a further payment on the order']]);
    await setClock(database, '2026-01-06T00:00:00Z');
    expect(await findings()).toEqual([]);
  });

  test.each([
    { activated: 'after it was ordered', from: '2026-01-01T01:00:00Z', reasons: ['captured after a newer purchase'] },
    { activated: 'before it was ordered', from: '2025-12-31T01:00:00Z', reasons: [] },
  ])(
    'an order captured under a gateway subscription that was activated $activated: $reasons, also after its next activation',
    async ({ from, reasons }) => {
      const user = await createUser(database);
      const subscription = { userId: user.id, planId: 'plan_premium', start: from, end: '2026-12-31T00:00:00Z' };
      const activate = async (createdAt: string) => {
        await setClock(database, createdAt);
        await deliver(service, subscriptionEvent({ name: 'activated', ...subscription, createdAt }));
      };
      const order = async () => {
        await setClock(database, '2026-01-01T00:00:00Z');
        return await placeOrder(database, { user, tier: 'basic' });
      };
      if (
        from <
          '2026'
      ) await activate(from);
      const basic = await order();
      if (from > '2026') await activate(from);
      await setClock(database, '2026-01-02T00:00:00Z');
      expect(await deliver(service, paymentCaptured(paymentOf(basic)))).toBe('applied');
      await write("update billing.outbox set delivered_at = billing.clock() where destination <> 'gateway'");
      const listed = reasons.map((reason) => ['paid_twice', basic.paymentId, reason]);
      expect(await findings()).toEqual(listed);
      await activate('2026-01-03T00:00:00Z');
      await write("update billing.outbox set delivered_at = billing.clock() where destination <> 'gateway'");
      expect(await findings()).toEqual(listed);
    },
  );

  test('lists an older order that only a webhook captured after a newer purchase, until it is verified', async () => {
    await setClock(database, '2026-01-01T00:00:00Z');
    const basic = await placeOrder(database, { tier: 'basic' });
    await setClock(database, '2026-01-01T01:00:00Z');
    await buy({ user: basic.user, tier: 'premium' });
    await setClock(database, '2026-01-02T00:00:00Z');
    expect(await deliver(service, paymentCaptured(paymentOf(basic)))).toBe('applied');
    await write("update billing.outbox set delivered_at = billing.clock() where destination <> 'gateway'");
    expect(await readSubscription(database, basic.user.id)).toMatchObject({ tier: 'premium', status: 'active' });
    expect(await readTier(database, basic.user.id)).toBe('premium');
    expect(await findings()).toEqual([['paid_twice', basic.paymentId, 'captured after a newer purchase']]);

    await setClock(database, '2026-01-02T01:00:00Z');
    expect(await verifyPurchase(service, basic)).toMatchObject({ outcome: 'already_applied', tier: 'basic' });
    expect(await readSubscription(database, basic.user.id)).toMatchObject({ tier: 'basic', status: 'active' });
    expect(await readTier(database, basic.user.id)).toBe('basic');
    expect(await findings()).toEqual([]);
  });

  test('lists a purchase of the tier that the gateway bills for the same time, until it is refunded', async () => {
    await setClock(database, '2026-01-01T00:00:00Z');
    const order = await buy();
    await setClock(database, '2026-02-01T00:00:00Z');
    const month = { start: '2026-02-01T00:00:00Z', end: '2026-03-01T00:00:00Z' };
    const of = { userId: order.user.id, id: uniqueId('sub'), planId: 'plan_pro', ...month };
    await deliver(service, subscriptionEvent({ name: 'activated', ...of }));
    await write("update billing.outbox set delivered_at = billing.clock() where destination <> 'gateway'");
    expect(await readSubscription(database, order.user.id)).toMatchObject({ end: '2026-03-01T00:00:00.000Z' });
    expect(await findings()).toEqual([['paid_twice', order.paymentId, 'the gateway bills the same time']]);
    await deliver(service, refundEvent(paymentOf(order), 99900));
    expect(await findings()).toEqual([]);
  });
});
