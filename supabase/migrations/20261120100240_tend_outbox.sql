-- What an admin and the schedule do with the outbox.
-- Depends on: _outbox, _wake.

-- For an admin who mended the cause: tries a parked side effect again, for another 24 hours.
create function private.requeue(
  p_id bigint
)
returns boolean -- whether there was such a row to try again
language plpgsql
set search_path = ''
as $$
begin
  update private.outbox o
  set queued_at = private.clock(),
    next_attempt_at = private.clock(),
    -- A claim that still runs may complete the row and no longer fail it.
    claims = o.claims || null::uuid,
    attempts = 0,
    parked_at = null
  where o.id = p_id
    and o.delivered_at is null;
  if not found then
    return false;
  end if;
  perform private.wake();
  return true;
end
$$;
revoke execute on function private.requeue(bigint) from public;

-- Deletes mails 90 days after they were enqueued, delivered or not, a batch at a time: they hold the name and the address
-- of a user who may have been deleted since. One that nobody had sent by then helps nobody.
create function private.delete_mails()
returns integer -- how many were deleted; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_deleted integer;
begin
  with old as materialized (
    select o.id
    from private.outbox o
    where o.destination in ('email', 'notice')
      and o.created_at < private.clock() - interval '90 days'
    order by o.created_at
    limit 1000
    for update skip locked
  )
  delete from private.outbox o
  using old
  where o.id = old.id;
  get diagnostics v_deleted = row_count;
  return v_deleted;
end
$$;
revoke execute on function private.delete_mails() from public;
