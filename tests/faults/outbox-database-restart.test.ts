import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { type FaultProject, startFaultProject } from '../helpers/faults/fault-project.ts';
import { accept, startReceiver } from '../helpers/outbox/receiver.ts';
import { countRows, enqueueMails } from '../helpers/outbox/side-effects.ts';
import { receiverEnvironment } from '../helpers/outbox/test-dispatcher.ts';

describe.each(['REST', 'the pool'] as const)('over %s', (transport) => {
  const provider = startReceiver();
  let project: FaultProject;
  beforeAll(async () => {
    project = await startFaultProject({ ...receiverEnvironment(provider.url), REVALIDATE_URL: '' }, transport);
  });
  afterAll(async () => {
    await project.stop();
    await provider.stop();
  });

  const mails = 100;
  const patience = { timeout: 30_000, interval: 50 };

  function dispatch(): Promise<Response> {
    return project.request('/api/internal/outbox', { method: 'POST', headers: { 'x-internal-key': 'internal-key' } });
  }

  test('a database that restarts during the delivery of a hundred mails → all are delivered, at most one batch twice', async () => {
    const released = Promise.withResolvers<void>();
    provider.answer = async (arrival) => {
      await released.promise;
      return accept(arrival);
    };
    await enqueueMails(project.database, mails);
    const dispatching = dispatch();
    await vi.waitFor(() => expect(provider.arrivals.length).toBeGreaterThan(0), patience);
    await project.postgres.restart();
    released.resolve();
    // The result depends on how soon the API answers again, so the test does not check it.
    await (await dispatching).body?.cancel();

    // After this time every claimed row is due again.
    await vi.waitFor(() => setClock(project.database, new Date(Date.now() + 120_000).toISOString()), patience);
    await vi.waitFor(async () => {
      await (await dispatch()).body?.cancel();
      expect(await countRows(project.database)).toEqual({ pending: 0, delivered: mails, parked: 0 });
    }, patience);

    const keys = provider.arrivals.map(({ headers }) => headers.get('idempotency-key'));
    const wanted = Array.from({ length: mails }, (_, index) => `payment-success/${index + 1}`);
    expect([...new Set(keys)].sort()).toEqual(wanted.sort());
    expect(keys.length).toBeLessThanOrEqual(mails + 20);
  });
});
