import postgres from 'postgres';
import { setGatewayClock } from '../gateway/clock.ts';

/**
 * Replaces `billing.clock()` by a clock that can be shifted; only the local stack has it. Safe to run again: an
 * existing shift is kept and sent to the gateway simulator.
 */
export async function installClock(databaseUrl: string, gatewayUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(shiftableClock);
    await setGatewayClock(sql, gatewayUrl);
  } finally {
    await sql.end();
  }
}

const shiftableClock = `
create table if not exists billing.clock_shift (
  is_only boolean primary key default true check (is_only),
  shift interval not null default '0'
);
comment on table billing.clock_shift is 'Local only: how far billing.clock() is from the machine''s time.';
alter table billing.clock_shift enable row level security;
insert into billing.clock_shift default values on conflict do nothing;

-- Security definer: every role that may read the clock reads its shift, too.
create or replace function billing.clock()
returns timestamptz
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select now() + (select c.shift from billing.clock_shift c)
$$;

-- Support reads each table.
select billing.set_up_support();`;
