import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type FaultProject, startFaultProject } from '../helpers/faults/fault-project.ts';
import {
  type Attempt,
  createCustomer,
  expectAnswer,
  expectNothingHalfDone,
  retryUntilSuccess,
} from '../helpers/faults/fault-requests.ts';
import { poolUrl } from '../helpers/database/pool-role.ts';
import { isLong } from '../helpers/project/suite.ts';
import { readOutbox } from '../helpers/records/read-records.ts';
import { repeatUntil } from '../helpers/project/repeat-until.ts';

// The long suite runs over the other transport.
let project: FaultProject;
beforeAll(async () => {
  project = await startFaultProject({}, isLong ? 'REST' : 'the pool');
});
afterAll(() => project.stop());

// Over REST the API has the connections.
test.skipIf(isLong)(
  'a database without a free connection → 500 with retry-after; sent again, each purchase is made once',
  async () => {
    const customers = await Promise.all(Array.from({ length: 4 }, () => createCustomer(project)));
    const requests = customers.flatMap(({ send }) => Object.values(send));
    const attempts: Attempt[] = [];
    // A connection that another process closes is taken at once, until all requests are answered.
    const taken: pg.Client[] = [];
    let isFull = false;
    let areAnswered = false;
    const taker = (async () => {
      while (!areAnswered) {
        const client = new pg.Client({ connectionString: poolUrl(project.postgres.url()), application_name: 'taker' });
        client.on('error', () => {});
        isFull = !await client.connect().then(() => taken.push(client), () => setTimeout(10));
      }
      await Promise.all(taken.map((client) => client.end()));
    })();
    try {
      await vi.waitFor(async () => {
        expect(isFull).toBe(true);
        // The connections that the function keeps open must not serve the requests.
        const kept = await project.database.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where usename = 'subscriptions_api' and application_name <> 'taker'`,
        );
        expect(kept).toEqual([]);
      }, { timeout: 30_000 });
      // Another process may close a connection that the function would get before the taker: 53300 for that one, too.
      await project.database.query('alter role subscriptions_api connection limit 0');
      expect((await project.request('/api/health')).status).toBe(503);
      attempts.push(...await Promise.all(requests.map((request) => request())));
    } finally {
      areAnswered = true;
      await taker;
      await project.database.query('alter role subscriptions_api connection limit -1');
    }
    attempts.forEach(expectAnswer);
    expect(new Set(attempts.map(({ status }) => status))).toEqual(new Set([500]));
    // The others check a session first, for which the auth server may have no connection either.
    const webhooks = attempts.filter(({ endpoint }) => endpoint === 'webhook');
    expect(webhooks.map(({ retryAfter }) => retryAfter)).toEqual(customers.map(() => '1'));
    await Promise.all(requests.map(retryUntilSuccess));
    await expectNothingHalfDone(project.database);
  },
);

test('a database that cuts connections, then restarts, with requests in flight → 200 or 500; each purchase is made once, by the same process', async () => {
  const customers = await Promise.all(Array.from({ length: 8 }, () => createCustomer(project)));
  const pid = project.edgeFunction.pid();
  expect(pid).toBeDefined();
  // Every customer sends requests without a pause until the faults are over.
  let over = false;
  const attempts: Attempt[] = [];
  const senders = customers.map(async ({ send }) => {
    while (!over) attempts.push(...await Promise.all(Object.values(send).map((request) => request())));
  });
  try {
    let cut = 0;
    await repeatUntil('three queries under way are cut', 100_000, async () => {
      const killed = await project.database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where pid <> pg_backend_pid() and state = 'active' and backend_type = 'client backend'`,
      );
      if (killed.length > 0) cut += 1;
      return cut === 3;
    });
    const before = attempts.length;
    // The retry of a request survives a restart that is over at once, so it starts again when a request has failed.
    await project.postgres.stop();
    const hasFailed = () => expect(attempts.slice(before).map(({ status }) => status)).toContain(500);
    await vi.waitFor(hasFailed, { timeout: 60_000, interval: 5 });
    await project.postgres.start();
    await project.postgres.ready();
  } finally {
    over = true;
  }
  await Promise.all(senders);
  attempts.forEach(expectAnswer);

  await Promise.all(customers.flatMap(({ send }) => Object.values(send).map(retryUntilSuccess)));
  await expectNothingHalfDone(project.database);
  for (const { user } of customers) {
    const mails = await readOutbox(project.database, 'email', user.email);
    expect(mails.map(({ kind }) => kind).sort()).toEqual(['payment-failed', 'payment-success']);
  }
  expect(project.edgeFunction.pid()).toBe(pid);
});
