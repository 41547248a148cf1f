import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type FaultProject, startFaultProject } from '../helpers/faults/fault-project.ts';
import {
  type Attempt,
  createCustomer,
  type Customer,
  expectAnswer,
  expectNothingHalfDone,
  expectOutageAnswer,
  retryUntilSuccess,
} from '../helpers/faults/fault-requests.ts';
import { sampleOf } from '../helpers/project/is-long.ts';
import { readOutbox } from '../helpers/records/read-records.ts';

describe.each(sampleOf(['REST', 'the pool'] as const, 1))('over %s', (transport) => {
  let project: FaultProject;
  let customers: Customer[];
  let pid: number | undefined;
  beforeAll(async () => {
    project = await startFaultProject({}, transport);
  });
  afterAll(() => project.stop());

  beforeEach(async () => {
    customers = await Promise.all(Array.from({ length: 8 }, () => createCustomer(project)));
    pid = project.edgeFunction.pid();
    expect(pid).toBeDefined();
  });

  // After every fault each customer gets what was paid, once, and the function's process is still the same.
  afterEach(async () => {
    await Promise.all(customers.flatMap(({ send }) => Object.values(send).map(retryUntilSuccess)));
    await expectNothingHalfDone(project.database);
    for (const { user } of customers) {
      const mails = await readOutbox(project.database, 'email', user.email);
      expect(mails.map(({ kind }) => kind).sort()).toEqual(['payment-failed', 'payment-success']);
    }
    expect(project.edgeFunction.pid()).toBe(pid);
  });

  /** Sends requests of every customer without a pause until the fault is over. @returns all attempts */
  async function underLoad(fault: (attempts: readonly Attempt[]) => Promise<unknown>): Promise<Attempt[]> {
    let over = false;
    const attempts: Attempt[] = [];
    const senders = customers.map(async ({ send }) => {
      while (!over) attempts.push(...await Promise.all(Object.values(send).map((request) => request())));
    });
    await fault(attempts).finally(() => over = true);
    await Promise.all(senders);
    return attempts;
  }

  test('a database that hangs → 500 of each endpoint within 5 s', async () => {
    const thaw = await project.freezePostgres();
    try {
      const attempts = await Promise.all(
        customers.slice(0, 2).flatMap(({ send }) => [
          send.read(),
          send.verify(),
          send.webhook(),
        ]),
      );
      attempts.forEach(expectOutageAnswer);
    } finally {
      thaw();
    }
  });

  test('connections that are cut while requests are in flight → 200 or 500, and never a partial purchase', async () => {
    const attempts = await underLoad(async () => {
      for (let cut = 0; cut < 3;) {
        const killed = await project.database.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
         where pid <> pg_backend_pid() and state = 'active' and backend_type = 'client backend'`,
        );
        if (killed.length > 0) cut += 1;
      }
    });
    attempts.forEach(expectAnswer);
  });

  test('a database that restarts while requests are in flight → 200 or 500, and never a partial purchase', async () => {
    // A restart between two requests, or one that the retry survives, fails no request.
    const attempts = await underLoad(async (soFar) => {
      do await project.postgres.restart(); while (!soFar.some(({ status }) => status === 500));
    });
    attempts.forEach(expectAnswer);
  });
});
