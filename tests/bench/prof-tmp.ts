import pg from 'pg';
import { withDurablePostgres } from '/work/main/tests/bench/durable-postgres.ts';
import { createBilling } from '/work/main/tests/bench/gateway-bodies.ts';
import { createOurDatabase, newUsers } from '/work/main/tests/bench/our-database.ts';
import { createMinimalDatabase } from '/work/main/tests/bench/minimal/database.ts';
import { createCalls, sendCall } from '/work/main/tests/bench/minimal/requests.ts';
import { poolUrl } from '/work/main/tests/helpers/pool-role.ts';
const kinds = Deno.args.length ? Deno.args : ['verify', 'captured', 'charged', 'ignored'];
await withDurablePostgres(async (postgres: any) => {
  const people = newUsers(800);
  const urls = { ours: await createOurDatabase(postgres, 'ours', people), minimal: await createMinimalDatabase(postgres, 'minimal', people) };
  const c = async (url: string) => { const x = new pg.Client({ connectionString: url }); await x.connect(); return x; };
  const owners = { ours: await c(urls.ours), minimal: await c(urls.minimal) };
  const setting: any = { users: people, nextCharge: createBilling(people.subscribers), owners };
  const client = await c(poolUrl(urls.ours)); const mini = await c(poolUrl(urls.minimal));
  await owners.ours.query('grant set on parameter track_functions to public');
  for (const kind of kinds as any[]) {
    let calls = await createCalls(kind, 300, setting);
    for (const call of calls.ours) await sendCall(client, call);
    for (const call of calls.minimal) await sendCall(mini, call);
    calls = await createCalls(kind, 800, setting);
    const times: number[] = [], mt: number[] = [];
    for (let i = 0; i < calls.ours.length; i++) {
      let t = performance.now(); await sendCall(client, calls.ours[i]!); times.push(performance.now() - t);
      t = performance.now(); await sendCall(mini, calls.minimal[i]!); mt.push(performance.now() - t);
    }
    const med = (a: number[]) => a.sort((x, y) => x - y)[a.length >> 1]!;
    console.log(kind, 'p50 ours', med(times).toFixed(3), 'min', med(mt).toFixed(3), 'ratio', (med(times) / med(mt)).toFixed(2));
    calls = await createCalls(kind, 800, setting);
    await owners.ours.query('select pg_stat_reset()');
    await client.query("set track_functions = 'all'");
    for (const call of calls.ours) await sendCall(client, call);
    await client.query('reset track_functions; select pg_stat_force_next_flush()');
    const { rows } = await owners.ours.query(`select funcname, (calls/800.0)::numeric(6,2) as n, (1000*total_time/800)::numeric(8,1) as total, (1000*self_time/800)::numeric(8,1) as self from pg_stat_user_functions where calls > 0 order by self_time desc limit 24`);
    for (const r of rows) console.log('  ', r.funcname.padEnd(34), r.n, r.total, r.self);
  }
  for (const x of [client, mini, owners.ours, owners.minimal]) await x.end();
});
