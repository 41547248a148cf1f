-- The statement: lists of what was created at the gateway, read page by page from a stored mark on, so that no lost webhook and
-- no failed read hides money. What is known already writes nothing. Contract: "Statement".

create table billing.statement_windows (
  list text constraint statement_windows_list_check check (list in ('payments', 'refunds', 'disputes', 'settlements')),
  -- new: each hour, what was created since the mark. again: each day, the last ten days and what is undecided here, because what
  -- was created then may have changed since.
  pass text constraint statement_windows_pass_check check (pass in ('new', 'again')),
  -- The mark: everything that was created before was read. again: the start of the window.
  read_until timestamptz not null default billing.clock(),
  window_end timestamptz, -- of the window that is being read. Null: none
  skip integer not null default 0, -- how many items of that window were read
  next_read_at timestamptz not null, -- during a read: the end of its lease
  items bigint not null default 0, -- of the window that is being read
  news bigint not null default 0, -- of these, how many no webhook had announced
  completed_at timestamptz, -- the newest window that was read to its end
  completed_items bigint,
  completed_news bigint,
  answered_at timestamptz, -- by now(), not by billing.clock(), which tests shift
  page text, -- which items the last page of that window had
  repeated_at timestamptz, -- since when the list repeats a page
  constraint statement_windows_pkey primary key (list, pass)
);
alter table billing.statement_windows enable row level security;
grant select, update on billing.statement_windows to service_role;
comment on table billing.statement_windows is
  'How far the lists of payments, refunds, disputes and settlements at the gateway were read.';
comment on column billing.statement_windows.read_until is 'Moves with the transaction that finds nothing new in the last page.';

insert into billing.statement_windows (list, pass, next_read_at)
select l.list, p.pass, billing.clock() + p.every
from (values ('payments'), ('refunds'), ('disputes'), ('settlements')) l (list)
cross join (values ('new', interval '1 hour'), ('again', interval '1 day')) p (pass, every);

-- Returns since when something in a list may have been created whose end is not known: a dispute comes after its payment, and a
-- refund was known ten days after it was created. Disputes take weeks. The UTR of a settlement may come later.
create function billing.undecided_since(p_list text)
returns timestamptz -- null: nothing is undecided
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case p_list
    when 'disputes' then (
      select min(p.created_at)
      from billing.disputes d
      join public.payments p using (gateway_payment_id)
      where billing.decision_rank(d.status) = 0
    )
    when 'refunds' then (select min(r.created_at) - interval '10 days' from billing.refunds r where r.status = 'pending')
    when 'settlements' then (
      select min(s.created_at) from billing.settlements s where s.status = 'created' or s.status = 'processed' and s.utr is null
    )
  end;
end $$;

-- The newest ten minutes are left out, because lists at the gateway lag. API: service_role only.
create function public.claim_statement_pages()
returns jsonb
-- {pages: [{list, pass, from, to, skip}], newest: {payment, key}}; from, to: Unix seconds. newest: the payment that the gateway
-- confirmed last; an account that does not know it is another one. Null: none
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_end constant timestamptz := date_trunc('second', v_now) - interval '10 minutes';
  v_pages jsonb;
begin
  with claimed as (
    update billing.statement_windows w
    set next_read_at = v_now + interval '5 minutes',
      window_end = coalesce(w.window_end, v_end),
      -- What is decided meanwhile does not move the pages of a window.
      read_until = case
        when w.pass = 'again' and w.window_end is null then least(
          v_end - interval '10 days',
          greatest(v_end - interval '180 days', coalesce(billing.undecided_since(w.list), v_end))
        )
        else w.read_until
      end
    where (w.list, w.pass) in (
      select d.list, d.pass
      from billing.statement_windows d
      where d.next_read_at <= v_now
      for update skip locked
    )
    returning w.*
  )
  select coalesce(jsonb_agg(jsonb_build_object(
    'list', c.list,
    'pass', c.pass,
    'from', floor(extract(epoch from least(c.window_end, c.read_until)))::bigint,
    'to', extract(epoch from c.window_end)::bigint,
    'skip', c.skip
  )), '[]')
  into v_pages
  from claimed c;
  return jsonb_build_object('pages', v_pages, 'newest', case when v_pages <> '[]' then (
    select jsonb_build_object('payment', p.gateway_payment_id, 'key', p.gateway_key_id)
    from public.payments p
    where p.status = 'captured' and p.confirmed_at is not null
    order by p.captured_at desc
    limit 1
  ) end);
end $$;
comment on function public.claim_statement_pages is 'Claims the next pages of the statement, for five minutes.';

-- Returns whether an answer of the gateway had its effect, or was parked after six hours. So an effect that fails is tried again,
-- and does not stop the list for longer.
create function billing.is_read(p_key text)
returns boolean language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (
    select from billing.gateway_events e
    where e.body_sha256 = sha256(convert_to(p_key, 'UTF8')) and e.outcome not like 'failed: %'
  )
$$;

-- The state of a dispute may return, so its key has the day.
create function billing.dispute_key(p_item jsonb)
returns text language sql stable set search_path = pg_catalog, pg_temp as $$
  select concat_ws(
    ':', 'reconcile', p_item ->> 'id', p_item ->> 'status', p_item ->> 'phase', p_item ->> 'amount_deducted',
    to_char(billing.clock() at time zone 'UTC', 'YYYY-MM-DD')
  )
$$;

-- Returns whether public.apply_settlement would change anything. The books are defined later, so that it reads them as it runs.
create function billing.is_new_settlement(p_item jsonb)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from billing.read_settlement(p_item) g
    where g.settlement_id is not null
      and not exists (
        select from billing.settlements s
        where s.settlement_id = g.settlement_id
          and g.status in (s.status, 'created')
          and (s.amount, s.fees, s.tax) = (g.amount, g.fees, g.tax)
          and coalesce(g.utr = s.utr, g.utr is null)
      )
  );
end $$;

-- Returns what is new in a page. Of payments: captured ones on an order of ours, and those of a billed cycle; one whose capture was
-- read before is in the ledger, also if it belongs to another app with the same gateway account. Of refunds: another status than the
-- known one; a pending one only if it is not known at all. Of disputes and settlements: another state than the known one.
create function billing.find_news(p_list text, p_items jsonb)
returns jsonb -- [{item, payment}]; payment: {id, order_id, amount} of the order; null: none. Null: nothing is new
language sql stable set search_path = pg_catalog, pg_temp as $$
  select jsonb_agg(jsonb_build_object('item', i.item, 'payment', case
    when p.id is not null then jsonb_build_object('id', p.id, 'order_id', p.gateway_order_id, 'amount', p.amount)
  end))
  from jsonb_array_elements(p_items) i (item)
  cross join lateral (
    select
      billing.json_text(i.item -> 'id') as id, i.item ->> 'status' as status,
      billing.json_text(i.item -> 'payment_id') as payment_id
  ) its
  left join public.payments p on p_list = 'payments' and p.gateway_order_id = billing.json_text(i.item -> 'order_id')
  where its.id is not null and case p_list
    when 'payments' then (its.status = 'captured' or its.status = 'refunded' and i.item ->> 'captured' in ('true', '1'))
      and (p.id is not null or billing.json_text(i.item -> 'invoice_id') is not null)
      and not exists (
        select from public.payments known where known.gateway_payment_id = its.id and known.confirmed_at is not null
      )
      and not exists (
        select from billing.gateway_events e
        where e.subject_id = p.gateway_order_id
          and e.deliveries = 0
          and e.event = 'payment.captured'
          and starts_with(e.event_id, 'reconcile:' || its.id || ':')
          and e.outcome not like 'failed: %'
      )
      and not billing.is_read('reconcile:cycle:' || its.id)
    when 'refunds' then its.status in ('pending', 'processed', 'failed')
      and its.payment_id is not null
      and billing.json_integer(i.item -> 'amount') >= 0
      and not exists (
        select from billing.refunds r
        where r.refund_id = its.id and (r.status = its.status or r.status = 'failed' or its.status = 'pending')
      )
      and not billing.is_read(concat_ws(':', 'reconcile', its.id, its.status))
    when 'settlements' then billing.is_new_settlement(i.item)
    else its.status in ('open', 'under_review', 'won', 'lost', 'closed')
      and its.payment_id is not null
      and not exists (
        select from billing.disputes d
        where d.dispute_id = its.id
          and (
            d.gateway_payment_id <> its.payment_id
            or (d.status, d.phase, d.amount_deducted) is not distinct from (
              its.status, billing.json_text(i.item -> 'phase'),
              nullif(greatest(billing.json_integer(i.item -> 'amount_deducted'), 0), 0)
            )
            -- A newer event is known. The list may lag.
            or coalesce(d.event_at, d.arrived_at) > billing.clock() - interval '20 minutes'
          )
      )
      and not billing.is_read(billing.dispute_key(i.item))
  end
$$;

-- Stores what the gateway booked in rupees for payments in another currency: it may do so days later, and their documents wait
-- for it. Security definer: the list of documents belongs to the owner alone.
create function billing.book_rupees(p_items jsonb) -- payments as the gateway has them
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  with booked as (
    update public.payments p
    set base_amount = billing.json_integer(i.item -> 'base_amount')
    from jsonb_array_elements(p_items) i (item)
    where i.item ->> 'currency' <> 'INR'
      and p.gateway_payment_id = i.item ->> 'id'
      and p.base_amount is null
      and p.currency = i.item ->> 'currency'
      and billing.json_integer(i.item -> 'base_amount') is not null
    returning p.id
  )
  update billing.documents_due d
  set due_at = billing.clock()
  from booked b
  where d.payment_id = b.id;
end $$;

-- Finds what is new in a page that was read. If nothing is, the next page follows, or the window ends and its mark moves. So
-- the caller applies what is new and calls again: a crash in between only repeats. API: service_role only.
create function public.apply_statement_page(
  p_list text,
  p_pass text,
  p_to bigint, -- as it was claimed, here and below
  p_skip integer,
  p_items text default null, -- the page, a JSON array; null: the gateway has no such list, if it says so of the first page
  p_applied integer default 0 -- how many of the page were new before
)
returns jsonb -- {news: [{item, payment}]}: see billing.find_news. []: also if another run has read the page
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_items constant jsonb := coalesce(p_items::jsonb, '[]');
  v_count constant integer := jsonb_array_length(v_items);
  v_page constant text := md5(jsonb_path_query_array(v_items, '$[*].id')::text);
  v_is_repeated boolean;
  v_news jsonb;
begin
  select v_count = 100 and w.skip > 0 and w.page = v_page into v_is_repeated
  from billing.statement_windows w
  where (w.list, w.pass, w.window_end, w.skip) = (p_list, p_pass, to_timestamp(p_to), p_skip)
  for update;
  -- A later page that the gateway refused is read again.
  if not found or p_items is null and p_skip > 0 then return jsonb_build_object('news', '[]'::jsonb); end if;

  if p_list = 'payments' then perform billing.book_rupees(v_items); end if;
  v_news := billing.find_news(p_list, v_items);
  if v_news is not null then return jsonb_build_object('news', v_news); end if;

  update billing.statement_windows w
  set skip = w.skip + v_count, items = w.items + v_count, news = w.news + p_applied, next_read_at = v_now, answered_at = now(),
    page = v_page
  where (w.list, w.pass) = (p_list, p_pass);
  if v_is_repeated then
    -- The list would never end. The mark stays.
    update billing.statement_windows w
    set repeated_at = coalesce(w.repeated_at, v_now), next_read_at = v_now + interval '1 hour', window_end = null, skip = 0,
      items = 0, news = 0
    where (w.list, w.pass) = (p_list, p_pass);
  elsif v_count < 100 then
    update billing.statement_windows w
    set read_until = greatest(w.read_until, w.window_end),
      -- An hour after it was claimed first: after an outage the next one follows at once.
      next_read_at = greatest(
        v_now, w.window_end + interval '10 minutes' + case w.pass when 'new' then interval '1 hour' else interval '1 day' end
      ),
      completed_at = v_now, completed_items = w.items, completed_news = w.news, repeated_at = null,
      window_end = null, skip = 0, items = 0, news = 0
    where (w.list, w.pass) = (p_list, p_pass);
  end if;
  return jsonb_build_object('news', '[]'::jsonb);
end $$;
comment on function public.apply_statement_page is 'Finds what is new in a page of the statement, or moves its mark.';

create function public.apply_statement_item(
  p_list text,
  p_item text, -- the payment of a cycle, a refund, a dispute or a settlement, JSON
  p_invoice text default null, -- of the payment, JSON; null, here and below: the gateway has none
  p_subscription text default null -- of the invoice, JSON
)
returns jsonb -- {applied}: whether it changed anything
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_item constant jsonb := p_item::jsonb;
  v_invoice constant jsonb := p_invoice::jsonb;
  v_subscription constant jsonb := p_subscription::jsonb;
  v_id constant text := v_item ->> 'id';
  v_is_applied boolean;
  v_subscription_id constant text := billing.json_text(v_invoice -> 'subscription_id');
  v_since constant timestamptz := coalesce(billing.json_time(v_item -> 'created_at'), billing.clock()) - interval '1 hour';
  -- The time of a read is ours, and the list may lag: what an event said since then is newer.
  v_read_at constant bigint := extract(epoch from billing.clock() - interval '20 minutes');
begin
  if p_list = 'settlements' then
    return jsonb_build_object('applied', public.apply_settlement(p_item) ->> 'outcome' = 'stored');
  end if;
  perform billing.begin_request('reconciliation', v_id);
  -- Before the ledger, as where the order is read.
  perform billing.lock_gateway_payment(coalesce(billing.json_text(v_item -> 'payment_id'), v_id));
  v_is_applied := case p_list
    when 'refunds' then billing.apply_answer(
      concat_ws(':', 'reconcile', v_id, v_item ->> 'status'),
      'refund.' || replace(v_item ->> 'status', 'pending', 'created'),
      jsonb_build_object('refund', jsonb_build_object('entity', v_item)), null, v_since
    )
    when 'disputes' then billing.apply_answer(
      billing.dispute_key(v_item),
      'payment.dispute.' || replace(v_item ->> 'status', 'open', 'created'),
      jsonb_build_object('dispute', jsonb_build_object('entity', v_item)), to_jsonb(v_read_at), v_since
    )
    else billing.apply_invoice(
      coalesce(v_subscription, '{}') || jsonb_build_object(
        'id', v_subscription_id,
        -- The user who asked for it keeps it, also if its notes were edited.
        'notes', coalesce(
          (select billing.notes_of(m) from billing.find_subscription(v_subscription_id) m where m.id is not null),
          v_subscription -> 'notes'
        )
      ),
      coalesce(v_invoice, '{}'), v_item || '{"status": "captured"}', v_since
    )
  end;
  if v_subscription is not null then
    -- Its webhooks are lost, and it may have ended since. In this transaction: the item is known from then on.
    perform billing.lock_user(m.user_id), billing.apply_subscription_read(m.id, v_subscription, true)
    from billing.gateway_subscriptions m
    join public.subscriptions s on s.user_id = m.user_id
    where m.gateway_subscription_id = v_subscription_id and billing.is_known(m);
  end if;
  return jsonb_build_object('applied', v_is_applied);
end $$;
comment on function public.apply_statement_item is 'Applies a payment, a refund, a dispute or a settlement that no webhook announced.';

-- How far the gateway's lists were read, as health, console and doctor show it.
create view billing.statement with (security_invoker = true) as
select
  min(w.read_until) filter (where w.pass = 'new') as read_until,
  min(w.completed_at) filter (where w.pass = 'new') as completed_at,
  min(w.completed_at) filter (where w.pass = 'again') as completed_again_at,
  coalesce(sum(w.completed_items) filter (where w.pass = 'new' and w.list = 'payments'), 0)::bigint as payments,
  coalesce(sum(w.completed_news), 0)::bigint as news,
  min(w.answered_at) filter (where w.pass = 'new') as answered_at
from billing.statement_windows w;
comment on view billing.statement is
  'The mark of the statement: read_until, the last complete windows, how many payments they had and how much was new in them. '
  'Null: nothing was read yet.';

grant select on billing.statement to service_role;

revoke execute on function public.claim_statement_pages, public.apply_statement_page, public.apply_statement_item
from public, anon, authenticated;
grant execute on function public.claim_statement_pages, public.apply_statement_page, public.apply_statement_item
to service_role;
