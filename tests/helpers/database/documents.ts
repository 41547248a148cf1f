import { expect } from 'vitest';
import type { Row, TestDatabase } from './test-database.ts';

/** Of payments that the gateway confirmed: what their documents should say, beside what they say, where that differs. */
const differences = `
  with confirmed as (
    select p.id, p.gateway_payment_id as payment, least(coalesce(p.paid_amount, p.amount), p.amount) as total,
      least(
        coalesce(p.paid_amount, p.amount), p.amount,
        coalesce((
          select sum(r.amount) from billing.refunds r
          where r.gateway_payment_id = p.gateway_payment_id and r.status = 'processed'
        ), 0) + billing.lost_amount(p.gateway_payment_id)
      ) as returned
    from public.payments p
    where p.status = 'captured' and p.confirmed_at is not null
  ),
  documented as (
    select r.payment_id, array_agg((r.totals ->> 'total')::bigint) filter (where r.kind = 'receipt') as receipts,
      coalesce(sum((r.totals ->> 'total')::bigint) filter (where r.kind = 'credit_note'), 0) as noted
    from public.receipts r
    group by r.payment_id
  )
  select c.payment as about, c.total, c.returned, d.receipts, d.noted
  from confirmed c
  left join documented d on d.payment_id = c.id
  -- The note of a refund that failed afterwards stands.
  where d.receipts is distinct from array[c.total] or d.noted not between c.returned and c.total
  union all
  select 'not confirmed ' || p.gateway_payment_id, null, null, d.receipts, d.noted
  from documented d
  join public.payments p on p.id = d.payment_id
  where p.confirmed_at is null
  union all
  select 'numbers of ' || r.series, max(r.number), null, array[count(*)], null
  from public.receipts r
  group by r.series
  having max(r.number) <> count(*)
  union all
  select 'waits ' || d.payment_id, null, null, null, null from billing.documents_due d`;

/** @returns what is wrong: each confirmed payment has one receipt, and notes of what was refunded or lost; no number lacks */
export async function wrongDocuments(database: Pick<TestDatabase, 'query'>): Promise<Row[]> {
  await database.query('do $$ begin loop exit when billing.issue_documents() = 0; end loop; end $$');
  return await database.query(differences);
}

export async function expectExactDocuments(database: Pick<TestDatabase, 'query'>): Promise<void> {
  expect(await wrongDocuments(database), 'documents').toEqual([]);
}
