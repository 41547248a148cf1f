import { createUser } from '../records.ts';
import { openSession } from '../session.ts';
import type { TestDatabase } from '../test-database.ts';
import { plans } from './actions.ts';
import { createSubject, type Subject } from './subject.ts';

/** How a history gets its user: alone in the database, whose tables are emptied. */
export type NewSubject = (earlyRenewal: 'replace' | 'extend') => Promise<Subject>;

// setClock replaces the function, after which every statement that calls it is planned anew: most of a history's time.
const clock = `
  create table private.time (at timestamptz not null);
  insert into private.time values (now());
  grant select on private.time to service_role;
  create or replace function private.clock() returns timestamptz language plpgsql stable set search_path = '' as $$
  begin
    return (select t.at from private.time t);
  end
  $$`;

/** The tables that a new database has no rows in. */
const emptyTables = `
  select string_agg(format('delete from %s;', c.oid::regclass), ' ') as clear
  from pg_class c
  cross join query_to_xml(format('select count(*) as n from %s', c.oid::regclass), true, true, '') as counted
  where c.relkind = 'r'
    and (c.relnamespace in ('public'::regnamespace, 'private'::regnamespace) or c.oid = 'auth.users'::regclass)
    and (xpath('//n/text()', counted))[1]::text = '0'`;

/** Prepares a database for histories, one after the other. */
export async function prepareSubjects(database: TestDatabase): Promise<NewSubject> {
  await database.query(clock);
  const { clear } = await database.one(emptyTables);
  const service = await openSession(database, { role: 'service_role' });
  const owner = await database.connect();
  // Planning the views of findings takes longer than reading them.
  await owner.query('set plan_cache_mode = force_generic_plan');
  return async (earlyRenewal) => {
    // Without triggers and foreign keys, which would note each deletion.
    await owner.query(`begin; set local session_replication_role = replica; ${clear} commit`);
    for (const [tier, { price, months }] of Object.entries(plans)) {
      await owner.query(
        "update public.plans set gateway_plan_id = 'plan_' || tier, price = $2, duration_months = $3 where tier = $1",
        [tier, price, months],
      );
    }
    return createSubject({ database, service, owner, userId: (await createUser(database)).id, earlyRenewal });
  };
}
