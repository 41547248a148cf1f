import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { deliver } from '../gateway/deliver.ts';
import { createCustomer, type Customer, customerOf } from '../records/customer.ts';
import { deleteUsers } from '../records/records.ts';
import { day } from '../records/time.ts';
import { setClock } from './clock.ts';
import type { Declared } from './findings.ts';
import { callRpc, openSession } from './session.ts';
import { createTestDatabase, type Row, type TestDatabase } from './test-database.ts';
import { repeatUntil } from '../project/repeat-until.ts';

/** The database of a test file, with what most tests do to it. */
export type Rules = TestDatabase & {
  readonly service: pg.Client;
  /** Calls a function of schema public as the service. */
  rpc(name: string, ...parameters: unknown[]): Promise<Row>;
  /** Delivers an event of the gateway. @returns the outcome */
  send(body: string, eventId?: string): Promise<unknown>;
  /** Stops the clock at a time, as `day` reads it; null lets it run again. */
  at(time: string | null): Promise<void>;
  /** Sweeps until nothing is left to do, at a time or now. */
  sweep(time?: string): Promise<void>;
  /** Runs the expiry, at a time or now. @returns how many lapsed subscriptions were settled, or failed to be */
  expire(time?: string): Promise<unknown>;
  /** Changes columns of billing.settings, or of a plan: `credit = 'off'`. Both are as before after the test. */
  set(assignment: string): Promise<void>;
  setPlan(tier: string, assignment: string): Promise<void>;
  /** A new user who buys, subscribes and cancels. */
  customer(options?: { email?: string | null }): Promise<Customer>;
};

type Kept = { readonly plans: Row[]; readonly settings: Row };

/**
 * A database for the tests of the file: cloned before the first, closed after the last, when its findings are compared with
 * the declared ones. Its plans are sold at the gateway too, as `plan_<tier>`. After each test the clock runs again, there are
 * no further prices, and plans and settings are as before. With `isEmptied` all users and their records are deleted, too.
 */
export function useDatabase(
  { isEmptied = false, ...declared }: Declared & { readonly isEmptied?: boolean } = {},
): Rules {
  let database: TestDatabase | undefined;
  let service: pg.Client | undefined;
  let kept: Kept | undefined;
  const clients: pg.Client[] = [];
  const started = () => database ?? fail();
  const readKept = async (): Promise<Kept> => {
    return await started().one(`select to_jsonb(s) as settings,
      (select jsonb_agg(p order by p.id) from public.plans p) as plans from billing.settings s`) as Kept;
  };

  beforeAll(async () => {
    database = await createTestDatabase(declared);
    service = await openSession(rules, { role: 'service_role' });
    await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
    kept = await readKept();
  });
  afterEach(async () => {
    // A transaction that a failed test left open would block the next test.
    await Promise.allSettled(clients.map((client) => client.query('rollback')));
    await setClock(started(), null);
    if (isEmptied) await deleteUsers(started());
    if (kept && JSON.stringify(await readKept()) !== JSON.stringify(kept)) await restore(started(), kept, isEmptied);
  });
  afterAll(() => database?.close());

  const rules: Rules = {
    get url() {
      return started().url;
    },
    get service() {
      return service ?? fail();
    },
    query: (...statement) => started().query(...statement),
    one: (...statement) => started().one(...statement),
    async connect() {
      const client = await started().connect();
      clients.push(client);
      return client;
    },
    close: () => started().close(),
    rpc: (name, ...parameters) => callRpc(rules.service, name, ...parameters),
    send: (body, eventId) => deliver(rules.service, body, eventId),
    at: (time) => setClock(rules, time === null ? null : day(time)),
    async sweep(time) {
      if (time !== undefined) await rules.at(time);
      const sweep = async () => (await rules.one('select billing.sweep() as done')).done === 0;
      await repeatUntil('the sweep has nothing left to do', 1000, sweep);
    },
    async expire(time) {
      if (time !== undefined) await rules.at(time);
      const settled = async () =>
        Number(
          (await rules.one(
            `select coalesce(sum(revision), 0)
             + (select count(*) from billing.marks where kind = 'settle_failure' and at = billing.clock()) as settled
           from public.subscriptions`,
          )).settled,
        );
      const before = await settled();
      await rules.one('select billing.settle_due()');
      return await settled() - before;
    },
    async set(assignment) {
      await rules.query(`update billing.settings set ${assignment}`);
    },
    async setPlan(tier, assignment) {
      await rules.query(`update public.plans set ${assignment} where tier = $1 and lookup_key is null`, [tier]);
    },
    customer: (options) => createCustomer(rules, options),
  };
  return rules;
}

/** A customer for the tests of the file: a new user before each of them. */
export function useCustomer(rules: Rules): Customer {
  const customer = customerOf(rules, { id: '', email: null });
  beforeEach(async () => void Object.assign(customer, await rules.customer()));
  return customer;
}

/** Writes plans and settings as they were. */
async function restore(database: TestDatabase, { plans, settings }: Kept, isEmptied: boolean): Promise<void> {
  const write = async (table: string, key: string, rows: Row[]) => {
    const columns = Object.keys(rows[0] ?? {}).filter((column) => column !== key).join(', ');
    await database.query(
      `update ${table} t set (${columns}) = (select ${columns.replaceAll(/\w+/g, 'k.$&')})
       from jsonb_populate_recordset(null::${table}, $1) k where k.${key} = t.${key}`,
      [JSON.stringify(rows)],
    );
  };
  await database.query('delete from public.plans where lookup_key is not null');
  if (isEmptied) await database.query('delete from public.plans where id <> all ($1)', [plans.map(({ id }) => id)]);
  await write('public.plans', 'id', plans);
  await write('billing.settings', 'is_only', [settings]);
}

function fail(): never {
  throw new Error('the database is there only while tests run');
}
