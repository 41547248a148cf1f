#!/bin/sh
# @supabase/stripe-sync-engine 0.48.5 writes an object only if its event is of a later second than the last one written, but
# Stripe dates events in whole seconds and creates several in one. So the second event of a second is dropped without an error:
# a paid subscription stays `incomplete`, and a cancelled one `active`, where no later event follows for good. To fetch
# subscriptions anew (`revalidateObjectsViaStripeApi`) mends the first alone: a cancelled one is not fetched again. Imported as
# a module, `runMigrations` resolves and has made no table; required, it makes them.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @electric-sql/pglite@0.3.15 @electric-sql/pglite-socket@0.0.20 \
  @supabase/stripe-sync-engine@0.48.5 stripe@23.1.0 >/dev/null
cat > sync.cjs <<'JS'
const { PGlite } = require('@electric-sql/pglite');
const { PGLiteSocketServer } = require('@electric-sql/pglite-socket');
const { runMigrations, StripeSync } = require('@supabase/stripe-sync-engine');
for (const name of ['@supabase/stripe-sync-engine', 'stripe']) {
  console.log(name, require(`./node_modules/${name}/package.json`).version);
}
const subscription = (status) => ({ id: 'sub_1', object: 'subscription', status, items: { data: [] } });
const acts = {
  'paid in the same second': [['created', 'incomplete', 0], ['updated', 'active', 0]],
  'paid five seconds later': [['created', 'incomplete', 0], ['updated', 'active', 5]],
  'cancelled in the same second': [['updated', 'active', 0], ['deleted', 'canceled', 0]],
  'cancelled five seconds later': [['updated', 'active', 0], ['deleted', 'canceled', 5]],
};
(async () => {
  const db = await PGlite.create();
  const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: 0 });
  await server.start();
  const databaseUrl = `postgres://postgres:none@${server.getServerConn()}/postgres`;
  const count = async () => (await db.query("select 1 from pg_tables where tablename = 'subscriptions'")).rows.length;

  await (await import('@supabase/stripe-sync-engine')).runMigrations({ databaseUrl, schema: 'stripe' });
  const tables = [await count()];
  await runMigrations({ databaseUrl, schema: 'stripe' });
  tables.push(await count());
  console.log('tables of subscriptions: imported', tables[0], 'required', tables[1]);

  const found = {};
  for (const revalidate of [[], ['subscription']]) {
    const sync = new StripeSync({
      schema: 'stripe',
      stripeSecretKey: 'none',
      poolConfig: { connectionString: databaseUrl, max: 1 },
      revalidateObjectsViaStripeApi: revalidate,
    });
    for (const [title, events] of Object.entries(acts)) {
      await sync.postgresClient.query('delete from stripe.subscriptions');
      const second = Math.floor(Date.now() / 1000);
      for (const [type, status, later] of events) {
        sync.stripe.subscriptions.retrieve = async () => subscription(status);
        await sync.processEvent({
          type: `customer.subscription.${type}`,
          created: second + later,
          data: { object: subscription(status) },
        });
      }
      const [row] = (await sync.postgresClient.query('select status from stripe.subscriptions')).rows;
      (found[title] ??= []).push(row.status);
    }
    await sync.postgresClient.close();
  }
  for (const [title, [sent, fetched]] of Object.entries(found)) console.log(`${title}:`.padEnd(31), `${sent}, fetched anew ${fetched}`);
  await server.stop();
  await db.close();
  const expected = {
    'paid in the same second': ['incomplete', 'active'],
    'paid five seconds later': ['active', 'active'],
    'cancelled in the same second': ['active', 'active'],
    'cancelled five seconds later': ['canceled', 'canceled'],
  };
  process.exit(JSON.stringify([tables, found]) === JSON.stringify([[0, 1], expected]) ? 0 : 1);
})();
JS
node sync.cjs
