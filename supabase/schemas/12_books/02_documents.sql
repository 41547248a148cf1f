-- Receipts, tax invoices and credit notes: numbered, frozen, one for each confirmed payment, processed refund and lost
-- dispute. Contract: GET /api/payments/:id/receipt, PUT /api/billing-details. Operations: "Documents".

-- The states and union territories of GST, with 96 for abroad and 97 for other territory; 25 and 28 are merged into others.
create function billing.is_state(p_state text)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return p_state ~ '^(0[1-9]|1[0-9]|2[0-4]|2[67]|29|3[0-8]|9[67])$'; end $$;

-- Returns whether a text is a GSTIN: of a taxpayer, a deductor (D) or a collector (C) with its check digit; of a body of the
-- United Nations, a non-resident or a foreign online seller by its form.
create function billing.is_gstin(p_gstin text)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_digits constant text := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  v_sum integer := 0;
  v_product integer;
begin
  if p_gstin is null then return null; end if;
  if p_gstin ~ '^[0-9]{4}[A-Z]{3}[0-9]{5}(UN|ON|NR|OS)[0-9A-Z]$' then return true; end if;
  if p_gstin !~ '^[0-9]{2}[0-9A-Z]{11}[ZDC][0-9A-Z]$' then return false; end if;
  for v_place in 1 .. 14 loop
    v_product := (strpos(v_digits, substr(p_gstin, v_place, 1)) - 1) * (2 - v_place % 2);
    v_sum := v_sum + v_product / 36 + v_product % 36;
  end loop;
  return substr(v_digits, (36 - v_sum % 36) % 36 + 1, 1) = right(p_gstin, 1);
end $$;

-- The seller is a normal taxpayer in its state.
create function billing.check_seller()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  new.seller_gstin := nullif(upper(btrim(new.seller_gstin)), '');
  if new.seller_gstin is not null then
    if not billing.is_gstin(new.seller_gstin) or substr(new.seller_gstin, 14, 1) <> 'Z' then
      raise exception 'seller_gstin "%" is no GSTIN of a taxpayer', new.seller_gstin using errcode = 'check_violation';
    end if;
    new.seller_state := coalesce(new.seller_state, left(new.seller_gstin, 2));
    if new.seller_state <> left(new.seller_gstin, 2) then
      raise exception 'seller_state is not that of seller_gstin' using errcode = 'check_violation';
    end if;
  end if;
  if new.seller_state is not null and not billing.is_state(new.seller_state) then
    raise exception 'seller_state "%" is no state code', new.seller_state using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger check_seller before insert or update on billing.settings
for each row execute function billing.check_seller();

-- Documents never change, for the owner neither, but for the user who is deleted, and for the row of the payment that they are
-- about.
create function billing.keep_receipt()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_kept public.receipts;
begin
  if tg_op = 'UPDATE' then
    v_kept := old;
    if current_setting('subscriptions.documents_follow', true) = 'on' then
      v_kept.payment_id := new.payment_id;
    else
      v_kept.user_id := null;
    end if;
    if new is not distinct from v_kept then return new; end if;
  end if;
  raise exception 'documents never change: issue a credit note, or reissue the receipt' using errcode = 'PS409';
end $$;

create trigger keep_receipt before update or delete on public.receipts
for each row execute function billing.keep_receipt();
create trigger keep_receipts before truncate on public.receipts
for each statement execute function billing.keep_receipt();

-- Security definer, as the function below: the role of an app may write these tables but not the list.
create function billing.note_payment_document()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into billing.documents_due (payment_id, confirmed_at, buyer)
  values (new.id, new.confirmed_at, billing.buyer_of(new.user_id))
  on conflict (payment_id) do nothing;
  return null;
end $$;

create function billing.note_refund_document()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into billing.documents_due as d (payment_id, confirmed_at)
  select p.id, p.confirmed_at
  from public.payments p
  where p.gateway_payment_id = new.gateway_payment_id and p.confirmed_at is not null
  -- Waits for a batch that has the row in hand, and did not see this refund.
  on conflict (payment_id) do update set due_at = least(d.due_at, excluded.due_at);
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
create function billing.exchange_documents(p_one uuid, p_other uuid)
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

create trigger note_document_insert after insert on public.payments for each row
when (new.confirmed_at is not null)
execute function billing.note_payment_document();
create trigger note_document after update of confirmed_at on public.payments for each row
when (old.confirmed_at is null and new.confirmed_at is not null)
execute function billing.note_payment_document();
create trigger note_document after insert or update of status on billing.refunds for each row
when (new.status = 'processed')
execute function billing.note_refund_document();
create trigger note_document after insert or update of status on billing.disputes for each row
when (new.status = 'lost')
execute function billing.note_refund_document();
create trigger note_document after insert or update on public.billing_details for each row
execute function billing.note_buyer();

select billing.switch_triggers('note_document', false);

-- From then on, also for payments that were confirmed before the setting was made: the sweep lists those.
create function billing.switch_documents_by_setting()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.switch_triggers('note_document', new.receipts_from is not null);
  delete from billing.documents_due d where d.confirmed_at < new.receipts_from or new.receipts_from is null;
  -- A payment is confirmed at most 120 hours after its verification.
  update billing.scheduled_jobs j set listed_until = new.receipts_from - interval '6 days' where j.name = 'sweep';
  return null;
end $$;

-- Lists the next payments that were confirmed before receipts were switched on. Those that are confirmed later list themselves.
create function billing.list_documents(p_from timestamptz, p_receipts_from timestamptz)
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

create trigger switch_documents after update of receipts_from on billing.settings for each row
when (new.receipts_from is distinct from old.receipts_from)
execute function billing.switch_documents_by_setting();

-- The year of a document: from April to March, such as 2627.
create function billing.financial_year(p_day date)
returns text language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return to_char(p_day - interval '3 months', 'YY') || to_char(p_day + interval '9 months', 'YY');
end $$;

-- A tax with this date is adjusted in a return until the 30 November after the year of the supply, which is filed from
-- December on: a note of November comes too late.
create function billing.last_note_day(p_day date)
returns date language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return make_date(extract(year from p_day + interval '9 months')::integer, 10, 31); end $$;

-- Formats a day as documents write it: 4 Nov 2026.
create function billing.document_day(p_day date)
returns text language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return to_char(p_day, 'FMDD Mon YYYY'); end $$;

create function billing.day_in_india(p_at timestamptz)
returns date language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return (p_at at time zone 'Asia/Kolkata')::date; end $$;

-- Splits a total into what is taxed and its taxes, which it contains. The parts add up to the total.
create function billing.split_tax(
  p_total bigint, -- minor units
  p_heads jsonb -- [{name, rate}], in basis points
)
returns jsonb -- {taxable, taxes: [{name, rate, amount}], total}
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_rate constant numeric := coalesce((select sum((h ->> 'rate')::numeric) from jsonb_array_elements(p_heads) h), 0);
  v_taxes jsonb;
begin
  select coalesce(jsonb_agg(
    h || jsonb_build_object('amount', round(p_total * (h ->> 'rate')::numeric / (10000 + v_rate))::bigint) order by place
  ), '[]')
  into v_taxes
  from jsonb_array_elements(p_heads) with ordinality heads (h, place);
  return jsonb_build_object(
    'taxable', p_total - (select coalesce(sum((t ->> 'amount')::bigint), 0) from jsonb_array_elements(v_taxes) t),
    'taxes', v_taxes, 'total', p_total
  );
end $$;

-- Returns the taxes of a sale. Without a GSTIN one of any name; else by the place of supply.
create function billing.tax_heads(p_settings billing.settings, p_place text)
returns jsonb -- [{name, rate}]
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_settings.tax_rate is null then '[]'
    when p_settings.seller_gstin is null
      then jsonb_build_array(jsonb_build_object('name', p_settings.tax_name, 'rate', p_settings.tax_rate))
    when p_place = '96' and p_settings.export_lut is not null then '[]'
    when p_place = p_settings.seller_state then jsonb_build_array(
      jsonb_build_object('name', 'CGST', 'rate', trim_scale(p_settings.tax_rate / 2.0)),
      jsonb_build_object(
        'name', case when p_place in ('04', '26', '31', '35', '38', '97') then 'UTGST' else 'SGST' end,
        'rate', trim_scale(p_settings.tax_rate / 2.0)
      )
    )
    else jsonb_build_array(jsonb_build_object('name', 'IGST', 'rate', p_settings.tax_rate))
  end;
end $$;

-- Writes a document with the next number of its series. The caller holds the lock of the numbers.
create function billing.issue_document(p_document public.receipts, p_prefix text)
returns public.receipts language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  p_document.id := gen_random_uuid();
  p_document.document_date := billing.day_in_india(p_document.issued_at);
  p_document.tax_period := billing.open_month(p_document.document_date);
  p_document.series := p_prefix || billing.financial_year(p_document.document_date);
  p_document.number := coalesce((
    select r.number from public.receipts r where r.series = p_document.series order by r.number desc limit 1
  ), 0) + 1;
  p_document.document_number := p_document.series || '/' || case
    when p_document.number < 1000000 then lpad(p_document.number::text, 6, '0')
    else p_document.number::text
  end;
  perform billing.require(
    char_length(p_document.document_number) <= 16, 'PS409',
    format('the number %s is longer than 16 characters: choose a shorter prefix', p_document.document_number)
  );
  insert into public.receipts values (p_document.*);
  if p_document.user_id is not null and (select s.events from billing.settings s where s.is_only) then
    perform billing.enqueue(
      'evt_' || replace(p_document.id::text, '-', ''), 'event', 'receipt.issued',
      jsonb_build_object('type', 'receipt.issued', 'timestamp', billing.iso_time(billing.clock()), 'data', jsonb_build_object(
        'user_id', p_document.user_id, 'receipt_id', p_document.id, 'kind', p_document.kind,
        'document_number', p_document.document_number, 'payment_id', p_document.payment_id,
        'total', p_document.totals -> 'total', 'currency', p_document.currency
      ))
    );
  end if;
  -- Not of payments that were confirmed long before receipts were switched on.
  if p_document.issued_at > billing.clock() - interval '1 day' then
    perform billing.enqueue_mail(
      p_document.user_id, (select u.email from billing.find_user(p_document.user_id) u), 'receipt-issued',
      p_document.id::text, jsonb_build_object('receipt', to_jsonb(p_document))
    );
  end if;
  return p_document;
end $$;

-- Returns what a document says about a buyer, as it is known now.
create function billing.buyer_of(p_user_id uuid)
returns jsonb -- {name, address, gstin, state, country}, each null where it is not known
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select jsonb_build_object(
      'name', coalesce(nullif(d.name, ''), nullif(f.display_name, ''), nullif(f.username, '')),
      'address', d.address, 'gstin', d.gstin, 'state', d.state,
      'country', case when d.user_id is not null then coalesce(d.country, 'IN') end
    )
    from (select 1) one
    left join public.billing_details d on d.user_id = p_user_id
    left join billing.profiles f on f.user_id = p_user_id
  );
end $$;

-- Issues the receipt of a payment. The caller holds the lock of the numbers.
create function billing.issue_receipt(
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

-- Returns what the notes of a receipt took so far, in minor units.
create function billing.noted_total(p_receipt_id uuid)
returns bigint language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce((select sum((n.totals ->> 'total')::bigint) from public.receipts n where n.receipt_id = p_receipt_id), 0);
end $$;

-- A support action note ends the problems that a document had before. A view, not a function: it is read for each document.
create view billing.settled_documents with (security_invoker = true) as
select a.reference as document_number, a.created_at as settled_at
from billing.support_actions a
where a.action = 'note' and a.reference is not null;
comment on view billing.settled_documents is 'The support action notes, also those about other things than documents.';

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
    r.document_number, r.payment_id, least((r.totals ->> 'total')::bigint, billing.noted_of_dispute(r.dispute_id, r.id) - l.amount), l.at,
    'note_above_dispute', 'The dispute took less afterwards: the note stands.'
  from public.receipts r
  join billing.lost_disputes l on l.dispute_id = r.dispute_id
  where billing.noted_of_dispute(r.dispute_id, r.id) > l.amount
) n;
comment on view billing.notes_above is
  'The credit notes that are larger than what their refund or dispute took in the end. is_settled: by a note of support.';

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

-- Returns the part of a total that a note takes: the split of all that notes with tax took so far, less the earlier notes.
create function billing.split_note(
  p_whole jsonb, -- totals of the receipt
  p_noted jsonb[], -- totals of its earlier notes with tax
  p_total bigint -- of the note
)
returns jsonb -- {taxable, taxes, total}
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_given constant bigint := p_total + (select coalesce(sum((n ->> 'total')::bigint), 0) from unnest(p_noted) n);
  v_heads constant jsonb := (
    select coalesce(jsonb_agg(t - 'amount' order by place), '[]')
    from jsonb_array_elements(p_whole -> 'taxes') with ordinality taxes (t, place)
  );
  v_split constant jsonb := case
    when v_given = (p_whole ->> 'total')::bigint then p_whole
    else billing.split_tax(v_given, v_heads)
  end;
  v_taxes jsonb;
begin
  select coalesce(jsonb_agg(
    t || jsonb_build_object('amount', (t ->> 'amount')::bigint - (
      select coalesce(sum((n #>> array['taxes', (place - 1)::text, 'amount'])::bigint), 0) from unnest(p_noted) n
    )) order by place
  ), '[]')
  into v_taxes
  from jsonb_array_elements(v_split -> 'taxes') with ordinality taxes (t, place);
  return jsonb_build_object(
    'taxable', p_total - (select coalesce(sum((t ->> 'amount')::bigint), 0) from jsonb_array_elements(v_taxes) t),
    'taxes', v_taxes, 'total', p_total
  );
end $$;

-- Issues a credit note of at most the rest of a receipt. The caller holds the lock of the numbers.
create function billing.issue_note(
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

-- Finds the receipt of a payment that no reissue replaced.
create function billing.find_receipt(p_payment_id uuid)
returns public.receipts -- all null: none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select r
    from public.receipts r
    where r.payment_id = p_payment_id
      and r.kind = 'receipt'
      and not exists (select from public.receipts n where n.reissue_of = r.id)
  );
end $$;

-- Issues what a payment lacks: its receipt, then a note for each processed refund and for what each lost dispute took.
create function billing.issue_documents_of(p_payment public.payments, p_settings billing.settings)
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

-- One transaction at a time gives numbers: without gaps, since a rollback takes them back.
create function billing.lock_numbers()
returns void language plpgsql set search_path = pg_catalog, pg_temp
as $$ begin perform pg_advisory_xact_lock(hashtextextended('public.receipts', 0)); end $$;

-- Issues the documents of the next payments, in the order of their confirmation.
create function billing.issue_documents()
returns integer -- the number of payments; 0: none is left that can be numbered
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_settings constant billing.settings := (select s from billing.settings s where s.is_only);
  v_listed_until constant timestamptz := (select j.listed_until from billing.scheduled_jobs j where j.name = 'sweep');
  v_due record;
  v_again timestamptz;
  v_done integer := 0;
begin
  -- All older payments are listed first: numbers follow the order of confirmation.
  if v_listed_until is not null and v_settings.receipts_from is not null then
    return billing.list_documents(v_listed_until, v_settings.receipts_from);
  end if;
  if v_settings.receipts_from is null
    or not exists (select from billing.documents_due d where d.due_at <= billing.clock())
  then
    return 0;
  end if;
  perform billing.lock_numbers();
  for v_due in
    select d.payment_id, p as payment
    from (
      select d.payment_id, d.confirmed_at
      from billing.documents_due d
      where d.due_at <= billing.clock()
      order by d.confirmed_at, d.payment_id
      limit 1000
      for update skip locked
    ) d
    left join public.payments p on p.id = d.payment_id
    order by d.confirmed_at, d.payment_id
  loop
    begin
      v_again := case when (v_due.payment).id is not null then billing.issue_documents_of(v_due.payment, v_settings) end;
      if v_again is null then
        delete from billing.documents_due d where d.payment_id = v_due.payment_id;
      else
        update billing.documents_due d set due_at = v_again where d.payment_id = v_due.payment_id;
      end if;
      v_done := v_done + 1;
    exception
      -- One payment must not stop the others. It stays due, and the finding document_waiting names it.
      when others then
        if not billing.is_error_of_event(sqlstate) then raise; end if;
        raise warning 'payment % got no document: %', v_due.payment_id, sqlstate;
    end;
  end loop;
  return v_done;
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
create function billing.perform_reissue(p_action billing.support_actions)
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

-- Contract: GET /api/payments/:id/receipt.
create function public.get_receipt(p_user_id uuid, p_payment_id text)
returns jsonb -- {outcome: found, receipt}, {outcome: payment_not_found | not_issued}
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_payment public.payments;
  v_receipt public.receipts;
begin
  select * into v_payment
  from public.payments p
  where p.id = billing.json_uuid(to_jsonb(p_payment_id)) and p.user_id = p_user_id and p.status = 'captured';
  v_receipt := billing.find_receipt(v_payment.id);
  return case
    when v_receipt.id is not null then jsonb_build_object('outcome', 'found', 'receipt', to_jsonb(v_receipt))
    when exists (
      select from billing.settings s
      where v_payment.id is not null and s.receipts_from <= coalesce(v_payment.confirmed_at, billing.clock())
    ) then jsonb_build_object('outcome', 'not_issued')
    else jsonb_build_object('outcome', 'payment_not_found')
  end;
end $$;
comment on function public.get_receipt is 'The receipt of a user''s payment.';

-- Contract: GET /api/receipts/:id.
create function public.get_document(p_user_id uuid, p_id text)
returns jsonb -- {outcome: found, receipt, corrects: {document_number, document_date} | null}, {outcome: receipt_not_found}
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce((
    select jsonb_build_object('outcome', 'found', 'receipt', to_jsonb(r))
    from public.receipts r
    where r.id = billing.json_uuid(to_jsonb(p_id)) and r.user_id = p_user_id
  ), '{"outcome": "receipt_not_found"}');
end $$;
comment on function public.get_document is 'A user''s receipt or credit note.';

-- Contract: GET /api/billing-details.
create function public.get_billing_details(p_user_id uuid)
returns jsonb -- {billing_details}: null, or {name, gstin, address, state, country}
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return jsonb_build_object('billing_details', (
    select to_jsonb(d) - '{user_id,updated_at}'::text[] from public.billing_details d where d.user_id = p_user_id
  ));
end $$;
comment on function public.get_billing_details is 'What documents say about a user.';

-- Returns why billing details are refused.
create function billing.refuse_details(p_details public.billing_details)
returns jsonb -- {field, message}; null: they are right
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when char_length(p_details.name) > 200 then '{"field": "name", "message": "At most 200 characters"}'
    when char_length(p_details.address) > 500 then '{"field": "address", "message": "At most 500 characters"}'
    when not billing.is_state(p_details.state) then '{"field": "state", "message": "No state code"}'
    when not billing.is_gstin(p_details.gstin) then '{"field": "gstin", "message": "No GSTIN"}'
    when billing.is_state(left(p_details.gstin, 2)) and p_details.gstin ~ '^[0-9]{2}[0-9A-Z]{11}[ZDC][0-9A-Z]$'
      and left(p_details.gstin, 2) <> p_details.state
      then '{"field": "gstin", "message": "Of another state"}'
    when p_details.country !~ '^[A-Z]{2}$' then '{"field": "country", "message": "No country code of two letters"}'
    when (p_details.state = '96') is true <> (coalesce(p_details.country, 'IN') <> 'IN')
      then '{"field": "country", "message": "Another country than IN exactly with the state 96"}'
  end;
end $$;

-- Contract: PUT /api/billing-details. An empty text is none; a GSTIN is written in upper case and sets its state.
create function public.put_billing_details(p_user_id uuid, p_details text) -- JSON: {name, gstin, address, state, country}
returns jsonb -- {outcome: stored, billing_details}, {outcome: invalid, field, message}, {outcome: user_not_found}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' as $$
declare
  v_given constant jsonb := p_details;
  v_details public.billing_details;
  v_refusal jsonb;
begin
  perform billing.begin_request('billing details', null);
  if billing.lock_user(p_user_id) is null then return jsonb_build_object('outcome', 'user_not_found'); end if;
  v_details.user_id := p_user_id;
  v_details.name := nullif(btrim(v_given ->> 'name'), '');
  v_details.gstin := nullif(upper(btrim(v_given ->> 'gstin')), '');
  v_details.address := nullif(btrim(v_given ->> 'address'), '');
  v_details.state := nullif(btrim(v_given ->> 'state'), '');
  v_details.country := nullif(upper(btrim(v_given ->> 'country')), '');
  v_details.updated_at := billing.clock();
  if v_details.state is null and v_details.gstin ~ '^[0-9]{2}[0-9A-Z]{11}[ZDC][0-9A-Z]$' and billing.is_state(left(v_details.gstin, 2)) then
    v_details.state := left(v_details.gstin, 2);
  end if;
  v_refusal := billing.refuse_details(v_details);
  if v_refusal is not null then return jsonb_build_object('outcome', 'invalid') || v_refusal; end if;
  insert into public.billing_details values (v_details.*)
  on conflict (user_id) do update
  set name = excluded.name, gstin = excluded.gstin, address = excluded.address, state = excluded.state,
    country = excluded.country, updated_at = excluded.updated_at;
  return jsonb_build_object('outcome', 'stored') || public.get_billing_details(p_user_id);
end $$;
comment on function public.put_billing_details is 'Replaces what documents say about a user.';

revoke execute on function
  public.get_receipt, public.get_document, public.get_billing_details, public.put_billing_details
from public, anon, authenticated;
grant execute on function
  public.get_receipt, public.get_document, public.get_billing_details, public.put_billing_details
to service_role;
