-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

comment on column billing.customer_payments.refund_effect is null;

ALTER TABLE "billing"."documents_due"
  ADD COLUMN "buyer" jsonb;

-- Settles the access of a user whose payment is fulfilled, with the success mail.
create or replace function billing.settle_purchase(
  p_purchase billing.purchase,
  p_payment public.payments, -- as it is fulfilled
  p_email text, -- of the user
  p_rules boolean -- whether it is known to rule
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_plan constant public.plans := p_purchase.plan;
  v_source billing.sources;
  v_ruling billing.ruling;
begin
  -- A ranking would take half of the time.
  if p_rules then
    v_source.user_id := p_payment.user_id;
    v_source.kind := 'payment';
    v_source.id := p_payment.id;
    v_source.plan_id := v_plan.id;
    v_source.tier := p_payment.tier;
    v_source.starts_at := coalesce(p_payment.chain_start, p_payment.period_start);
    v_source.ends_at := p_payment.period_end;
    v_source.lapses_at := p_payment.period_end;
    v_source.since := p_payment.since;
    v_source.cancel_at_period_end := p_payment.cancel_at_period_end;
    v_source.sold := billing.price_sold(p_payment);
    v_ruling := billing.sole_ruling(v_source);
    v_ruling.shown := p_purchase.shown;
  end if;
  perform billing.settle_access(
    p_payment.user_id, p_email, p_payment.id::text, p_ruling => v_ruling, p_mail => jsonb_build_object(
      'plan_name', v_plan.name, 'amount', coalesce(p_payment.paid_amount, p_payment.amount), 'currency', p_payment.currency,
      'transaction_id', p_payment.gateway_payment_id, 'valid_until', billing.iso_time(p_payment.period_end)
    ) || case
      -- It waits, and something else runs until then.
      when p_payment.period_start > billing.clock() and (p_purchase.shown).tier is distinct from p_payment.tier
        then jsonb_build_object('starts_at', billing.iso_time(p_payment.period_start))
      else '{}'
    end
  );
end $$;

-- Returns what a refund of all that is left of a payment changes of what the gateway charges.
create or replace function billing.refund_effect(p_payment public.payments)
-- uncovers_credit: also of a part, because a later purchase got a credit for it; ends_renewal; resumes_replaced: a subscription
-- that it replaced is charged again; null: nothing
returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_payment.extra_of is not null then null
    when exists (select from billing.purchases_on_credit(p_payment)) then 'uncovers_credit'
    when p_payment.gateway_subscription_id is not null then null
    when exists (
      select from billing.next_charge(p_payment.user_id) n
      join billing.gateway_subscriptions m
        on m.user_id = n.user_id
        and m.gateway_subscription_id = n.id
        and m.payment_id = p_payment.id
      where n.kind <> 'subscription'
    ) then 'ends_renewal'
    when exists (
      select from billing.commitments(p_payment.user_id) c
      join billing.gateway_subscriptions m
        on m.user_id = p_payment.user_id
        and m.gateway_subscription_id = c.id
      where c.stop_reason = 'replaced'
        and not billing.is_stop_sent(c.id)
        -- Nothing else replaced it.
        and not exists (
          select from billing.purchases o
          where o.user_id = m.user_id
            and o.id <> p_payment.id::text
            and o.gateway_subscription_id is distinct from c.id
            and o.since > billing.since_of(m)
        )
    ) then 'resumes_replaced'
  end;
end $$;

-- Asks the gateway for a refund: of all that is left, or of a part. Access follows from the refund, as from any other.
create or replace function billing.perform_refund(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_id constant uuid := billing.payment_id_of(p_action.reference);
  v_payment public.payments;
  v_left bigint;
  v_most bigint;
  v_effect text;
begin
  perform billing.require(p_action.reference is not null, 'PS400', 'refund needs reference: the payment');
  perform billing.require((p_action.amount > 0) is not false, 'PS400', 'refund needs an amount above 0');
  select * into v_payment
  from public.payments p
  where p.id = v_id and p.user_id is not distinct from coalesce(p_action.user_id, p.user_id);
  perform billing.require(
    v_payment.id is not null, 'PS404', format('refund needs reference: no payment "%s" of this customer', p_action.reference)
  );
  perform billing.require(
    v_payment.status = 'captured' and v_payment.gateway_payment_id is not null, 'PS409',
    format('payment %s was not captured', p_action.reference)
  );
  -- Two at once would each find all of it left. Read again by the gateway's id: of two payments on an order the other one
  -- may count by now.
  perform billing.lock_gateway_payment(v_payment.gateway_payment_id);
  select * into v_payment from public.payments p where p.gateway_payment_id = v_payment.gateway_payment_id;
  v_left := billing.refundable_amount(v_payment);
  p_action.amount := coalesce(p_action.amount, v_left);
  perform billing.require(
    p_action.amount between 1 and v_left, 'PS409',
    format(
      'of payment %s %s can be refunded: the rest was refunded or asked for before', v_payment.gateway_payment_id,
      billing.amount_text(v_left, v_payment.currency)
    )
  );
  perform billing.require(
    p_action.amount >= 100, 'PS400',
    format('the gateway refunds %s at least', billing.amount_text(100, v_payment.currency))
  );
  if not billing.acts_as_owner(p_action) then
    select s.support_refund_amount into v_most from billing.settings s;
    perform billing.require(
      v_most is null or v_most >= p_action.amount + (
        select coalesce(sum(r.amount), 0)
        from billing.refund_requests r
        where r.payment_id = v_payment.id and r.status <> 'failed'
      ),
      'PS403', format(
        'support may refund %s of a payment at most: the setting support_refund_amount',
        billing.amount_text(v_most, v_payment.currency)
      )
    );
  end if;
  p_action.reference := v_payment.gateway_payment_id;
  p_action.user_id := v_payment.user_id;
  v_effect := billing.refund_effect(v_payment);
  perform billing.enqueue(
    'refund-' || gen_random_uuid(), 'gateway', 'refund',
    jsonb_build_object(
      'gateway_payment_id', v_payment.gateway_payment_id, 'amount', p_action.amount, 'currency', v_payment.currency,
      'support_action', p_action.id::text
    )
  );
  p_action.result := format(
    'The gateway is asked to refund %s of payment %s. %s%s',
    billing.amount_text(p_action.amount, v_payment.currency), v_payment.gateway_payment_id,
    (
      select format('Dispute %s of it is open: if it is lost, the money is gone twice. ', min(d.dispute_id))
      from billing.disputes d
      where d.gateway_payment_id = v_payment.gateway_payment_id and billing.decision_rank(d.status) = 0
      having count(*) > 0
    ),
    case
      when v_payment.extra_of is not null then 'Access does not depend on it.'
      when v_effect = 'uncovers_credit' then (
        select format(
          'Access stays: its unused time was credited to payment %s, which is not covered then (unearned_credit). ',
          string_agg(p.gateway_payment_id, ', ' order by p.fulfilled_at)
        )
        from billing.purchases_on_credit(v_payment) p
      ) || coalesce(billing.next_charge_text(v_payment.user_id), '')
      when p_action.amount < v_left then 'Access stays.'
      when v_payment.gateway_subscription_id is not null
        then 'The paid time of its cycle ends when the refund is processed. '
          || coalesce(billing.next_charge_text(v_payment.user_id), '')
      when v_effect = 'ends_renewal' then 'Its access and its renewal end when the refund is processed.'
      when v_effect = 'resumes_replaced' then 'Its access ends when the refund is processed, and what it replaced goes on.'
      else 'Its access ends when the refund is processed. ' || coalesce(billing.next_charge_text(v_payment.user_id), '')
    end
  );
  return p_action;
end $$;

-- Security definer, as the function below: the role of an app may write these tables but not the list.
create or replace function billing.note_payment_document()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into billing.documents_due (payment_id, confirmed_at, buyer)
  values (new.id, new.confirmed_at, billing.buyer_of(new.user_id))
  on conflict (payment_id) do nothing;
  return null;
end $$;

-- A user may be deleted before the receipt is issued, and the details with the user. Security definer, as above.
create function billing.note_buyer()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update billing.documents_due d
  set buyer = billing.buyer_of(new.user_id)
  from public.payments p
  where p.id = d.payment_id and p.user_id = new.user_id;
  return null;
end $$;

-- Lets documents follow their payments when two rows exchange these, and lists what each row lacks then.
-- Security definer, as above.
create or replace function billing.exchange_documents(p_one uuid, p_other uuid)
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_of_one uuid[];
begin
  if (select s.receipts_from from billing.settings s) is null then return; end if;
  -- A batch that numbers documents has read the rows as they were.
  perform billing.lock_numbers();
  v_of_one := array(select r.id from public.receipts r where r.payment_id = p_one);
  perform set_config('subscriptions.documents_follow', 'on', true);
  -- No two receipts may name one payment meanwhile.
  update public.receipts r set payment_id = r.id where r.id = any (v_of_one);
  update public.receipts r set payment_id = p_one where r.payment_id = p_other;
  update public.receipts r set payment_id = p_other where r.id = any (v_of_one);
  perform set_config('subscriptions.documents_follow', null, true);
  insert into billing.documents_due as d (payment_id, confirmed_at, buyer)
  select p.id, p.confirmed_at, billing.buyer_of(p.user_id)
  from public.payments p
  where p.id in (p_one, p_other) and p.confirmed_at is not null
  on conflict (payment_id) do update set confirmed_at = excluded.confirmed_at, due_at = least(d.due_at, excluded.due_at);
end $$;

-- Lists the next payments that were confirmed before receipts were switched on. Those that are confirmed later list themselves.
create or replace function billing.list_documents(p_from timestamptz, p_receipts_from timestamptz)
returns integer -- at least 1
language plpgsql set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
declare
  v_until constant timestamptz := (
    select p.captured_at from public.payments p where p.status = 'captured' and p.captured_at > p_from order by p.captured_at offset 9999 limit 1
  );
  v_listed integer;
begin
  insert into billing.documents_due (payment_id, confirmed_at, buyer)
  select p.id, p.confirmed_at, billing.buyer_of(p.user_id)
  from public.payments p
  where p.status = 'captured'
    and p.captured_at > p_from
    and p.captured_at <= coalesce(v_until, 'infinity')
    and p.confirmed_at >= p_receipts_from
  on conflict (payment_id) do nothing;
  get diagnostics v_listed = row_count;
  update billing.scheduled_jobs j set listed_until = v_until where j.name = 'sweep';
  return v_listed + 1;
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
  v_item constant text := coalesce((select p.name from public.plans p where p.id = p_payment.plan_id), p_payment.tier, 'Payment');
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
    billing.day_in_india(billing.clock()) > billing.last_note_day(p_receipt.document_date)
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
union all
select n.tax_period, 'note_of_failed_refund', n.document_number, n.payment_id, 'The refund failed afterwards: the note stands.',
  f.failed_at
from billing.refunds f
join public.receipts n on n.refund_id = f.refund_id
where f.status = 'failed'
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

comment on column billing.customer_payments.refund_effect is 'What a refund of all that is left changes: uncovers_credit, or of the next charges ends_renewal, resumes_replaced. Null: nothing.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

CREATE TRIGGER note_document
  AFTER INSERT OR UPDATE ON public.billing_details
  FOR EACH ROW
  EXECUTE FUNCTION billing.note_buyer();

ALTER TABLE "public"."billing_details"
  DISABLE TRIGGER "note_document";

REVOKE ALL ON FUNCTION "billing"."note_buyer"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."note_buyer"() TO "service_role";

revoke execute on all functions in schema billing from public;
