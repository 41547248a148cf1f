/**
 * Measures what the numbering of 100,000 waiting payments costs, and what a capture costs meanwhile: the CPU of its server
 * process, which the load of the machine does not change. `npm run bench:documents`
 */
import pg from 'pg';
import { withMigratedDatabase } from '../../scripts/stack/postgres/migrated-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { median } from './report.ts';

const waiting = 100_000;
const captures = 300;
const rounds = 5;

const load = `
  insert into auth.users (id, email) select md5(n::text)::uuid, n || '@example.com' from generate_series(1, 2000) n;
  insert into public.payments
    (user_id, amount, tier, status, gateway_order_id, gateway_payment_id, captured_at, confirmed_at, fulfilled_at, period_start,
     period_end, next_reconcile_at)
  select md5((1 + n % 2000)::text)::uuid, 99900, 'pro', 'captured', 'order_' || n, 'pay_' || n, at, at, at, at, at + interval '1 year', null
  from generate_series(1, ${waiting}) n cross join lateral (select now() - make_interval(secs => n) as at) t;
  analyze public.payments;`;

await withMigratedDatabase(async (url) => {
  const [admin, numbering, capturing] = Array.from({ length: 3 }, () => new pg.Client({ connectionString: url }));
  if (!admin || !numbering || !capturing) throw new Error('no connection');
  await Promise.all([admin, numbering, capturing].map((client) => client.connect()));
  try {
    await admin.query(load);
    await admin.query(
      `update billing.settings set seller_name = 'A', seller_gstin = '29AAAAA0000A1ZY', sac = '998315', tax_rate = 1800`,
    );
    let order = 0;
    const capture = async () => {
      const [{ pid }] = (await capturing.query('select pg_backend_pid() as pid')).rows;
      const orders = Array.from({ length: captures }, () => `order_new_${order += 1}`);
      await admin.query(
        `insert into public.payments (user_id, amount, tier, gateway_order_id)
         select md5((1 + n % 2000)::text)::uuid, 99900, 'pro', o from unnest($1::text[]) with ordinality x (o, n)`,
        [orders],
      );
      const before = await cpuOf(pid);
      for (const id of orders) {
        const entity = {
          id: id.replace('order', 'pay'),
          order_id: id,
          amount: 99900,
          currency: 'INR',
          status: 'captured',
        };
        const body = JSON.stringify({ event: 'payment.captured', payload: { payment: { entity } }, created_at: 1 });
        await capturing.query('select public.apply_gateway_event($1, $2, $3)', [
          sha256(body),
          `evt_${id}`,
          body,
        ]);
      }
      return (await cpuOf(pid) - before) / captures;
    };
    await capture();
    const alone = [];
    for (let round = 0; round < rounds; round++) alone.push(await capture());
    const began = performance.now();
    await admin.query("update billing.settings set receipts_from = '2000-01-01'");
    const isListed = "select listed_until is null as is from billing.scheduled_jobs where name = 'sweep'";
    while (!(await admin.query(isListed)).rows[0].is) await admin.query('select billing.issue_documents()');
    const listed = performance.now() - began;
    const switched = [];
    for (let round = 0; round < rounds; round++) switched.push(await capture());
    let isDone = false;
    const numbered = (async () => {
      const start = performance.now();
      await numbering.query('do $$ begin while billing.issue_documents() > 0 loop commit; end loop; end $$');
      isDone = true;
      return performance.now() - start;
    })();
    const beside = [];
    while (!isDone && beside.length < 50) beside.push(await capture());
    const elapsed = await numbered;
    const { rows: [{ documents }] } = await admin.query('select count(*)::int as documents from public.receipts');
    const [before, on, meanwhile] = [alone, switched, beside].map((times) => median(times));
    writeLine(
      `${documents} documents in ${(elapsed / 1000).toFixed(1)} s; ${waiting} payments were listed in ${
        listed.toFixed(0)
      } ms`,
    );
    writeLine(
      `a capture, ms of CPU: ${before?.toFixed(2)} without receipts, ${on?.toFixed(2)} with, ${
        meanwhile?.toFixed(2)
      } during the numbering`,
    );
    writeLine(
      `during ÷ before the numbering: ${((meanwhile ?? 0) / (on ?? 1)).toFixed(2)}; with ÷ without receipts: ${
        ((on ?? 0) / (before ?? 1)).toFixed(2)
      }`,
    );
  } finally {
    await Promise.all([admin, numbering, capturing].map((client) => client.end()));
  }
});

/** CPU time of a process of this machine, in milliseconds. */
async function cpuOf(pid: number): Promise<number> {
  const fields = (await Deno.readTextFile(`/proc/${pid}/stat`)).replace(/^.*\) /, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
