import type pg from 'pg';
import { expect, test } from 'vitest';
import { openRacers, untilBlocked } from '../helpers/database/racers.ts';
import { callRpc } from '../helpers/database/session.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { refundEvent } from '../helpers/gateway/events.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { act, openSupport } from '../helpers/records/support-actions.ts';

const database = useDatabase({ findings: { missed_webhook: 'any' } });

test('twelve admins at once who refund a quarter each, by payment or by order, refund four quarters', async () => {
  const customer = await database.customer();
  const { paymentId, orderId } = await customer.buy('pro');
  const { email } = customer;
  const sessions = await Promise.all(Array.from({ length: 12 }, () => openSupport(database)));
  // Each names the amount, 249.75 of 999.00 INR.
  const refunds = await Promise.allSettled(
    sessions.map((session, index) =>
      act(session, { action: 'refund', email, reference: index % 2 ? paymentId : orderId, amount: 24975 })
    ),
  );
  const refusals = refunds.flatMap((refund) => refund.status === 'rejected' ? [refund.reason.code] : []);
  expect(refusals).toEqual(Array(8).fill('PS409'));
  const sql = `select count(*)::int, sum((payload ->> 'amount')::int)::int as amount from billing.outbox
    where kind = 'refund' and payload ->> 'gateway_payment_id' = $1`;
  expect(await database.one(sql, [paymentId])).toEqual({ count: 4, amount: 99900 });
});

/** Runs calls that wait for a gateway payment, in this order. @throws when one of them fails, as in a deadlock */
async function behind(paymentId: string, first: Call, second: Call): Promise<void> {
  const [blocker, one, two] = await openRacers(database, 3);
  await blocker!.query('begin');
  await blocker!.query('select billing.lock_gateway_payment($1)', [paymentId]);
  const calls = [first(one!)];
  await untilBlocked(database, one!, calls[0]!);
  calls.push(second(two!));
  // A call that does not wait ends.
  await Promise.race([calls[1], untilBlocked(database, two!, calls[1]!).catch(() => {})]);
  await blocker!.query('rollback');
  await Promise.all(calls);
}
type Call = (session: pg.Client) => Promise<unknown>;

test('a refund of the statement beside the read of its order causes no deadlock', async () => {
  const order = await (await database.customer()).order('pro');
  const of = { payment_id: order.paymentId, amount: order.amount, status: 'processed' };
  const refund = { id: uniqueId('rfnd'), ...of, created_at: Math.floor(Date.now() / 1000) };
  const paid = { id: order.paymentId, status: 'refunded', captured: true, amount: order.amount, currency: 'INR' };
  const items = JSON.stringify([{ ...paid, refunds: [refund] }]);
  await behind(
    order.paymentId,
    (session) => callRpc(session, 'apply_order_payments', order.id, items),
    (session) => callRpc(session, 'apply_statement_item', 'refunds', JSON.stringify(refund)),
  );
  expect(await order.row()).toMatchObject({ status: 'captured', refunded_amount: String(order.amount) });
});

test('a replay beside a refund of the same payment waits for no request, and causes no deadlock', async () => {
  const order = await (await database.customer()).order('pro');
  await order.dispute('won');
  await order.verify();
  await order.capture();
  const body = refundEvent({ id: order.paymentId, order_id: order.orderId, amount: order.amount }, 10000);
  const replay: Call = async (session) => {
    await session.query('reset role');
    await session.query('select billing.replay_missed_events()');
  };
  await behind(order.paymentId, (session) => deliver(session, body), replay);
  expect(await order.row()).toMatchObject({ refunded_amount: '10000', dispute_status: null });
  await database.query('select billing.replay_missed_events()');
  expect(await order.row()).toMatchObject({ dispute_status: 'won' });
});
