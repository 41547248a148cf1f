-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

comment on column billing.support_actions.reference is null;

-- A support action note ends the problems that a document had before. A view, not a function: it is read for each document.
create view billing.settled_documents with (security_invoker = true) as
select a.reference as document_number, a.created_at as settled_at
from billing.support_actions a
where a.action = 'note' and a.reference is not null;

create view billing.notes_above with (security_invoker = true) as
select
  n.*, exists (
    select from billing.settled_documents s where s.document_number = n.document_number and s.settled_at >= n.at
  ) as is_settled
from (
  select
    r.document_number, r.payment_id, (r.totals ->> 'total')::bigint as excess, f.failed_at as at,
    'note_of_failed_refund' as problem, 'The refund failed afterwards: the note stands.' as detail
  from public.receipts r
  join billing.refunds f on f.refund_id = r.refund_id
  where f.status = 'failed'
  union all
  select
    r.document_number, r.payment_id, (r.totals ->> 'total')::bigint, coalesce(d.event_at, d.arrived_at),
    'note_of_won_dispute', 'The dispute was won afterwards: the note stands.'
  from public.receipts r
  join billing.disputes d on d.dispute_id = r.dispute_id
  where d.status in ('won', 'closed')
  union all
  select
    r.document_number, r.payment_id, (r.totals ->> 'total')::bigint - l.amount, l.at,
    'note_above_dispute', 'The dispute took less afterwards: the note stands.'
  from public.receipts r
  join billing.lost_disputes l on l.dispute_id = r.dispute_id
  where (r.totals ->> 'total')::bigint > l.amount
) n;

-- Returns by how much the notes of a payment exceed its refunds and lost disputes, in minor units, unless support settled it.
create function billing.noted_excess(p_payment_id uuid)
returns bigint -- negative: a refund or a dispute has no note yet, or one of a part
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_gateway_payment_id constant text := (select p.gateway_payment_id from public.payments p where p.id = p_payment_id);
begin
  return coalesce((
    select sum((n.totals ->> 'total')::bigint)
    from public.receipts n
    where n.payment_id = p_payment_id and num_nonnulls(n.refund_id, n.dispute_id) > 0
  ), 0)
  - coalesce((select sum(n.excess) from billing.notes_above n where n.payment_id = p_payment_id and n.is_settled), 0)
  - billing.refunded_amount(v_gateway_payment_id)
  - coalesce((
    select sum(l.amount) from billing.lost_disputes l where l.gateway_payment_id = v_gateway_payment_id
  ), 0);
end $$;

-- Issues what a payment lacks: its receipt, then a note for each processed refund and lost dispute.
create or replace function billing.issue_documents_of(p_payment public.payments, p_settings billing.settings)
returns timestamptz -- when to look again; null: nothing is left
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_receipt public.receipts := billing.find_receipt(p_payment.id);
  v_given record;
begin
  -- Also one that is not confirmed any more, since another payment on its order exchanged its row with it.
  if p_payment.status <> 'captured' or (p_payment.confirmed_at >= p_settings.receipts_from) is not true then return null; end if;
  if v_receipt.id is null then
    -- The gateway may book it in rupees some days later.
    if p_payment.currency <> 'INR' and p_payment.base_amount is null and p_settings.seller_gstin is not null
      and p_payment.confirmed_at > billing.clock() - interval '72 hours'
    then
      return p_payment.confirmed_at + interval '72 hours';
    end if;
    v_receipt := billing.issue_receipt(p_payment, p_settings);
  end if;
  for v_given in
    select r.refund_id, null::text as dispute_id, r.amount, r.created_at as at
    from billing.refunds r
    where r.gateway_payment_id = p_payment.gateway_payment_id
      and r.status = 'processed'
      and not exists (select from public.receipts n where n.refund_id = r.refund_id)
    union all
    select null, l.dispute_id, l.amount, l.at
    from billing.lost_disputes l
    where l.gateway_payment_id = p_payment.gateway_payment_id
      and not exists (select from public.receipts n where n.dispute_id = l.dispute_id)
    order by at, refund_id, dispute_id
  loop
    -- A refund that repeats a failed one has the note of that one.
    perform billing.issue_note(
      v_receipt, p_settings, least(v_given.amount, -billing.noted_excess(p_payment.id)), v_given.refund_id, v_given.dispute_id
    );
  end loop;
  return null;
end $$;

create or replace view billing.book_problems with (security_invoker = true) as
select d.tax_period as month, doubt.problem, d.document_number, d.payment_id, doubt.detail, d.issued_at as since
from billing.book_documents d
cross join lateral (
  select 'state_missing' as problem, 'The buyer''s state is not known: the seller''s was taken.' as detail
  where d.category = 'b2cs' and d.kind = 'receipt' and d.buyer ->> 'state' is null
  union all
  select 'buyer_incomplete', 'The invoice needs the name and the address of its buyer.'
  where d.kind = 'receipt'
    and (d.category in ('b2b', 'expwp', 'expwop') or d.category in ('b2cl', 'b2cs') and d.taxable >= 5000000)
    and (d.buyer ->> 'name' is null or d.buyer ->> 'address' is null)
  union all
  select 'rupees_missing', 'Its value in rupees is not known: the return lacks it.'
  where d.category <> 'none' and d.taxable is null
  union all
  select 'export_paid_in_rupees', 'Abroad, but not paid in foreign exchange: no export.'
  where d.category in ('expwp', 'expwop') and d.kind = 'receipt' and d.currency = 'INR'
  union all
  select 'sac_missing', 'The setting sac was not made.'
  where d.category <> 'none' and d.sac is null
  union all
  select 'einvoice_needed', 'Without the number of an e-invoice it does not count.'
  where d.category in ('b2b', 'expwp', 'expwop') and (select s.over_5_crore from billing.settings s)
  union all
  select 'note_too_late', 'Its tax cannot be adjusted any more.'
  where d.title = 'Credit note without GST' and d.document_date > billing.last_note_day(d.against_date)
) doubt
where not exists (select from public.receipts n where n.reissue_of = d.id)
  -- Only a receipt can be reissued, and not after notes took all of it.
  and (
    doubt.problem not in ('state_missing', 'buyer_incomplete', 'sac_missing')
    or d.kind = 'receipt' and billing.noted_total(d.id) < d.total
  )
  and not exists (
    select from billing.settled_documents s where s.document_number = d.document_number and s.settled_at >= d.issued_at
  )
union all
-- Of the month in which the tax is due again. Not where a later refund had no note of its own for it.
select
  date_trunc('month', billing.day_in_india(n.at))::date, n.problem, n.document_number, n.payment_id, n.detail, n.at
from billing.notes_above n
-- The case: else the function is called for each document, before its refund or dispute is looked up.
where not n.is_settled and case when n.at is not null then billing.noted_excess(n.payment_id) > 0 end
union all
select
  date_trunc('month', billing.day_in_india(d.confirmed_at))::date, 'document_waiting', null, d.payment_id,
  'The payment has no document yet.', d.due_at
from billing.documents_due d
where not exists (select from public.receipts r where r.payment_id = d.payment_id)
union all
select v.month, v.problem, null, null, v.settlement_id, v.since
from billing.settlement_problems v
union all
select
  date_trunc('month', billing.day_in_india(p.captured_at))::date, 'payment_unsettled', null, p.id, p.gateway_payment_id,
  p.captured_at
from public.payments p
where p.status = 'captured'
  and p.gateway_payment_id is not null
  -- Since settlements are read.
  and p.captured_at >= (select min(s.created_at) from billing.settlements s)
  and p.captured_at < (select billing.clock()) - interval '240 hours'
  and not exists (
    select from billing.standing_lines l where l.entity_id = p.gateway_payment_id and l.status <> 'failed'
  );

-- Of the last two months: later ones are in a return.
create or replace view billing.book_findings with (security_invoker = true) as
select
  v.problem as finding, coalesce(v.document_number, v.detail) as subject, v.payment_id, v.since,
  jsonb_build_object(
    'document_number', v.document_number, 'payment_id', v.payment_id, 'month', to_char(v.month, 'YYYY-MM'), 'detail', v.detail
  ) as detail,
  case v.problem
    when 'state_missing' then case
      when (select p.user_id is null from public.payments p where p.id = v.payment_id)
        then 'Ask an accountant: the customer is deleted, and the seller''s state stands.'
      else 'Ask the customer for the state, then reissue the receipt.'
    end
    when 'buyer_incomplete' then case
      when (select p.user_id is null from public.payments p where p.id = v.payment_id)
        then 'Ask an accountant: the customer is deleted.'
      else 'Ask the customer for name and address, then reissue the receipt.'
    end
    when 'rupees_missing' then 'Look the rupees up at the gateway, and add the document to the return by hand.'
    when 'export_paid_in_rupees' then 'Ask an accountant: the tax of a sale inside India may be due.'
    when 'sac_missing' then 'Set sac in billing.settings, then reissue the receipt.'
    when 'einvoice_needed' then 'Make the e-invoice at the portal: without its number this is no invoice.'
    when 'note_too_late' then 'Tell the accountant: the refund does not reduce the tax.'
    when 'note_of_failed_refund' then 'Refund the payment again: the note stands for that, too. Or ask the accountant for a debit note.'
    when 'note_of_won_dispute' then 'Ask the accountant for a debit note: the money is back, and the note stands.'
    when 'note_above_dispute' then 'Ask the accountant for a debit note: the dispute took less than the note.'
    when 'payment_unsettled' then 'Look at the gateway why it holds the payment back, and ask it when it settles.'
  end || case when v.document_number is not null then ' A support action note about the document ends the finding.' else '' end
  as remedy
from billing.book_problems v
where v.payment_id is not null
  and v.problem <> 'document_waiting'
  and v.month >= (select date_trunc('month', billing.clock() - interval '1 month'))::date;

comment on column billing.support_actions.reference is 'What it is about. A note about missed_webhook, unmailed_payment, refund_failed, returned_too_much or a document ends it.';

comment on view billing.notes_above is 'The credit notes that are larger than what their refund or dispute took in the end. is_settled: by a note of support.';

comment on view billing.settled_documents is 'The support action notes, also those about other things than documents.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."noted_excess"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."noted_excess"(uuid) TO "service_role";

revoke execute on all functions in schema billing from public;
