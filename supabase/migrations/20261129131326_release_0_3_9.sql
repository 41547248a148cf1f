-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

comment on column billing.support_actions.action is null;

ALTER TABLE "public"."receipts"
  DROP CONSTRAINT "receipts_dispute_id_key";

ALTER TABLE "billing"."support_actions"
  ADD COLUMN "corrects_seller" boolean;

ALTER TABLE "billing"."support_actions"
  ADD CONSTRAINT "support_actions_corrects_seller_check" CHECK (((corrects_seller IS NULL) OR (action = 'reissue'::billing.support_action)));

CREATE INDEX receipts_dispute_id_idx ON public.receipts USING btree (dispute_id)
  WHERE (dispute_id IS NOT NULL);

-- Row level security stays on: the policies let the role, and each login role in it, read all rows of these tables.
create or replace function billing.set_up_support()
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_name text;
begin
  -- No login is possible: an admin gives it a password, or makes a login role for each person in it.
  begin
    if not exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
      create role subscriptions_support nologin;
      alter role subscriptions_support set statement_timeout = '60s';
      -- An open support action locks the customer, whose orders wait.
      alter role subscriptions_support set idle_in_transaction_session_timeout = '60s';
    end if;
  exception
    -- Roles belong to the whole server: another of its databases was set up at the same time.
    when duplicate_object or unique_violation then
      null;
  end;
  grant usage on schema billing, public to subscriptions_support;
  foreach v_name in array billing.support_tables() loop
    execute format('grant select on %s to subscriptions_support', v_name);
    if (select c.relkind = 'r' from pg_catalog.pg_class c where c.oid = v_name::regclass)
      and not billing.has_policy(v_name::regclass, 'Support reads all rows')
    then
      execute format(
        'create policy "Support reads all rows" on %s for select to subscriptions_support using (true)', v_name
      );
    end if;
  end loop;
  -- The functions that the views call: those that write nothing.
  for v_name in
    select p.oid::regprocedure::text
    from pg_catalog.pg_proc p
    where p.pronamespace = 'billing'::regnamespace
      and p.provolatile <> 'v'
  loop
    execute format('grant execute on function %s to subscriptions_support', v_name);
  end loop;
  grant insert (action, email, tier, until, reference, entitlements, amount, at_period_end, corrects_seller, reason)
  on billing.support_actions to subscriptions_support;
  if not billing.has_policy('billing.support_actions', 'Support acts') then
    create policy "Support acts" on billing.support_actions for insert to subscriptions_support with check (true);
  end if;
end $$;

-- Issues the receipt of a payment. The caller holds the lock of the numbers.
create or replace function billing.issue_receipt(
  p_payment public.payments,
  p_settings billing.settings,
  p_replaced public.receipts default null -- that the new receipt replaces
)
returns public.receipts language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_total constant bigint := coalesce(
    -- Of what is replaced the rest that no note took before.
    (p_replaced.totals ->> 'total')::bigint - billing.noted_total(p_replaced.id),
    least(coalesce(p_payment.paid_amount, p_payment.amount), p_payment.amount)
  );
  v_buyer constant jsonb := case
    when p_payment.user_id is null then coalesce(
      p_replaced.buyer, (select d.buyer from billing.documents_due d where d.payment_id = p_payment.id), billing.buyer_of(null)
    )
    else billing.buyer_of(p_payment.user_id)
  end;
  v_place constant text := case
    when p_settings.seller_gstin is not null then coalesce(v_buyer ->> 'state', p_settings.seller_state)
  end;
  v_heads constant jsonb := billing.tax_heads(p_settings, v_place);
  v_item constant text := coalesce(
    p_replaced.lines #>> '{0,item}', (select p.name from public.plans p where p.id = p_payment.plan_id), p_payment.tier, 'Payment'
  );
  v_rupees bigint;
  v_document public.receipts;
begin
  v_rupees := case
    when p_payment.currency = 'INR' then v_total
    -- What the gateway booked is the whole payment.
    else round(p_payment.base_amount::numeric * v_total / nullif(coalesce(p_payment.paid_amount, p_payment.amount), 0))
  end;
  v_document.kind := 'receipt';
  v_document.title := case when p_settings.seller_gstin is null then 'Receipt' else 'Tax invoice' end;
  v_document.issued_at := case when p_replaced.id is null then p_payment.confirmed_at else billing.clock() end;
  v_document.reissue_of := p_replaced.id;
  v_document.payment_id := p_payment.id;
  v_document.user_id := p_payment.user_id;
  v_document.place_of_supply := v_place;
  v_document.currency := p_payment.currency;
  v_document.seller := jsonb_build_object(
    'name', p_settings.seller_name, 'address', p_settings.seller_address, 'gstin', p_settings.seller_gstin,
    'state', p_settings.seller_state
  ) || case when v_place = '96' and p_settings.export_lut is not null then jsonb_build_object('lut', p_settings.export_lut) else '{}' end;
  v_document.buyer := v_buyer;
  v_document.totals := billing.split_tax(v_total, v_heads);
  v_document.category := case
    when p_settings.seller_gstin is null then 'none'
    when v_place = '96' then case when v_heads = '[]' then 'expwop' else 'expwp' end
    when v_buyer ->> 'gstin' is not null then 'b2b'
    when v_place <> p_settings.seller_state and v_rupees > 10000000 then 'b2cl'
    else 'b2cs'
  end;
  v_document.lines := jsonb_build_array(jsonb_build_object(
    'description', concat_ws(
      ', ', v_item,
      billing.document_day(billing.day_in_india(p_payment.period_start)) || ' – '
        || billing.document_day(billing.day_in_india(p_payment.period_end))
    ),
    'item', v_item, 'sac', p_settings.sac, 'quantity', 1, 'amount', v_total
  ));
  if p_payment.currency <> 'INR' and v_rupees is not null then
    v_document.rupees := billing.split_tax(v_rupees, v_heads) || jsonb_build_object(
      'rate', trim_scale(round(
        v_rupees / 100.0 / (nullif(v_total, 0) / 10::numeric ^ billing.minor_units(p_payment.currency)), 10
      ))::text,
      'source', 'gateway'
    );
  end if;
  return billing.issue_document(v_document, p_settings.receipt_prefix);
end $$;

-- Returns what the notes of a dispute took, in minor units: it may take more later.
create function billing.noted_of_dispute(
  p_dispute_id text,
  p_until uuid default null -- the last one of them that counts. Null: all do
)
returns bigint language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce((
    select sum((n.totals ->> 'total')::bigint)
    from public.receipts n
    left join public.receipts u on u.id = p_until
    where n.dispute_id = p_dispute_id and (u.id is null or (n.issued_at, n.number, n.id) <= (u.issued_at, u.number, u.id))
  ), 0);
end $$;

create or replace view billing.notes_above with (security_invoker = true) as
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
    r.document_number, r.payment_id, least((r.totals ->> 'total')::bigint, billing.noted_of_dispute(r.dispute_id, r.id) - l.amount), l.at,
    'note_above_dispute', 'The dispute took less afterwards: the note stands.'
  from public.receipts r
  join billing.lost_disputes l on l.dispute_id = r.dispute_id
  where billing.noted_of_dispute(r.dispute_id, r.id) > l.amount
) n;

-- Returns the note of a refund: its own, else the one that stands above what its refund or dispute took, and is counted for this.
create function billing.note_of_refund(p_refund_id text, p_payment_id uuid)
returns text -- the number; null: there is none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce(
    (select r.document_number from public.receipts r where r.refund_id = p_refund_id),
    (
      select n.document_number
      from billing.notes_above n
      join billing.refunds f on f.refund_id = p_refund_id and f.status = 'processed'
      where n.payment_id = p_payment_id and not n.is_settled
      order by abs(n.excess - f.amount), n.document_number
      limit 1
    )
  );
end $$;

-- Returns the day whose year limits how long a tax is adjusted: that of the first receipt, not of one that replaces it.
create function billing.supply_day(p_payment_id uuid)
returns date language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select r.document_date
    from public.receipts r
    where r.payment_id = p_payment_id and r.kind = 'receipt' and r.reissue_of is null
  );
end $$;

-- Issues a credit note of at most the rest of a receipt. The caller holds the lock of the numbers.
create or replace function billing.issue_note(
  p_receipt public.receipts,
  p_settings billing.settings,
  p_amount bigint, -- minor units
  p_refund_id text,
  p_dispute_id text
)
returns public.receipts -- all null: nothing is left
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_total constant bigint := least(p_amount, (p_receipt.totals ->> 'total')::bigint - billing.noted_total(p_receipt.id));
  v_is_commercial constant boolean := p_receipt.seller ->> 'gstin' is not null and (
    billing.day_in_india(billing.clock()) > billing.last_note_day(billing.supply_day(p_receipt.payment_id))
    or p_dispute_id is not null and not p_settings.dispute_notes
  );
  v_noted jsonb[];
  v_noted_rupees jsonb[];
  v_rupees bigint;
  v_note public.receipts := p_receipt;
begin
  if v_total <= 0 then return null; end if;
  select array_agg(n.totals order by n.issued_at, n.number), array_agg(n.rupees order by n.issued_at, n.number)
  into v_noted, v_noted_rupees
  from public.receipts n
  where n.receipt_id = p_receipt.id and n.title = 'Credit note';
  v_note.kind := 'credit_note';
  v_note.title := case when v_is_commercial then 'Credit note without GST' else 'Credit note' end;
  v_note.issued_at := billing.clock();
  v_note.receipt_id := p_receipt.id;
  v_note.reissue_of := null;
  v_note.refund_id := p_refund_id;
  v_note.dispute_id := p_dispute_id;
  v_note.lines := jsonb_build_array((p_receipt.lines -> 0) || jsonb_build_object(
    'description', format(
      '%s, %s %s of %s',
      case when p_refund_id is not null then 'Refund' when p_dispute_id is not null then 'Lost dispute' else 'Correction' end,
      lower(p_receipt.title), p_receipt.document_number, billing.document_day(p_receipt.document_date)
    ),
    'amount', v_total
  ));
  if v_is_commercial then
    v_note.category := 'none';
    v_note.totals := billing.split_tax(v_total, '[]');
    v_note.rupees := null;
  else
    v_note.totals := billing.split_note(p_receipt.totals, v_noted, v_total);
    if p_receipt.rupees is not null then
      v_rupees := round(
        (p_receipt.rupees ->> 'total')::numeric
          * (v_total + (select coalesce(sum((n ->> 'total')::bigint), 0) from unnest(v_noted) n)) / (p_receipt.totals ->> 'total')::bigint
      ) - (select coalesce(sum((n ->> 'total')::bigint), 0) from unnest(v_noted_rupees) n);
      v_note.rupees := billing.split_note(p_receipt.rupees, v_noted_rupees, v_rupees)
        || jsonb_build_object('rate', p_receipt.rupees -> 'rate', 'source', p_receipt.rupees -> 'source');
    end if;
  end if;
  return billing.issue_document(
    v_note, case when v_is_commercial then p_settings.commercial_note_prefix else p_settings.credit_note_prefix end
  );
end $$;

-- Issues what a payment lacks: its receipt, then a note for each processed refund and for what each lost dispute took.
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
    select null, l.dispute_id, l.amount - billing.noted_of_dispute(l.dispute_id), l.at
    from billing.lost_disputes l
    where l.gateway_payment_id = p_payment.gateway_payment_id
    order by at, refund_id, dispute_id
  loop
    -- A refund that repeats a failed one has the note of that one.
    perform billing.issue_note(
      v_receipt, p_settings, least(v_given.amount, -billing.noted_excess(p_payment.id)), v_given.refund_id, v_given.dispute_id
    );
  end loop;
  return null;
end $$;

-- Returns the settings with the seller of a receipt: its registration, state, letter and rate are those of the day of the supply.
create function billing.settings_of(p_receipt public.receipts, p_settings billing.settings)
returns billing.settings language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_taxes constant jsonb := p_receipt.totals -> 'taxes';
begin
  p_settings.seller_name := p_receipt.seller ->> 'name';
  p_settings.seller_address := p_receipt.seller ->> 'address';
  p_settings.seller_gstin := p_receipt.seller ->> 'gstin';
  p_settings.seller_state := p_receipt.seller ->> 'state';
  p_settings.sac := coalesce(p_receipt.lines #>> '{0,sac}', p_settings.sac);
  p_settings.tax_name := coalesce(v_taxes #>> '{0,name}', p_settings.tax_name);
  -- A tax invoice without a tax names no rate, and a sale inside India no letter: those of today.
  if p_settings.seller_gstin is null or v_taxes <> '[]' then
    p_settings.tax_rate := (select sum((t ->> 'rate')::numeric) from jsonb_array_elements(v_taxes) t);
  end if;
  if p_receipt.place_of_supply = '96' then p_settings.export_lut := p_receipt.seller ->> 'lut'; end if;
  return p_settings;
end $$;

-- Replaces a receipt: a note of its rest, and a new one with the buyer's details of today, of a deleted user with those of then.
-- The seller stays, unless the settings of then had a mistake.
create or replace function billing.perform_reissue(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_settings constant billing.settings := (select s from billing.settings s where s.is_only);
  v_receipt public.receipts;
  v_payment public.payments;
  v_note public.receipts;
  v_new public.receipts;
begin
  perform billing.lock_numbers();
  select * into v_receipt from public.receipts r where r.document_number = p_action.reference and r.kind = 'receipt';
  perform billing.require(
    v_receipt.id is not null and coalesce(v_receipt.user_id = p_action.user_id, p_action.user_id is null), 'PS404',
    format('reissue needs reference: no receipt "%s" of this customer', p_action.reference)
  );
  perform billing.require(
    not exists (select from public.receipts r where r.reissue_of = v_receipt.id), 'PS409',
    format('receipt %s was reissued before', v_receipt.document_number)
  );
  perform billing.require(
    billing.noted_total(v_receipt.id) < (v_receipt.totals ->> 'total')::bigint, 'PS409',
    format('receipt %s was cancelled in full', v_receipt.document_number)
  );
  perform billing.require(
    v_receipt.seller ->> 'gstin' is null
      or billing.day_in_india(billing.clock()) <= billing.last_note_day(billing.supply_day(v_receipt.payment_id)),
    'PS409', format('receipt %s is too old: its tax cannot be adjusted any more', v_receipt.document_number)
  );
  select * into v_payment from public.payments p where p.id = v_receipt.payment_id;
  v_new := billing.issue_receipt(
    v_payment, case when p_action.corrects_seller then v_settings else billing.settings_of(v_receipt, v_settings) end, v_receipt
  );
  v_note := billing.issue_note(v_receipt, v_settings, (v_receipt.totals ->> 'total')::bigint, null, null);
  p_action.user_id := v_receipt.user_id;
  p_action.result := format(
    '%s cancels %s, and %s replaces it.', v_note.document_number, v_receipt.document_number, v_new.document_number
  );
  return p_action;
end $$;

-- Returns what a line has beyond the price of its payment: the fee that the customer paid on top, below zero where refunds reach
-- it. No document has it.
create function billing.fee_on_top(p_line billing.settlement_lines, p_payment public.payments)
returns bigint -- paise
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case p_line.type
    when 'payment' then p_line.amount - round(p_line.amount::numeric * p_payment.amount / p_payment.paid_amount)
    when 'refund' then coalesce((
      select round(
        p_line.amount::numeric
          * (greatest(f.before - p_payment.amount, 0) - greatest(f.before + f.amount - p_payment.amount, 0)) / f.amount
      )
      from (
        select r.refund_id, r.amount, sum(r.amount) over (order by r.created_at, r.refund_id) - r.amount as before
        from billing.refunds r
        where r.gateway_payment_id = p_payment.gateway_payment_id and r.status = 'processed'
      ) f
      where f.refund_id = p_line.entity_id
    ), 0)
    else 0
  end;
end $$;

create or replace view billing.bank_lines with (security_invoker = true) as
select
  s.settlement_id, s.utr, billing.day_in_india(s.created_at) as settled_on, s.status, s.amount, sums.payments, sums.fees,
  sums.gst_on_fees, sums.refunds, sums.adjustments, sums.transfers, sums.other, s.fees as settlement_fees,
  s.amount + s.fees - sums.net as difference, sums.fees_from_credits, sums.lines, s.lines_complete_at,
  sums.fees_on_top
from billing.settlements s
cross join lateral (
  select
    coalesce(sum(l.credit - l.debit), 0)::bigint as net,
    coalesce(sum(l.credit - l.debit + taken.fee) filter (where l.type = 'payment'), 0)::bigint as payments,
    coalesce(sum(l.debit - l.credit - taken.fee) filter (where l.type = 'refund'), 0)::bigint as refunds,
    coalesce(sum(l.credit - l.debit + taken.fee) filter (where l.type = 'adjustment'), 0)::bigint as adjustments,
    coalesce(sum(l.debit - l.credit - taken.fee) filter (where l.type = 'transfer'), 0)::bigint as transfers,
    coalesce(sum(l.credit - l.debit + taken.fee) filter (
      where l.type not in ('payment', 'refund', 'adjustment', 'transfer')
    ), 0)::bigint as other,
    coalesce(sum(taken.fee - taken.tax), 0)::bigint as fees,
    coalesce(sum(taken.tax), 0)::bigint as gst_on_fees,
    coalesce(sum(l.fee - taken.fee), 0)::bigint as fees_from_credits,
    coalesce(sum(case when p.paid_amount > p.amount then billing.fee_on_top(l, p) end), 0)::bigint as fees_on_top,
    count(*) as lines
  from billing.settlement_lines l
  left join public.payments p on p.gateway_payment_id = coalesce(l.payment_id, l.entity_id)
  -- A fee that credits paid was not taken from the line.
  cross join lateral (select l.fee > 0 and greatest(l.credit, l.debit) = l.amount as is_from_credits) paid
  cross join lateral (
    select
      case when paid.is_from_credits then 0 else l.fee end as fee,
      case when paid.is_from_credits then 0 else l.tax end as tax
  ) taken
  where l.settlement_id = s.settlement_id
) sums;

create or replace view billing.settled_payments with (security_invoker = true) as
select
  entity.kind, entity.entity_id, entity.payment_id, entity.at, entity.amount, entity.currency, entity.document_number,
  l.fee - l.tax as fee, l.tax as gst_on_fee, l.settlement_id, l.utr, billing.day_in_india(l.created_at) as settled_on,
  case when l.status = 'processed' then 'settled' else 'waiting' end as state
from (
  select
    'payment' as kind, p.gateway_payment_id as entity_id, p.id as payment_id, p.captured_at as at,
    coalesce(p.paid_amount, p.amount) as amount, p.currency, r.document_number
  from public.payments p
  left join billing.standing_receipts r on r.payment_id = p.id
  where p.status = 'captured' and p.gateway_payment_id is not null
  union all
  select 'refund', f.refund_id, p.id, f.created_at, f.amount, p.currency, billing.note_of_refund(f.refund_id, p.id)
  from billing.refunds f
  left join public.payments p on p.gateway_payment_id = f.gateway_payment_id
  where f.status = 'processed'
) entity
left join lateral (
  select v.* from billing.standing_lines v where v.entity_id = entity.entity_id
) l on l.type = entity.kind;

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
  select 'tax_missing', 'The setting tax_rate was not made: the invoice has no GST.'
  where d.category in ('b2b', 'b2cl', 'b2cs') and d.rate = 0 and d.taxable is not null
  union all
  select 'einvoice_needed', 'Without the number of an e-invoice it does not count.'
  where d.category in ('b2b', 'expwp', 'expwop') and (select s.over_5_crore from billing.settings s)
  union all
  select 'note_too_late', 'Its tax cannot be adjusted any more.'
  where d.title = 'Credit note without GST' and d.document_date > billing.last_note_day(billing.supply_day(d.payment_id))
) doubt
where not exists (select from public.receipts n where n.reissue_of = d.id)
  -- Only a receipt can be reissued, and not after notes took all of it.
  and (
    doubt.problem not in ('state_missing', 'buyer_incomplete', 'sac_missing', 'tax_missing')
    or d.kind = 'receipt' and billing.noted_total(d.id) < d.total
  )
  and not exists (
    select from billing.settled_documents s where s.document_number = d.document_number and s.settled_at >= d.issued_at
  )
union all
-- Of the month in which the tax is due again. Not where a later refund has used the note up.
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
    when 'state_missing' then 'Ask the customer for the state, then reissue the receipt.'
    when 'buyer_incomplete' then 'Ask the customer for name and address, then reissue the receipt.'
    when 'rupees_missing' then 'Look the rupees up at the gateway, and add the document to the return by hand.'
    when 'export_paid_in_rupees' then 'Ask an accountant: the tax of a sale inside India may be due.'
    when 'sac_missing' then 'Set sac in billing.settings, then reissue the receipt.'
    when 'tax_missing' then 'Set tax_rate in billing.settings, then reissue the receipt.'
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
  -- A deleted user can't be asked any more.
  and (
    v.problem not in ('state_missing', 'buyer_incomplete')
    or not exists (select from public.payments p where p.id = v.payment_id and p.user_deleted_at is not null)
  )
  and v.month >= (select date_trunc('month', billing.clock() - interval '1 month'))::date;

comment on column billing.bank_lines.fees_on_top is 'What customers paid beyond the price, for the fee: in payments and refunds, and in no document.';

comment on column billing.support_actions.action is 'grant (tier, until, perhaps entitlements), revoke_grant (reference: id of the grant), end_access (reference: payment), refund (reference: payment, perhaps amount), cancel (perhaps at_period_end) and resume all that the customer pays for, reissue (reference: number of a receipt, perhaps corrects_seller), requeue_mail (reference: id of the message), replay_event and ignore_event (reference: body_sha256 of the webhook), reconcile_now (reference: order, payment or subscription; without one all of the customer), note.';

comment on column billing.support_actions.corrects_seller is 'Of a reissue: true: the settings had a mistake, and those of today are right; false or null: they were right then.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."fee_on_top"(billing.settlement_lines, public.payments) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."fee_on_top"(billing.settlement_lines, public.payments) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."note_of_refund"(text, uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."note_of_refund"(text, uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."noted_of_dispute"(text, uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."noted_of_dispute"(text, uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."settings_of"(public.receipts, billing.settings) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."settings_of"(public.receipts, billing.settings) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."supply_day"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."supply_day"(uuid) TO "service_role";

revoke execute on all functions in schema billing from public;

-- Disputes that took more after their note get a note of the rest.
insert into billing.documents_due (payment_id, confirmed_at)
select p.id, p.confirmed_at
from billing.lost_disputes l
join public.payments p using (gateway_payment_id)
where p.confirmed_at is not null
  and exists (select from public.receipts n where n.dispute_id = l.dispute_id)
  and l.amount > billing.noted_of_dispute(l.dispute_id)
on conflict (payment_id) do nothing;
