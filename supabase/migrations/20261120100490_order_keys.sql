-- Idempotency keys of POST /api/payments/orders.
-- Depends on: _schema.

create table private.order_keys (
  user_id uuid not null constraint order_keys_user_id_fkey references auth.users (id) on delete cascade,
  key text not null constraint order_keys_key_check check (char_length(key) <= 255),
  payment_id uuid not null constraint order_keys_payment_id_fkey references public.payments (id) on delete cascade,
  tier text not null,
  created_at timestamptz not null default private.clock(),
  primary key (user_id, key)
);
create index order_keys_payment_id_idx on private.order_keys (payment_id);
create index order_keys_user_id_created_at_idx on private.order_keys (user_id, created_at desc);
create index order_keys_created_at_idx on private.order_keys (created_at);
alter table private.order_keys enable row level security;
revoke all on private.order_keys from public;
grant select, insert, update on private.order_keys to service_role;
comment on table private.order_keys is
  'Idempotency keys of order requests: the same key is the same order. Kept for 7 days, at most 20 of a user an hour.';

-- Forgets the idempotency keys of more than 7 days ago, a batch at a time.
create function private.delete_order_keys()
returns integer -- how many were deleted; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_deleted integer;
begin
  with old as materialized (
    select k.user_id, k.key
    from private.order_keys k
    where k.created_at < private.clock() - interval '7 days'
    order by k.created_at
    limit 1000
    for update skip locked
  )
  delete from private.order_keys k
  using old
  where k.user_id = old.user_id
    and k.key = old.key;
  get diagnostics v_deleted = row_count;
  return v_deleted;
end
$$;
revoke execute on function private.delete_order_keys() from public;
