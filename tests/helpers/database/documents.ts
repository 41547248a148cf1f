import { expect } from 'vitest';
import type { TestDatabase } from './test-database.ts';

/** What the documents of the payments that the gateway confirmed should be, beside what they are, where these differ. */
const differences = `
  with payments as (
    select p.id, p.gateway_payment_id, least(coalesce(p.paid_amount, p.amount), p.amount) as total,
      array(
        select r.refund_id from billing.refunds r
        where r.gateway_payment_id = p.gateway_payment_id and r.status = 'processed' order by 1
      ) as refunds
    from public.payments p
    where p.status = 'captured' and p.confirmed_at is not null
  ),
  documents as (
    select r.payment_id, array_agg((r.totals ->> 'total')::bigint) filter (where r.kind = 'receipt') as totals,
      coalesce(array_agg(r.refund_id order by r.refund_id) filter (where r.refund_id is not null), '{}') as refunds,
      coalesce(sum((r.totals ->> 'total')::bigint) filter (where r.kind = 'credit_note'), 0) as noted
    from public.receipts r
    group by r.payment_id
  )
  select p.gateway_payment_id, p.total, p.refunds, d.totals, d.refunds as noted_refunds, d.noted
  from payments p
  left join documents d on d.payment_id = p.id
  where d.totals is distinct from array[p.total] or not p.refunds <@ d.refunds or d.noted > p.total
  union all
  select 'not confirmed', null, null, d.totals, d.refunds, d.noted
  from documents d
  where not exists (select from payments p where p.id = d.payment_id) and exists (select from public.payments p where p.id = d.payment_id)
  union all
  select 'numbers of ' || r.series, max(r.number), null, array[count(*)], null, null
  from public.receipts r
  group by r.series
  having max(r.number) <> count(*)
  union all
  select 'waits', null, null, null, null, null from billing.documents_due`;

/** Each confirmed payment has one receipt of what was paid for, each processed refund its note, and no number lacks. */
export async function expectExactDocuments(database: Pick<TestDatabase, 'query'>): Promise<void> {
  await database.query('do $$ begin loop exit when billing.issue_documents() = 0; end loop; end $$');
  expect(await database.query(differences), 'documents').toEqual([]);
}
