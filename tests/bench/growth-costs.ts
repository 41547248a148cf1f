/** Measures what every path costs the database: requests, reads of an admin, the sweep with its passes, and claims. */
import type pg from 'pg';
import { questions, sampleCustomers, type Sized } from './growth-admin.ts';
import { planted } from './growth-data.ts';
import { median, progress } from './report.ts';
import { createItems, workloads } from './workloads.ts';

/** What runs each minute or for each batch, also when nothing is due. */
const calls: Record<string, string> = {
  'events that wait': 'billing.replay_missed_events()',
  'subscriptions that wait for their user or plan': 'billing.settle_waiting_subscriptions()',
  'users who are due, a batch of 50': 'billing.settle_due()',
  'payloads to reduce': 'billing.reduce_payloads()',
  'payloads to empty, a batch': 'billing.empty_payloads()',
  'mails to delete, a batch': 'billing.delete_messages()',
  'deleted users to erase': 'billing.erase_deleted_users()',
  'payments of today': 'billing.sum_hours()',
  'mails to send': "public.claim_outbox('email')",
  'payments to reconcile': 'public.claim_payments_to_reconcile()',
  'subscriptions to reconcile': 'public.claim_subscriptions_to_reconcile()',
  'retention, a batch': 'public.purge_records(400, 30, 1100)',
  'health': 'public.get_health()',
};
const ranges = { findings: 'billing.check_customers', revenue: 'billing.sum_customers' };
const repetitions = 7;

type Cost = { readonly ms: number; readonly buffers: number };

/** @returns the table: median milliseconds and 8 kB pages of a call, and the exponent between the sizes */
export async function benchCosts(sized: readonly Sized[]): Promise<string> {
  const columns: Map<string, Cost>[] = [];
  for (const each of sized) columns.push(await measure(each));
  const names = [...columns[0]?.keys() ?? []];
  const growth = Math.log((sized.at(-1)?.payments ?? NaN) / (sized[0]?.payments ?? NaN));
  const lines = names.map((name) => {
    const costs = columns.flatMap((column) => column.get(name) ?? []);
    const exponent = Math.log((costs.at(-1)?.ms ?? NaN) / (costs[0]?.ms ?? NaN)) / growth;
    return `| ${name} | ${
      costs.map(({ ms, buffers }) => `${ms.toFixed(ms < 10 ? 2 : 0)} ms, ${buffers}`).join(' | ')
    } | ${exponent.toFixed(2)} |`;
  });
  return [
    `| ms, pages | ${sized.map(({ payments }) => `${payments} payments and charges`).join(' | ')} | exponent |`,
    `|---|${sized.map(() => '---|').join('')}---|`,
    ...lines,
    '',
  ].join('\n');
}

async function measure({ database }: Sized): Promise<Map<string, Cost>> {
  const client = await database.connect();
  const costs = new Map<string, Cost>();
  const sample = await sampleCustomers(database);
  const buyers = sample.map(({ id }) => ({ id, token: '' }));
  for (const workload of workloads) {
    const items = await createItems(
      { database, createToken: () => Promise.resolve('') },
      workload,
      buyers,
      buyers.length,
    );
    costs.set(workload, await costOf(client, items.map(({ call }) => call)));
  }
  for (const [name, question] of Object.entries(questions)) {
    costs.set(name, await costOf(client, sample.map((customer) => ({ text: question(customer) }))));
  }
  await client.query('set enable_seqscan = off'); // as billing.sweep()
  for (const [name, call] of Object.entries(calls)) {
    costs.set(name, await costOf(client, Array.from({ length: repetitions + 1 }, () => ({ text: `select ${call}` }))));
  }
  const { rows: [{ customers }] } = await client.query('select count(*)::int as customers from public.profiles');
  for (const [name, call] of Object.entries(ranges)) {
    // A sixteenth of the customers, a range of the pass at a time.
    const parts = 16 * Math.max(1, Math.round(customers / 16 / 500));
    let [ms, buffers] = [0, 0];
    for (let part = 0; part < parts / 16; part += 1) {
      const [after, until] = [part, part + 1].map((edge) => uuidAt(edge / parts));
      const cost = await explain(client, { text: `select ${call}('${after}', '${until}')` });
      ms += cost.ms;
      buffers += cost.buffers;
    }
    const thousands = customers / 16 / 1000;
    costs.set(`pass of ${name}: 1,000 customers`, { ms: ms / thousands, buffers: Math.round(buffers / thousands) });
    costs.set(`pass of ${name}: all`, { ms: ms * 16, buffers: buffers * 16 });
  }
  await client.end();
  return costs;
}

/** The id at a part of all ids, which ends a bucket. */
function uuidAt(part: number): string {
  const digits = Math.min(4095, Math.floor(part * 4096)).toString(16).padStart(3, '0');
  return part === 0 ? '00000000-0000-0000-0000-000000000000' : `${digits}fffff-ffff-ffff-ffff-ffffffffffff`;
}

async function costOf(client: pg.Client, queries: readonly pg.QueryConfig[]): Promise<Cost> {
  const costs: Cost[] = [];
  for (const query of queries) costs.push(await explain(client, query));
  // The first calls of a session plan the statements of the function.
  const counted = costs.slice(Math.ceil(costs.length / 10));
  return { ms: median(counted.map(({ ms }) => ms)), buffers: median(counted.map(({ buffers }) => buffers)) };
}

async function explain(client: pg.Client, { text, values }: pg.QueryConfig): Promise<Cost> {
  const { rows: [row] } = await client.query(`explain (analyze, buffers, format json) ${text}`, values);
  const [{ Plan: plan, 'Execution Time': execution, 'Planning Time': planning }] = row['QUERY PLAN'];
  return { ms: execution + planning, buffers: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'] };
}

/** Runs the passes to their end. @throws when they find anything else than what is planted */
export async function completePasses({ database }: Sized): Promise<void> {
  const client = await database.connect();
  for (const name of Object.keys(ranges)) {
    const start = performance.now();
    await client.query("select billing.run_pass($1, '1 day')", [name]);
    progress(`a complete pass of ${name} took ${Math.round((performance.now() - start) / 1000)} s`);
  }
  const { rows } = await client.query('select finding, count(*)::int from billing.findings group by 1 order by 2');
  await client.end();
  const found = rows.filter(({ finding }) => finding === 'tier_mismatch' || finding === 'entitled_not_paid');
  if (rows.length !== found.length || found.some(({ count }) => count !== planted)) {
    throw new Error(`found ${JSON.stringify(rows)} instead of ${planted}`);
  }
}
