import { expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import { act, openSupport } from '../helpers/records/support-actions.ts';

const database = useDatabase();

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
