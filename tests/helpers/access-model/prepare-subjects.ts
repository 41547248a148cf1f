import { type EarlyRenewal, setEarlyRenewal } from '../database/early-renewal.ts';
import { plans } from './actions.ts';
import { createSubject, type Subject } from './subject.ts';
import { openSession } from '../database/session.ts';
import type { TestDatabase } from '../database/test-database.ts';
import { createUser } from '../records/records.ts';

/** Empties the tables, sets what early renewals do, and creates the user of a history. */
export type NewSubject = (earlyRenewal: EarlyRenewal) => Promise<Subject>;

// Not setClock: it replaces the function, and then Postgres plans every statement that calls it again, which is slow.
const clock = `
  create table billing.time (at timestamptz not null);
  insert into billing.time values (now());
  grant select on billing.time to service_role;
  create or replace function billing.clock() returns timestamptz language plpgsql stable set search_path = pg_catalog, pg_temp as $$
  begin
    return (select t.at from billing.time t);
  end
  $$`;

/** Deletes from the tables that have no rows in a new database. */
const emptyTables = `
  select string_agg(format('delete from %s;', c.oid::regclass), ' ') as clear
  from pg_class c
  cross join query_to_xml(format('select count(*) as n from %s', c.oid::regclass), true, true, '') as counted
  where c.relkind = 'r'
    and (c.relnamespace in ('public'::regnamespace, 'billing'::regnamespace) or c.oid = 'auth.users'::regclass)
    and (xpath('//n/text()', counted))[1]::text = '0'`;

/** Prepares a database in which histories run one after the other. */
export async function prepareSubjects(database: TestDatabase): Promise<NewSubject> {
  await database.query(clock);
  const { clear } = await database.one(emptyTables);
  const service = await openSession(database, { role: 'service_role' });
  const owner = await database.connect();
  // On a connection of its own: to set the replication role throws away all plans of a connection.
  const cleaner = await database.connect();
  // Planning takes longer than reading: the views of findings, and what the sweep calls without a row.
  for (const client of [owner, service]) await client.query('set plan_cache_mode = force_generic_plan');
  return async (earlyRenewal) => {
    // Without triggers and foreign keys: the triggers would record each deletion.
    await cleaner.query(`begin; set local session_replication_role = replica; ${clear} commit`);
    await setEarlyRenewal(database, earlyRenewal);
    for (const [tier, { price, months }] of Object.entries(plans)) {
      await owner.query(
        "update public.plans set gateway_plan_id = 'plan_' || tier, price = $2, duration_months = $3 where tier = $1",
        [tier, price, months],
      );
    }
    return createSubject({ database, service, owner, userId: (await createUser(database)).id });
  };
}
