import pg from 'pg';
import { withDurablePostgres } from './durable-postgres.ts';
import { createBilling } from './gateway-bodies.ts';
import { createOurDatabase, newUsers } from './our-database.ts';
import { createMinimalDatabase } from './minimal/database.ts';
import { createCalls, sendCall } from './minimal/requests.ts';
import { poolUrl } from '../helpers/pool-role.ts';
const kinds = Deno.args.length ? Deno.args : ['verify', 'captured', 'charged', 'ignored'];
await withDurablePostgres(async (postgres: any) => {
  const people = newUsers(1600);
  const urls = { ours: await createOurDatabase(postgres, 'ours', people), minimal: await createMinimalDatabase(postgres, 'minimal', people) };
  const c = async (url: string) => { const x = new pg.Client({ connectionString: url }); await x.connect(); return x; };
  const owners = { ours: await c(urls.ours), minimal: await c(urls.minimal) };
  const setting: any = { users: people, nextCharge: createBilling(people.subscribers), owners };
  const extra = Deno.env.get('EXTRA'); if (extra) await owners.ours.query(extra);
  const client = await c(poolUrl(urls.ours)); const mini = await c(poolUrl(urls.minimal));
  await client.query('set synchronous_commit = off'); await mini.query('set synchronous_commit = off');
  const cpu = (x: any) => { const f = Deno.readTextFileSync(`/proc/${x.processID}/stat`).split(' '); return (Number(f[13]) + Number(f[14])) * 10000; };
  for (const kind of kinds as any[]) {
    let calls = await createCalls(kind, 200, setting);
    for (const call of calls.ours) await sendCall(client, call);
    for (const call of calls.minimal) await sendCall(mini, call);
    calls = await createCalls(kind, 1600, setting);
    const times: number[] = [], mt: number[] = [];
    let a = cpu(client), b = cpu(mini);
    for (let i = 0; i < calls.ours.length; i++) {
      let t = performance.now(); await sendCall(client, calls.ours[i]!); times.push(performance.now() - t);
      t = performance.now(); await sendCall(mini, calls.minimal[i]!); mt.push(performance.now() - t);
    }
    a = (cpu(client) - a) / calls.ours.length; b = (cpu(mini) - b) / calls.ours.length;
    const q = (x: number[], p: number) => x.sort((x, y) => x - y)[Math.floor(x.length * p)]!.toFixed(3);
    console.log(kind.padEnd(9), 'CPU us', a.toFixed(0), 'min', b.toFixed(0), '| p10', q(times, .1), q(mt, .1), (Number(q(times,.1))/Number(q(mt,.1))).toFixed(2), '| p50', q(times, .5), q(mt, .5), (Number(q(times,.5))/Number(q(mt,.5))).toFixed(2));
  }
  for (const x of [client, mini, owners.ours, owners.minimal]) await x.end();
});
