import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import type { EarlyRenewal } from '../database/early-renewal.ts';
import { openSession } from '../database/session.ts';
import { createTestDatabase, type TestDatabase } from '../database/test-database.ts';
import { createUser } from '../records/records.ts';
import { type Action, plans } from './actions.ts';
import type { Access, Billing } from './expected.ts';
import type { Sold } from './money.ts';
import { createNames, createPerformer } from './perform-action.ts';
import { isoTime, type Time } from './time.ts';

/** What the database has about a user, by the names of the history. */
export type Stored = Access & {
  readonly billing: Billing | null;
  readonly cancelled: readonly string[];
  readonly sold: readonly Sold[];
};

/** The gateway must stop billing a subscription: at the end of its cycle, or at once. */
export type Stop = { readonly subscription: string; readonly atCycleEnd: boolean; readonly dueAt: Time };

/** What a mail about a failed or the last charge says: null, if access does not end. */
export type Claim = { readonly subscription: string; readonly accessEndsAt: Time | null };

/** The user of a history in the database. */
export type Subject = {
  /** Sets the clock and, if `isSwept`, runs the sweep. */
  advance(at: Time, isSwept: boolean): Promise<void>;
  /** Performs an action through its RPC. Returns the names of the reconciled gateway subscriptions. */
  perform(action: Action, at: Time): Promise<string[]>;
  /** Sweeps, then reads. */
  read(): Promise<Stored>;
  /** Sends to the gateway which subscriptions to stop, as far as that is due. */
  takeStops(): Promise<Stop[]>;
  /** The mails about failed and last charges so far. */
  readClaims(): Promise<Claim[]>;
};

/** Empties the tables, sets what early renewals do, and creates the user of a history. */
export type NewSubject = (earlyRenewal: EarlyRenewal) => Promise<Subject>;

/** The database, a session of the service, a session of the owner, and the user. */
export type Setting = {
  readonly database: TestDatabase;
  readonly service: pg.Client;
  readonly owner: pg.Client;
  readonly userId: string;
};

/** A database for histories, which run one after the other. @returns a function that begins a history */
export function useSubjects(): NewSubject {
  let database: TestDatabase;
  let newSubject: NewSubject;
  beforeAll(async () => {
    // Each history compares the findings of its own user after each step.
    database = await createTestDatabase({ findings: 'compared elsewhere' });
    newSubject = await prepareSubjects(database);
  });
  afterAll(() => database.close());
  return (earlyRenewal) => newSubject(earlyRenewal);
}

/** Deletes from the tables that have no rows in a new database and have some now. */
const emptyTables = `
  select string_agg(format('delete from %s;', c.oid::regclass), ' ') as clear
  from pg_class c
  cross join query_to_xml(format('select count(*) as n from %s', c.oid::regclass), true, true, '') as counted
  where c.relkind = 'r'
    and (c.relnamespace in ('public'::regnamespace, 'billing'::regnamespace) or c.oid = 'auth.users'::regclass)
    and (xpath('//n/text()', counted))[1]::text = '0'`;

async function prepareSubjects(database: TestDatabase): Promise<NewSubject> {
  const { clear } = await database.one(emptyTables);
  await database.query(await readFile(new URL('subject.sql', import.meta.url), 'utf8'));
  const service = await openSession(database, { role: 'service_role' });
  const owner = await database.connect();
  // On a connection of its own: to set the replication role throws away all plans of a connection.
  const cleaner = await database.connect();
  // Planning takes longer than reading: the views of findings, and what the sweep calls without a row.
  for (const client of [owner, service]) await client.query('set plan_cache_mode = force_generic_plan');
  const setPlans = Object.entries(plans).map(([tier, { price, months }]) =>
    `update public.plans set gateway_plan_id = 'plan_' || tier, price = ${price}, duration_months = ${months}
     where tier = '${tier}' and (price, duration_months, gateway_plan_id) is distinct from (${price}, ${months}, 'plan_' || tier);`
  ).join('\n');
  return async (earlyRenewal) => {
    // Without triggers and foreign keys: the triggers would record each deletion.
    await cleaner.query(`begin; set local session_replication_role = replica; ${clear} commit; ${setPlans}
      update billing.settings set early_renewal = '${earlyRenewal}' where early_renewal <> '${earlyRenewal}'`);
    return createSubject({ database, service, owner, userId: (await createUser(database)).id });
  };
}

function createSubject(setting: Setting): Subject {
  const { owner, userId } = setting;
  const names = createNames();
  names.add(userId, 'user');
  /** The rows of a statement that returns JSON, with names for ids. */
  const read = async <Result>(name: string, text: string, values: unknown[] = []): Promise<Result[]> => {
    const { rows } = await owner.query({ name, text: `select (${text})::text as json`, values });
    return rows.map(({ json }) =>
      JSON.parse(json, (_, value) => typeof value === 'string' ? names.nameOf(value) : value)
    );
  };
  return {
    async advance(at, isSwept) {
      await owner.query({ name: 'advance', text: 'update test.time set at = $1', values: [isoTime(at)] });
      if (isSwept) await owner.query({ name: 'sweep', text: 'select test.sweep()' });
    },
    perform: createPerformer(setting, names),
    async read() {
      const [row] = await read<Stored & { findings: [string, string][] }>('read', 'test.read($1)', [userId]);
      if (row === undefined) throw new Error('nothing read');
      return { ...row, findings: row.findings.map(([finding, subject]) => `${finding}: ${subject}`).sort() };
    },
    takeStops: () => read('take stops', 'test.take_stops()'),
    readClaims: async () => (await read<Claim[]>('read claims', 'test.claims()')).flat(),
  };
}
