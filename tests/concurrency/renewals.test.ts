import { expect, test } from 'vitest';
import { type Act, countDeadlocks, overlap } from '../helpers/database/racers.ts';
import { callRpc } from '../helpers/database/session.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { refundEvent, seconds, subscriptionEvent } from '../helpers/gateway/events.ts';
import { told } from '../helpers/gateway/told.ts';
import { mailsTo, placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { months } from '../helpers/records/time.ts';

// The usual charge of a cycle beside another act of the same customer: the second one waits, and what it did follows the first.
const database = useDatabase({ findings: 'compared elsewhere' });
const [january, february] = [months(1), months(2)];

/** A customer whose January is paid, on 1 February, and the acts that race then. */
async function subscriber() {
  await database.at('2026-01-01T00:00:00Z');
  const user = await createUser(database, { email: `${uniqueId('asha')}@example.com` });
  const id = uniqueId('sub');
  await database.query(
    `insert into billing.gateway_subscriptions (user_id, asked_tier, asked_plan_id, asked_gateway_plan_id, asked_price, gateway_subscription_id, expires_at)
     select $1, tier, id, gateway_plan_id, billing.price_of(p), $2, billing.clock() + interval '1 day'
     from public.plans p where tier = 'pro' and lookup_key is null`,
    [user.id, id],
  );
  const event = (name: 'activated' | 'charged', cycle: typeof january, count: number, paymentId: string) =>
    subscriptionEvent({
      ...{ name, userId: user.id, id, planId: 'plan_pro', ...cycle, createdAt: cycle.start },
      fields: { paid_count: count, charge_at: seconds(cycle.end) },
      payment: { id: paymentId, amount: 99900 },
    });
  await database.send(event('activated', january, 1, uniqueId('pay')));
  await database.send(event('charged', january, 1, uniqueId('pay')));
  await database.at('2026-02-01T00:00:30Z');
  const paymentId = uniqueId('pay');
  const order = await placeOrder(database, { user, tier: 'premium' });
  const send = (body: string): Act => (session) => deliver(session, body);
  return {
    charge: send(event('charged', february, 2, paymentId)),
    repeated: send(event('charged', february, 2, paymentId)),
    twice: send(event('charged', february, 2, uniqueId('pay'))),
    cancel: ((session) => callRpc(session, 'cancel_subscription', user.id, true)) satisfies Act,
    buy: ((session) => verifyPurchase(session, order)) satisfies Act,
    refund: send(refundEvent({ id: paymentId, amount: 99900 }, 99900)),
    /** The charges and what became of them. */
    async end() {
      const row = await database.one(
        `select s.tier, s.status, s.current_period_end as until,
          (select count(*)::int from public.payments p where p.gateway_subscription_id = $2) as charges,
          (select sum(p.refunded_amount)::int from public.payments p where p.gateway_subscription_id = $2) as refunded
         from public.subscriptions s where s.user_id = $1`,
        [user.id, id],
      );
      const renewed = (await mailsTo(database, user)).filter((key) => String(key).startsWith('subscription-renewed'));
      return { ...row, mails: renewed.length, told: await told(database, id) };
    },
  };
}

test.each<[string, Exclude<keyof Awaited<ReturnType<typeof subscriber>>, 'end'>]>([
  ['a repeated delivery', 'charge'],
  ['another event about it', 'repeated'],
  ['a second charge of the cycle', 'twice'],
  ['a cancellation', 'cancel'],
  ['a purchase', 'buy'],
  ['its refund', 'refund'],
])('a renewal and %s at once end as one after the other, without a deadlock', async (_, name) => {
  for (const isFirst of [true, false]) {
    const customer = await subscriber();
    const acts: [Act, Act] = isFirst ? [customer.charge, customer[name]] : [customer[name], customer.charge];
    await overlap<unknown, unknown>(database, ...acts);
    const other = await subscriber();
    for (const act of isFirst ? [other.charge, other[name]] : [other[name], other.charge]) await act(database.service);
    expect(await customer.end()).toEqual(await other.end());
  }
  expect(await countDeadlocks(database)).toBe(0);
});
