import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import { prepareDatabase } from '../../scripts/stack/postgres/prepare-database.ts';
import { sweep } from '../../scripts/stack/postgres/sweep.ts';
import { type HostedPostgres, startHostedPostgres } from '../helpers/database/hosted-postgres.ts';
import { createUser } from '../helpers/records/records.ts';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

let postgres: HostedPostgres;
let database: TestDatabase;
beforeAll(async () => {
  postgres = await startHostedPostgres();
  await prepareDatabase(postgres.url);
  database = openDatabase(postgres.url);
  await database.query(`
    create schema vault;
    create table vault.secrets (name text, secret text);
    create view vault.decrypted_secrets as select name, secret as decrypted_secret from vault.secrets`);
  await migrate({ url: postgres.url, seed: false, log: () => {} });
});
afterAll(async () => {
  await database?.close();
  await postgres?.stop();
});

test('the migrations install pg_net, pg_cron and pg_trgm where they are available', async () => {
  expect(await database.query("select extname from pg_extension where extname like 'pg!_%' escape '!' order by 1"))
    .toEqual([{ extname: 'pg_cron' }, { extname: 'pg_net' }, { extname: 'pg_trgm' }]);
});

test.each([
  ['subscriptions-sweep', '* * * * *', 'outbox', sweep],
  ['subscriptions-reconcile', '* * * * *', 'reconcile', expect.stringMatching(/^select private[.]call_function/)],
])('the job %s runs at %s and calls the endpoint %s', async (name, schedule, endpoint, command) => {
  const job = await database.one('select schedule, command from cron.job where jobname = $1', [name]);
  expect(job).toEqual({ schedule, command });
  await database.query(`
    truncate net.http_request_queue, vault.secrets;
    insert into vault.secrets values
      ('subscriptions_url', 'https://project.test/functions/v1'), ('subscriptions_internal_key', 'k')`);
  await database.query(String(job.command));
  expect(await database.query('select url, body, headers, timeout from net.http_request_queue')).toEqual([{
    url: `https://project.test/functions/v1/api/internal/${endpoint}`,
    body: {},
    headers: { 'content-type': 'application/json', 'prefer': 'respond-async', 'x-internal-key': 'k' },
    timeout: 5000,
  }]);
});

test('a sign-up inserts a profile and calls the dispatcher', async () => {
  await database.query('truncate net.http_request_queue');
  await createUser(database);
  expect(await database.query('select url from net.http_request_queue')).toHaveLength(1);
});
