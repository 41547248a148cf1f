import { beforeEach, describe, expect, test, vi } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import { createUser, insertSubscriptions } from '../helpers/records/records.ts';

const database = useDatabase({ isEmptied: true, findings: 'compared elsewhere' });
const start = '00000000-0000-0000-0000-000000000000';
beforeEach(() =>
  database.query('update billing.passes set until = $1, began_at = null, complete_as_of = null', [start])
);

const run = (time = '1 minute', client: Pick<typeof database, 'query'> = database) =>
  client.query('select billing.run_pass($1, $2)', ['findings', time]);
const pass = () => database.one("select until, began_at, complete_as_of from billing.passes where name = 'findings'");
/** The subjects of the rows that passes keep. */
const kept = () =>
  database.query('select user_id, finding, first_seen_at, resolved_at from billing.checked_findings order by user_id');
/** Active subscriptions that nothing pays for. */
const plant = (count: number) =>
  insertSubscriptions(database, count, "timestamptz '2027-01-01'").then(() =>
    database.query('delete from billing.manual_subscriptions')
  );
const times = (day: number) => new Date(Date.UTC(2026, 5, day));

describe('a pass', () => {
  test('keeps when a finding was first seen and resolved; one that comes back is seen anew, and goes with its user', async () => {
    await database.at('06-01');
    await plant(1);
    const look = async (day: number) => {
      await database.at(times(day).toISOString());
      await run();
      const [row] = await kept();
      const { count } = await database.one('select count(first_seen_at)::int from billing.findings');
      return [row?.first_seen_at, row?.resolved_at, count];
    };
    expect(await look(1)).toEqual([times(1), null, 1]);
    expect(await look(2)).toEqual([times(1), null, 1]);
    await database.query("update public.profiles set subscription_tier = 'free'");
    await database.query("update public.subscriptions set status = 'cancelled', revision = revision + 1");
    expect(await look(3)).toEqual([times(1), times(3), 0]);
    expect(await look(4)).toEqual([times(1), times(3), 0]);
    await database.query("update public.profiles set subscription_tier = 'pro'");
    await database.query("update public.subscriptions set status = 'active', tier = 'pro', revision = revision + 1");
    expect(await look(5)).toEqual([times(5), null, 1]);
    await database.query('delete from auth.users');
    expect(await kept()).toEqual([]);
  });

  test('goes on over a deleted user whose subscription the gateway names another user for', async () => {
    await database.at('06-01');
    await plant(1);
    const { id } = await createUser(database);
    await database.query(
      `insert into billing.gateway_subscriptions (user_id, gateway_subscription_id, asked_plan_id, arrived_at, noted_user_id)
       select $1, 'sub_edited', p.id, billing.clock(), gen_random_uuid() from public.plans p where p.tier = 'pro' limit 1`,
      [id],
    );
    await run();
    expect((await kept()).map(({ finding }) => finding).sort()).toEqual(['entitled_not_paid', 'notes_edited']);
    await database.query('delete from auth.users where id = $1', [id]);
    await database.query('update billing.passes set until = $1, began_at = null', [start]);
    await run();
    expect(await kept()).toMatchObject([{ finding: 'entitled_not_paid', resolved_at: null }]);
  });

  test('forgets what is resolved for 90 days', async () => {
    await database.at('06-01');
    await plant(1);
    await run();
    await database.query('delete from public.subscriptions');
    await database.query("update public.profiles set subscription_tier = 'free'");
    for (const [day, count] of [['06-02', 1], ['08-31', 1], ['2026-08-31T00:00:00.001Z', 0]] as const) {
      await database.at(day);
      await run();
      expect(await kept(), day).toHaveLength(count);
    }
  });

  test('of several sweeps finds each finding once, in the order of the ids, and says when it began', async () => {
    await plant(1000);
    const began: Date[] = [];
    const found: number[] = [];
    for (let sweeps = 0; sweeps < 20; sweeps += 1) {
      await database.at(times(1 + sweeps).toISOString());
      await run('0 seconds');
      const { until, began_at, complete_as_of } = await pass();
      const rows = await kept();
      found.push(rows.length);
      if (until === start) {
        expect([began_at, complete_as_of]).toEqual([times(1), times(1)]);
        break;
      }
      expect(complete_as_of).toBeNull();
      expect(rows.every(({ user_id }) => String(user_id) <= String(until))).toBe(true);
      began.push(Object(began_at));
    }
    // Ranges of 300 customers, and of the others with the same three first digits.
    expect(found).toEqual([expect.any(Number), expect.any(Number), expect.any(Number), 1000]);
    expect(found).toEqual(found.toSorted((a, b) => a - b));
    expect(began).toEqual([times(1), times(1), times(1)]);
    expect((await database.one('select findings_as_of from billing.service_state')).findings_as_of).toEqual(times(1));
  });

  test('that runs already is not run by a second sweep, and one that is killed leaves nothing half done', async () => {
    await plant(1);
    const sweeping = await database.connect();
    await sweeping.query('begin');
    await sweeping.query("select billing.run_pass('findings', '1 minute')");
    await run();
    expect(await kept()).toEqual([]);
    await database.query('select pg_terminate_backend($1)', [Reflect.get(sweeping, 'processID')]);
    await vi.waitFor(async () => {
      await run();
      expect(await kept()).toHaveLength(1);
    }, { timeout: 10_000 });
  });
});

test('billing.findings_of has what is wrong about a customer now, before a pass finds it', async () => {
  await plant(2);
  const { id } = await database.one('select min(user_id::text) as id from public.subscriptions');
  const of = () => database.query('select finding, subject from billing.findings_of($1)', [id]);
  expect(await of()).toEqual([{ finding: 'entitled_not_paid', subject: id }]);
  const count = 'select open_findings from billing.customers where user_id = $1';
  expect(await database.one(count, [id])).toEqual({ open_findings: '1' });
  expect(await kept()).toEqual([]);
});
