import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { type FaultProject, startFaultProject } from '../helpers/faults/fault-project.ts';
import {
  type Attempt,
  createCustomer,
  expectAnswer,
  expectNothingHalfDone,
  retryUntilSuccess,
} from '../helpers/faults/fault-requests.ts';
import { accept, startReceiver } from '../helpers/outbox/receiver.ts';
import { countRows, enqueueMails } from '../helpers/outbox/side-effects.ts';
import { receiverEnvironment } from '../helpers/outbox/test-dispatcher.ts';
import { isLong } from '../helpers/project/is-long.ts';
import { readOutbox } from '../helpers/records/read-records.ts';

// The long suite runs over the other transport.
const provider = startReceiver();
let project: FaultProject;
beforeAll(async () => {
  const environment = { ...receiverEnvironment(provider.url), REVALIDATE_URL: '' };
  project = await startFaultProject(environment, isLong ? 'REST' : 'the pool');
});
afterAll(async () => {
  await project.stop();
  await provider.stop();
});

test('a database that restarts during the delivery of a hundred mails → all are delivered, at most one batch twice', async () => {
  const mails = 100;
  const patience = { timeout: 30_000, interval: 50 };
  const headers = { 'x-internal-key': 'internal-key' };
  const dispatch = async () =>
    await (await project.request('/api/internal/outbox', { method: 'POST', headers })).body?.cancel();
  const released = Promise.withResolvers<void>();
  provider.answer = async (arrival) => {
    await released.promise;
    return accept(arrival);
  };
  await enqueueMails(project.database, mails);
  // The result depends on how soon the API answers again, so the test does not check it.
  const dispatching = dispatch();
  await vi.waitFor(() => expect(provider.arrivals.length).toBeGreaterThan(0), patience);
  await project.postgres.restart();
  released.resolve();
  await dispatching;

  // After this time every claimed row is due again.
  await vi.waitFor(() => setClock(project.database, new Date(Date.now() + 120_000).toISOString()), patience);
  await vi.waitFor(async () => {
    await dispatch();
    expect(await countRows(project.database)).toEqual({ pending: 0, delivered: mails, parked: 0 });
  }, patience);
  const keys = provider.arrivals.map(({ headers }) => headers.get('idempotency-key'));
  expect(new Set(keys)).toEqual(new Set(Array.from({ length: mails }, (_, n) => `payment-success/${n + 1}`)));
  expect(keys.length).toBeLessThanOrEqual(mails + 20);
  await setClock(project.database, null);
});

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
    for (let cut = 0; cut < 3;) {
      const killed = await project.database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where pid <> pg_backend_pid() and state = 'active' and backend_type = 'client backend'`,
      );
      if (killed.length > 0) cut += 1;
    }
    const before = attempts.length;
    // A restart between two requests, or one that the retry survives, fails no request.
    do await project.postgres.restart(); while (!attempts.slice(before).some(({ status }) => status === 500));
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
