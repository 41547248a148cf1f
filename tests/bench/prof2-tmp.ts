import pg from 'pg';
import { withDurablePostgres } from './durable-postgres.ts';
import { createOurDatabase, newUsers, insertOrders } from './our-database.ts';
import { newId } from '../../scripts/stack/gateway-simulator-id.ts';
await withDurablePostgres(async (postgres) => {
  const people = newUsers(500);
  const url = await createOurDatabase(postgres, 'ours', people);
  const c = new pg.Client({ connectionString: url }); await c.connect();
  const run = async (label: string) => {
    const owners = people.buyers;
    const orders = owners.map(() => newId('order'));
    await insertOrders(c, owners, orders);
    await c.query(`create or replace function public.t() returns float language plpgsql as $$
    declare r record; t timestamptz := clock_timestamp(); begin
      for r in select p.id, s.id as sid from public.payments p join public.subscriptions s using (user_id) where p.status='created' loop
        update public.payments p set status='captured', gateway_payment_id=md5(r.id::text), subscription_id=r.sid, fulfilled_at=now(), period_end=now()+interval '1 year', since=now(), next_reconcile_at=now()+interval '15 min', captured_at=now() where p.id=r.id;
      end loop; set constraints all immediate; return extract(epoch from clock_timestamp()-t)*1e6/500; end $$`);
    const { rows } = await c.query('begin; set local subscriptions.request = on; select public.t(); rollback' as any) as any;
    const res = (await (async () => { await c.query('begin'); const r = await c.query('select public.t() as t'); await c.query('rollback'); return r.rows[0].t; })());
    console.log(label, Number(res).toFixed(1), 'us per payments update');
  };
  await run('warm'); await run('all'); await run('all');
  await c.query('alter table public.payments disable trigger replay_events_of_new_payment'); await run('- replay trigger'); await run('- replay trigger');
  await c.query('alter table public.payments drop constraint payments_subscription_id_fkey'); await run('- fk'); await run('- fk');
  await c.query('drop index public.payments_subscription_id_idx'); await run('- idx'); await run('- idx');
  await c.query('drop index public.payments_period_end_idx'); await run('- period idx'); await run('- period idx');
  await c.query('drop index public.payments_next_reconcile_at_idx'); await run('- reconcile idx');await run('- reconcile idx');
  await c.end();
});
