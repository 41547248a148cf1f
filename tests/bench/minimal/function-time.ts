import type pg from 'pg';
import { type Call, createCalls, type Kind, rpcs, sendCall, type Setting, type Side } from './requests.ts';

const requests = 200;

/**
 * Measures the microseconds inside the RPC, without the round trip and the commit. This is a separate run, since the
 * timing of functions takes time itself.
 * @param clients a session of each side whose plans are made
 */
export async function measureFunctions(
  kind: Kind,
  setting: Setting,
  clients: Record<Side, pg.Client>,
): Promise<Record<Side, number>> {
  const calls = await createCalls(kind, requests, setting);
  const measure = (side: Side) => measureFunction(rpcs[kind], clients[side], calls[side], setting.owners[side]);
  return { ours: await measure('ours'), rows: await measure('rows'), minimal: await measure('minimal') };
}

async function measureFunction(
  rpc: string,
  client: pg.Client,
  calls: readonly Call[],
  owner: pg.Client,
): Promise<number> {
  // Only a superuser can set the parameter, and the role of the pool is no superuser.
  await owner.query('grant set on parameter track_functions to public');
  await client.query("set track_functions = 'pl'");
  const before = await readCounters(owner, rpc);
  for (const call of calls) await sendCall(client, call);
  await client.query('reset track_functions; select pg_stat_force_next_flush()');
  const after = await readCounters(owner, rpc);
  if (after.calls - before.calls !== calls.length) throw new Error(`${after.calls - before.calls} calls were counted`);
  return ((after.milliseconds - before.milliseconds) / calls.length) * 1000;
}

async function readCounters(owner: pg.Client, rpc: string): Promise<{ calls: number; milliseconds: number }> {
  const { rows: [row] } = await owner.query(
    `select coalesce(sum(calls), 0)::int as calls, coalesce(sum(total_time), 0)::float as milliseconds
     from pg_stat_user_functions where schemaname = 'public' and funcname = $1`,
    [rpc],
  );
  return row;
}
