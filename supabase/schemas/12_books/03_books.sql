-- The books of a month: the GST return, and what each line of the bank consists of. Documents are frozen, so that nothing here
-- calculates a tax. Operations: "Month's end".

create table billing.settlements (
  settlement_id text primary key,
  status text not null,
  amount bigint not null,
  fees bigint not null default 0,
  tax bigint not null default 0,
  utr text,
  created_at timestamptz not null,
  lines_complete_at timestamptz,
  -- Its lines are read by days in India, from one before it to one after, and by pages.
  next_read_at timestamptz default billing.clock(), -- during a read: the end of its lease. Null: they are not read any more
  read_day date, -- of the next page. Null: none is being read
  skip integer not null default 0, -- how many lines of that day were read
  page text -- which lines the last page of that day had
);
create index settlements_created_at_idx on billing.settlements (created_at);
create index settlements_next_read_at_idx on billing.settlements (next_read_at) where next_read_at is not null;
create index settlements_incomplete_idx on billing.settlements (created_at) where lines_complete_at is null;
alter table billing.settlements enable row level security;
grant select, insert, update on billing.settlements to service_role;
comment on table billing.settlements is 'What the gateway sent to the bank, in paise.';
comment on column billing.settlements.fees is 'Of the settlement itself: 0 unless it was an instant one.';
comment on column billing.settlements.utr is 'The reference in the bank statement; it may come later than the settlement.';
comment on column billing.settlements.lines_complete_at is 'When its lines first added up to amount and fees. Null: they do not.';

create table billing.settlement_lines (
  settlement_id text not null
    constraint settlement_lines_settlement_id_fkey references billing.settlements (settlement_id),
  entity_id text not null,
  type text not null,
  payment_id text,
  order_id text,
  dispute_id text,
  amount bigint not null,
  currency text not null default 'INR',
  fee bigint not null default 0,
  tax bigint not null default 0,
  debit bigint not null default 0,
  credit bigint not null default 0,
  settled_at timestamptz,
  method text,
  constraint settlement_lines_pkey primary key (settlement_id, entity_id)
);
create index settlement_lines_entity_id_idx on billing.settlement_lines (entity_id);
alter table billing.settlement_lines enable row level security;
grant select, insert, update on billing.settlement_lines to service_role;
comment on table billing.settlement_lines is 'What a settlement consists of, as the gateway reports it, in paise.';
comment on column billing.settlement_lines.type is 'payment, refund, adjustment or transfer.';
comment on column billing.settlement_lines.payment_id is 'The gateway''s. Null for a payment, which is the entity itself.';
comment on column billing.settlement_lines.fee is 'The tax is contained.';

-- Reads a settlement of the gateway. All null: it lacks its id, status, amount or created_at.
create function billing.read_settlement(p_given jsonb)
returns billing.settlements language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_read billing.settlements;
begin
  v_read.settlement_id := nullif(billing.json_text(p_given -> 'id'), '');
  v_read.status := billing.json_text(p_given -> 'status');
  v_read.amount := billing.json_integer(p_given -> 'amount');
  v_read.fees := coalesce(billing.json_integer(p_given -> 'fees'), 0);
  v_read.tax := coalesce(billing.json_integer(p_given -> 'tax'), 0);
  v_read.utr := nullif(billing.json_text(p_given -> 'utr'), '');
  v_read.created_at := billing.json_time(p_given -> 'created_at');
  return case when num_nulls(v_read.settlement_id, v_read.status, v_read.amount, v_read.created_at) = 0 then v_read end;
end $$;

-- Stores lines of a settlement whose row the caller has locked. Those of other settlements are left out.
create function billing.store_lines(p_settlement_id text, p_lines jsonb)
returns jsonb -- {lines, is_complete}
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_stored billing.settlements;
  v_sum bigint;
  v_count integer;
begin
  insert into billing.settlement_lines as l (
    settlement_id, entity_id, type, payment_id, order_id, dispute_id, amount, currency, fee, tax, debit, credit, settled_at,
    method
  )
  select distinct on (i.line ->> 'entity_id')
    p_settlement_id, i.line ->> 'entity_id', coalesce(billing.json_text(i.line -> 'type'), 'other'),
    billing.json_text(i.line -> 'payment_id'), billing.json_text(i.line -> 'order_id'),
    billing.json_text(i.line -> 'dispute_id'), coalesce(billing.json_integer(i.line -> 'amount'), 0),
    coalesce(billing.json_text(i.line -> 'currency'), 'INR'), coalesce(billing.json_integer(i.line -> 'fee'), 0),
    coalesce(billing.json_integer(i.line -> 'tax'), 0), coalesce(billing.json_integer(i.line -> 'debit'), 0),
    coalesce(billing.json_integer(i.line -> 'credit'), 0), billing.json_time(i.line -> 'settled_at'),
    billing.json_text(i.line -> 'method')
  from jsonb_array_elements(p_lines) with ordinality i (line, place)
  where i.line ->> 'settlement_id' = p_settlement_id and billing.json_text(i.line -> 'entity_id') is not null
  order by i.line ->> 'entity_id', i.place desc
  on conflict (settlement_id, entity_id) do update
  set type = excluded.type, payment_id = excluded.payment_id, order_id = excluded.order_id,
    dispute_id = excluded.dispute_id, amount = excluded.amount, currency = excluded.currency, fee = excluded.fee,
    tax = excluded.tax, debit = excluded.debit, credit = excluded.credit, settled_at = excluded.settled_at,
    method = excluded.method;
  select count(*), sum(l.credit - l.debit) into v_count, v_sum
  from billing.settlement_lines l
  where l.settlement_id = p_settlement_id;
  update billing.settlements s
  set lines_complete_at = case when v_sum = s.amount + s.fees then coalesce(s.lines_complete_at, billing.clock()) end,
    next_read_at = case
      when v_sum = s.amount + s.fees then null
      when s.lines_complete_at is not null then billing.clock()
      else s.next_read_at
    end
  where s.settlement_id = p_settlement_id
  returning * into v_stored;
  return jsonb_build_object('lines', v_count, 'is_complete', v_stored.lines_complete_at is not null);
end $$;

-- Stores a settlement and its lines. What is stored may be repeated, and come in any order. API: service_role only.
create function public.apply_settlement(
  p_settlement text, -- as the gateway has it, JSON
  p_lines text default null -- of recon/combined, a JSON array; lines of other settlements are left out. Null: not read
)
returns jsonb -- {outcome: stored, lines, is_complete}, {outcome: invalid}: it lacks its id, status, amount or created_at
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_given constant billing.settlements := billing.read_settlement(p_settlement::jsonb);
begin
  if v_given.settlement_id is null then return '{"outcome": "invalid"}'; end if;
  insert into billing.settlements as s (settlement_id, status, amount, fees, tax, utr, created_at)
  values (
    v_given.settlement_id, v_given.status, v_given.amount, v_given.fees, v_given.tax, v_given.utr, v_given.created_at
  )
  on conflict (settlement_id) do update
  -- An older answer may come later.
  set status = case when excluded.status = 'created' then s.status else excluded.status end,
    amount = excluded.amount, fees = excluded.fees, tax = excluded.tax, utr = coalesce(excluded.utr, s.utr);
  return jsonb_build_object('outcome', 'stored')
    || billing.store_lines(v_given.settlement_id, coalesce(p_lines::jsonb, '[]'));
end $$;
comment on function public.apply_settlement is 'Stores a settlement of the gateway and its lines.';
revoke execute on function public.apply_settlement from public, anon, authenticated;
grant execute on function public.apply_settlement to service_role;

-- Claims the next page of the lines of each settlement that lacks some: each hour for three days, then each day for a month.
-- API: service_role only.
create function public.claim_settlement_pages()
returns jsonb -- {pages: [{settlement_id, day, skip}]}: at most 20; the lines of all settlements of a day in India
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_pages jsonb;
begin
  with claimed as (
    update billing.settlements s
    set next_read_at = v_now + interval '5 minutes', read_day = coalesce(s.read_day, billing.day_in_india(s.created_at) - 1)
    where s.settlement_id in (
      select d.settlement_id
      from billing.settlements d
      where d.next_read_at <= v_now
      order by d.next_read_at
      limit 20
      for update skip locked
    )
    returning s.*
  )
  select coalesce(jsonb_agg(jsonb_build_object('settlement_id', c.settlement_id, 'day', c.read_day, 'skip', c.skip)), '[]')
  into v_pages
  from claimed c;
  return jsonb_build_object('pages', v_pages);
end $$;
comment on function public.claim_settlement_pages is 'Claims the next pages of the lines of settlements, for five minutes.';

-- Stores the lines of a settlement that a page has, and moves to the next page. A crash in between only repeats.
-- API: service_role only.
create function public.apply_settlement_page(
  p_settlement_id text, -- as it was claimed, here and below
  p_day date,
  p_skip integer,
  p_items text default null -- the page, a JSON array; null: the gateway has no such list, if it says so of the first page
)
returns jsonb -- {is_complete}: whether this page completed the settlement
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_items constant jsonb := coalesce(p_items::jsonb, '[]');
  v_page constant text := md5(jsonb_path_query_array(v_items, '$[*].entity_id')::text);
  v_settlement billing.settlements;
  v_is_complete boolean;
  v_has_more boolean;
  v_day date;
begin
  select * into v_settlement
  from billing.settlements s
  where (s.settlement_id, s.read_day, s.skip) = (p_settlement_id, p_day, p_skip) and s.next_read_at is not null
  for update;
  -- Another run has read the page. A later page that the gateway refused is read again.
  if not found or p_items is null and p_skip > 0 then return '{"is_complete": false}'; end if;
  v_is_complete := (billing.store_lines(p_settlement_id, v_items) ->> 'is_complete')::boolean;
  -- A list that repeats a page would never end.
  v_has_more := jsonb_array_length(v_items) = 1000 and v_page is distinct from v_settlement.page;
  v_day := p_day + (not v_has_more)::integer;
  if v_is_complete
    or v_day > least(billing.day_in_india(v_settlement.created_at) + 1, billing.day_in_india(v_now))
  then
    v_day := null;
  end if;
  update billing.settlements s
  set read_day = v_day,
    skip = case when v_has_more and v_day is not null then p_skip + 1000 else 0 end,
    page = case when v_has_more and v_day is not null then v_page end,
    next_read_at = case
      when v_is_complete then null
      when v_day is not null then v_now
      when v_now < s.created_at + interval '72 hours' then v_now + interval '1 hour'
      when v_now < s.created_at + interval '720 hours' then v_now + interval '24 hours'
    end
  where s.settlement_id = p_settlement_id;
  return jsonb_build_object('is_complete', v_is_complete);
end $$;
comment on function public.apply_settlement_page is 'Stores a page of the lines of a settlement.';
revoke execute on function public.claim_settlement_pages, public.apply_settlement_page from public, anon, authenticated;
grant execute on function public.claim_settlement_pages, public.apply_settlement_page to service_role;

-- Returns what a line has beyond the price of its payment: the fee that the customer paid on top, below zero where refunds and lost
-- disputes reach it, but not where they go beyond what was paid. No document has it.
create function billing.fee_on_top(p_line billing.settlement_lines, p_payment public.payments)
returns bigint -- paise
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_line.type = 'payment' then p_line.amount - round(p_line.amount::numeric * p_payment.amount / p_payment.paid_amount)
    when p_line.debit > 0 then coalesce((
      select round(
        p_line.amount::numeric
          * (
            greatest(least(f.before, p_payment.paid_amount) - p_payment.amount, 0)
            - greatest(least(f.before + f.amount, p_payment.paid_amount) - p_payment.amount, 0)
          ) / f.amount
      )
      from (
        select t.id, t.amount, sum(t.amount) over (order by t.at, t.id) - t.amount as before
        from (
          select r.refund_id as id, r.amount, r.created_at as at
          from billing.refunds r
          where r.gateway_payment_id = p_payment.gateway_payment_id and r.status = 'processed'
          union all
          select l.dispute_id, l.amount, l.at
          from billing.lost_disputes l
          where l.gateway_payment_id = p_payment.gateway_payment_id
        ) t
      ) f
      where f.id = coalesce(p_line.dispute_id, p_line.entity_id)
    ), 0)
    else 0
  end;
end $$;

create view billing.bank_lines with (security_invoker = true) as
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
comment on view billing.bank_lines is
  'What each line of the bank statement consists of, in paise: amount = payments - fees - gst_on_fees - refunds + adjustments '
  '- transfers + other - settlement_fees + difference.';
comment on column billing.bank_lines.fees_on_top is
  'What customers paid beyond the price, for the fee: in payments, refunds and lost disputes, and in no document.';
comment on column billing.bank_lines.difference is 'What the lines do not explain: not 0 until they are complete.';

-- The receipt of each payment that no reissue replaced.
create view billing.standing_receipts with (security_invoker = true) as
select r.*
from public.receipts r
where r.kind = 'receipt' and not exists (select from public.receipts n where n.reissue_of = r.id);
comment on view billing.standing_receipts is 'The receipts that no reissue replaced.';

create view billing.standing_lines with (security_invoker = true) as
select distinct on (l.entity_id) l.*, s.status, s.utr, s.created_at
from billing.settlement_lines l
join billing.settlements s on s.settlement_id = l.settlement_id
order by l.entity_id, s.status = 'processed' desc, s.created_at desc, l.settlement_id;
comment on view billing.standing_lines is
  'The line that counts of each payment and refund: after a settlement that failed, it is in a later one, too.';

create view billing.settled_payments with (security_invoker = true) as
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
comment on view billing.settled_payments is
  'Each captured payment and processed refund, with its document, its fee without and with tax, and its settlement.';

create table billing.book_months (
  month date primary key constraint book_months_month_check check (extract(day from month) = 1),
  closed_at timestamptz not null,
  closed_by text not null,
  gstr1 json not null, -- not jsonb: its keys have an order
  summary json not null
);
alter table billing.book_months enable row level security;
grant select on billing.book_months to service_role;
comment on table billing.book_months is
  'The closed months, with what was answered about them: a later document belongs to the next open month.';

-- Returns the month in which a document of a day is declared: its own, or the first one after it that is not closed.
create function billing.open_month(p_day date)
returns date language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_month date := date_trunc('month', p_day);
begin
  while exists (select from billing.book_months m where m.month = v_month) loop
    v_month := v_month + interval '1 month';
  end loop;
  return v_month;
end $$;

create view billing.book_documents with (security_invoker = true) as
select
  r.id, r.kind, r.title, r.series, r.number, r.document_number, r.issued_at, r.document_date, r.tax_period, r.category, r.payment_id,
  p.gateway_payment_id, r.refund_id, r.dispute_id, r.reissue_of, c.document_number as against, c.document_date as against_date,
  r.place_of_supply, r.place_of_supply <> r.seller ->> 'state' as is_inter, r.seller, r.buyer,
  r.lines #>> '{0,description}' as description, r.lines #>> '{0,item}' as item, r.lines #>> '{0,sac}' as sac,
  case r.kind when 'receipt' then 1 else -1 end as sign, r.currency, (r.totals ->> 'total')::bigint as total,
  r.rupees ->> 'rate' as rupee_rate, heads.rate, (booked.totals ->> 'total')::bigint as rupee_total,
  (booked.totals ->> 'taxable')::bigint as taxable, heads.igst, heads.cgst, heads.sgst, heads.other_tax
from public.receipts r
left join public.payments p on p.id = r.payment_id
left join public.receipts c on c.id = r.receipt_id
cross join lateral (select case when r.currency = 'INR' then r.totals else r.rupees end as totals) booked
cross join lateral (
  select
    trim_scale(coalesce(sum((t ->> 'rate')::numeric), 0) / 100) as rate,
    coalesce(sum((t ->> 'amount')::bigint) filter (where t ->> 'name' = 'IGST'), 0)::bigint as igst,
    coalesce(sum((t ->> 'amount')::bigint) filter (where t ->> 'name' = 'CGST'), 0)::bigint as cgst,
    coalesce(sum((t ->> 'amount')::bigint) filter (where t ->> 'name' in ('SGST', 'UTGST')), 0)::bigint as sgst,
    coalesce(sum((t ->> 'amount')::bigint) filter (
      where t ->> 'name' not in ('IGST', 'CGST', 'SGST', 'UTGST')
    ), 0)::bigint as other_tax
  from jsonb_array_elements(booked.totals -> 'taxes') t
) heads;
comment on view billing.book_documents is
  'The documents as books have them, in paise: positive, also of credit notes, whose sign is -1. rupee_total and taxable are '
  'null where the rupees of another currency are not known.';

-- Formats paise as the return has them: a number of rupees.
create function billing.in_rupees(p_paise numeric)
returns numeric language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return trim_scale(p_paise / 100); end $$;

-- Makes the return of some months from its documents. The keys have the order of the offline tool; what is empty is absent.
create function billing.make_gstr1(p_from date, p_month date)
returns json language sql stable set search_path = pg_catalog, pg_temp as $$
with documents as materialized (
  select d.*, d.buyer ->> 'gstin' as ctin, json_build_object(
    'txval', billing.in_rupees(d.taxable), 'rt', d.rate, 'iamt', case when d.is_inter then billing.in_rupees(d.igst) end,
    'camt', case when not d.is_inter then billing.in_rupees(d.cgst) end,
    'samt', case when not d.is_inter then billing.in_rupees(d.sgst) end, 'csamt', 0
  ) as amounts
  from billing.book_documents d
  where d.tax_period between p_from and p_month and d.category <> 'none'
), invoices as (
  select
    i.series, i.number, i.category, i.ctin, i.place_of_supply as pos,
    json_build_object(
      'inum', i.document_number, 'idt', to_char(i.document_date, 'DD-MM-YYYY'), 'val', billing.in_rupees(i.rupee_total),
      'pos', case when i.category = 'b2b' then i.place_of_supply end, 'rchrg', case when i.category = 'b2b' then 'N' end,
      'inv_typ', case when i.category = 'b2b' then 'R' end, 'itms', json_build_array(case
        when i.category in ('expwp', 'expwop') then i.amounts
        else json_build_object('num', 1, 'itm_det', i.amounts)
      end)
    ) as invoice
  from documents i
  where i.kind = 'receipt' and i.category <> 'b2cs' and i.taxable is not null
), notes as (
  select
    n.series, n.number, n.category, n.ctin,
    json_build_object(
      'typ', case when n.category <> 'b2b' then upper(n.category) end, 'ntty', 'C', 'nt_num', n.document_number,
      'nt_dt', to_char(n.document_date, 'DD-MM-YYYY'), 'val', billing.in_rupees(n.rupee_total),
      'pos', case when n.category in ('b2b', 'b2cl') then n.place_of_supply end,
      'rchrg', case when n.category = 'b2b' then 'N' end, 'inv_typ', case when n.category = 'b2b' then 'R' end,
      'itms', json_build_array(json_build_object('num', 1, 'itm_det', n.amounts))
    ) as note
  from documents n
  where n.kind = 'credit_note' and n.category <> 'b2cs' and n.taxable is not null
), small as (
  select
    d.place_of_supply as pos, d.is_inter, d.rate, sum(d.sign * d.taxable) as taxable, sum(d.sign * d.igst) as igst,
    sum(d.sign * d.cgst) as cgst, sum(d.sign * d.sgst) as sgst
  from documents d
  where d.category = 'b2cs'
  group by 1, 2, 3
  having (sum(d.sign * d.taxable), sum(d.sign * d.igst), sum(d.sign * d.cgst), sum(d.sign * d.sgst)) <> (0, 0, 0, 0)
), codes as (
  select
    h.is_b2b, h.sac, h.rate, json_build_object(
      'num', row_number() over (partition by h.is_b2b order by h.sac, h.rate), 'hsn_sc', h.sac, 'uqc', 'NA', 'qty', 0,
      'txval', billing.in_rupees(h.taxable), 'rt', h.rate, 'iamt', billing.in_rupees(h.igst),
      'camt', billing.in_rupees(h.cgst), 'samt', billing.in_rupees(h.sgst), 'csamt', 0
    ) as code
  from (
    select
      d.category = 'b2b' as is_b2b, coalesce(d.sac, '') as sac, d.rate, sum(d.sign * d.taxable) as taxable,
      sum(d.sign * d.igst) as igst, sum(d.sign * d.cgst) as cgst, sum(d.sign * d.sgst) as sgst
    from documents d
    where d.taxable is not null
    group by 1, 2, 3
    having (sum(d.sign * d.taxable), sum(d.sign * d.igst), sum(d.sign * d.cgst), sum(d.sign * d.sgst)) <> (0, 0, 0, 0)
  ) h
), runs as (
  select
    r.kind, json_build_object(
      'num', row_number() over (partition by r.kind order by r.series, min(r.number)),
      'from', (array_agg(r.document_number order by r.number))[1],
      'to', (array_agg(r.document_number order by r.number desc))[1], 'totnum', count(*), 'cancel', 0, 'net_issue', count(*)
    ) as run, r.series, min(r.number) as first
  from (select d.*, d.number - row_number() over (partition by d.series order by d.number) as run from documents d) r
  group by r.kind, r.series, r.run
)
select json_strip_nulls(json_build_object(
  'gstin', (select s.seller_gstin from billing.settings s), 'fp', to_char(p_month, 'MMYYYY'),
  'version', (select s.gstr1_version from billing.settings s), 'hash', 'hash',
  'b2b', (
    select json_agg(json_build_object('ctin', g.ctin, 'inv', g.inv) order by g.ctin)
    from (select i.ctin, json_agg(i.invoice order by i.series, i.number) as inv from invoices i where i.category = 'b2b' group by 1) g
  ),
  'b2cl', (
    select json_agg(json_build_object('pos', g.pos, 'inv', g.inv) order by g.pos)
    from (select i.pos, json_agg(i.invoice order by i.series, i.number) as inv from invoices i where i.category = 'b2cl' group by 1) g
  ),
  'b2cs', (
    select json_agg(json_build_object(
      'sply_ty', case when m.is_inter then 'INTER' else 'INTRA' end, 'typ', 'OE', 'pos', m.pos, 'rt', m.rate,
      'txval', billing.in_rupees(m.taxable), 'iamt', case when m.is_inter then billing.in_rupees(m.igst) end,
      'camt', case when not m.is_inter then billing.in_rupees(m.cgst) end,
      'samt', case when not m.is_inter then billing.in_rupees(m.sgst) end, 'csamt', 0
    ) order by m.pos, m.rate, m.is_inter)
    from small m
  ),
  'exp', (
    select json_agg(json_build_object('exp_typ', g.typ, 'inv', g.inv) order by g.typ)
    from (
      select case i.category when 'expwp' then 'WPAY' else 'WOPAY' end as typ, json_agg(i.invoice order by i.series, i.number) as inv
      from invoices i
      where i.category in ('expwp', 'expwop')
      group by 1
    ) g
  ),
  'cdnr', (
    select json_agg(json_build_object('ctin', g.ctin, 'nt', g.nt) order by g.ctin)
    from (select n.ctin, json_agg(n.note order by n.series, n.number) as nt from notes n where n.category = 'b2b' group by 1) g
  ),
  'cdnur', (select json_agg(n.note order by n.series, n.number) from notes n where n.category <> 'b2b'),
  'hsn', (
    select json_build_object(
      'hsn_b2b', json_agg(c.code order by c.sac, c.rate) filter (where c.is_b2b),
      'hsn_b2c', json_agg(c.code order by c.sac, c.rate) filter (where not c.is_b2b)
    )
    from codes c
    having count(*) > 0
  ),
  'doc_issue', (
    select json_build_object('doc_det', json_agg(json_build_object(
      'doc_num', g.num, 'docs', g.docs
    ) order by g.num))
    from (
      select case r.kind when 'receipt' then 1 else 5 end as num, json_agg(r.run order by r.series, r.first) as docs from runs r group by 1
    ) g
    having count(*) > 0
  )
))
$$;

-- Sums up the documents and the bank lines of some months.
create function billing.make_summary(p_from date, p_month date)
returns json language sql stable set search_path = pg_catalog, pg_temp as $$
with documents as materialized (
  select d.* from billing.book_documents d where d.tax_period between p_from and p_month
), taxed as (
  select
    d.category in ('expwp', 'expwop') as is_zero_rated, d.category in ('b2cl', 'b2cs') and d.is_inter as is_far, d.place_of_supply,
    d.sign * d.taxable as taxable, d.sign * d.igst as igst, d.sign * d.cgst as cgst, d.sign * d.sgst as sgst
  from documents d
  where d.category <> 'none' and d.taxable is not null
)
select json_build_object(
  'month', to_char(p_month, 'YYYY-MM'),
  'invoices', (select count(*) from documents d where d.kind = 'receipt'),
  'credit_notes', (select count(*) from documents d where d.kind = 'credit_note'),
  'gstr3b', json_build_object(
    '3.1(a)', (
      select json_build_object(
        'taxable', coalesce(sum(t.taxable), 0), 'igst', coalesce(sum(t.igst), 0), 'cgst', coalesce(sum(t.cgst), 0),
        'sgst', coalesce(sum(t.sgst), 0)
      )
      from taxed t
      where not t.is_zero_rated
    ),
    '3.1(b)', (
      select json_build_object(
        'taxable', coalesce(sum(t.taxable), 0), 'igst', coalesce(sum(t.igst), 0), 'cgst', coalesce(sum(t.cgst), 0),
        'sgst', coalesce(sum(t.sgst), 0)
      )
      from taxed t
      where t.is_zero_rated
    ),
    '3.2', (
      select coalesce(json_agg(json_build_object('pos', f.pos, 'taxable', f.taxable, 'igst', f.igst) order by f.pos), '[]')
      from (
        select t.place_of_supply as pos, sum(t.taxable) as taxable, sum(t.igst) as igst
        from taxed t
        where t.is_far
        group by 1
        having (sum(t.taxable), sum(t.igst)) <> (0, 0)
      ) f
    )
  ),
  'bank', (
    select json_build_object(
      'settlements', count(*), 'amount', coalesce(sum(b.amount), 0), 'fees', coalesce(sum(b.fees), 0),
      'gst_on_fees', coalesce(sum(b.gst_on_fees), 0), 'difference', coalesce(sum(b.difference), 0)
    )
    from billing.bank_lines b
    where b.settled_on >= p_from and b.settled_on < p_month + interval '1 month' and b.status = 'processed'
  )
)
$$;

create function billing.gstr1(
  p_month date, -- any day of it
  p_months integer default 1 -- 3: of a quarterly filer, ending with this month
)
returns json -- the upload of the GST portal
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_month constant date := date_trunc('month', p_month);
begin
  return coalesce(
    (select m.gstr1 from billing.book_months m where m.month = v_month and p_months = 1),
    billing.make_gstr1((v_month - make_interval(months => p_months - 1))::date, v_month)
  );
end $$;

create function billing.book_summary(p_month date, p_months integer default 1)
returns json -- {month, invoices, credit_notes, gstr3b: {3.1(a), 3.1(b), 3.2}, bank}, in paise
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_month constant date := date_trunc('month', p_month);
begin
  return coalesce(
    (select m.summary from billing.book_months m where m.month = v_month and p_months = 1),
    billing.make_summary((v_month - make_interval(months => p_months - 1))::date, v_month)
  );
end $$;

-- Closes a month: what was answered about it stays, and later documents belong to the next open one.
-- Security definer: the owner may grant it to a person of support, who writes nothing else.
create function billing.close_month(p_month date) -- any day of it
returns billing.book_months language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_month constant date := date_trunc('month', p_month);
  v_next constant date := v_month + interval '1 month';
  v_open date;
  v_closed billing.book_months;
begin
  perform billing.lock_numbers();
  select * into v_closed from billing.book_months m where m.month = v_month;
  if found then return v_closed; end if;
  perform billing.require(
    billing.day_in_india(billing.clock()) >= v_next, 'PS409', format('%s is not over', to_char(v_month, 'YYYY-MM'))
  );
  select min(r.tax_period) into v_open
  from public.receipts r
  where r.tax_period < v_month and not exists (select from billing.book_months m where m.month = r.tax_period);
  perform billing.require(v_open is null, 'PS409', format('close %s first', to_char(v_open, 'YYYY-MM')));
  perform billing.require(
    not exists (
      select from billing.documents_due d
      where billing.day_in_india(d.confirmed_at) < v_next
        and not exists (select from public.receipts r where r.payment_id = d.payment_id)
    ),
    'PS409', format('a payment of %s waits for its document', to_char(v_month, 'YYYY-MM'))
  );
  insert into billing.book_months
  values (
    v_month, billing.clock(), session_user, billing.make_gstr1(v_month, v_month), billing.make_summary(v_month, v_month)
  )
  returning * into v_closed;
  return v_closed;
end $$;
revoke execute on function billing.close_month(date) from service_role;

create view billing.settlement_problems with (security_invoker = true) as
select
  s.settlement_id, date_trunc('month', billing.day_in_india(s.created_at))::date as month,
  case
    when exists (select from billing.settlement_lines l where l.settlement_id = s.settlement_id) then 'settlement_difference'
    else 'settlement_incomplete'
  end as problem,
  s.created_at as since
from billing.settlements s
where s.status = 'processed' and s.lines_complete_at is null and s.created_at < billing.clock() - interval '72 hours';
comment on view billing.settlement_problems is 'Settlements whose lines lack, or do not add up, after three days.';

create view billing.book_problems with (security_invoker = true) as
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
  -- A closed month keeps its return, with the GSTIN of that time. Older returns are filed, those of a quarter in the fourth month.
  select 'seller_differs', 'The return names another GSTIN of the seller.'
  where d.category <> 'none'
    and d.tax_period > (select billing.clock()) - interval '4 months'
    and d.seller ->> 'gstin' is distinct from (select s.seller_gstin from billing.settings s)
    and not exists (select from billing.book_months m where m.month = d.tax_period)
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
comment on view billing.book_problems is 'What to look at before a month is closed or its return is filed. Filter it by month.';

-- Of the last two months: later ones are in a return.
create view billing.book_findings with (security_invoker = true) as
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
    when 'seller_differs' then 'Take the document out of the return: it belongs to that of its own GSTIN.'
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
comment on view billing.book_findings is
  'The problems of documents and payments, with what to do. Filter it by payment_id. The others are in billing.service_findings.';
