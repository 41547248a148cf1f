import { expect } from 'vitest';
import { startReceiver } from './receiver.ts';
import { countRows, emptyOutbox, enqueueMails } from './side-effects.ts';
import { createTestDispatcher, receiverEnvironment } from './test-dispatcher.ts';
import type { Project } from '../project/project.ts';

/** Runs several dispatchers at once on the same mails, and asserts that each mail is sent exactly once. */
export async function expectSentOnce(project: Project, dispatchers: number, mails: number): Promise<void> {
  const provider = startReceiver();
  try {
    await emptyOutbox(project.database);
    await enqueueMails(project.database, mails);
    const environment = { ...receiverEnvironment(provider.url), REVALIDATE_URL: '' };
    const counts = await Promise.all(
      Array.from({ length: dispatchers }, () => deliverAll(createTestDispatcher(project.apiUrl, environment))),
    );
    // Each dispatcher delivered some rows.
    for (const delivered of counts) expect(delivered).toBeGreaterThan(0);
    expect(counts.reduce((sum, delivered) => sum + delivered, 0)).toBe(mails);

    expect(await countRows(project.database)).toEqual({ pending: 0, delivered: mails, parked: 0 });
    const keys = provider.arrivals.map(({ headers }) => headers.get('idempotency-key'));
    expect([keys.length, new Set(keys).size]).toEqual([mails, mails]);
    const twice = 'select key from billing.outbox where attempts <> 1 or cardinality(claims) <> 1';
    expect(await project.database.query(twice)).toEqual([]);
  } finally {
    await provider.stop();
  }
}

/** Dispatches until no row is pending. @returns how many rows this dispatcher delivered */
async function deliverAll(dispatcher: ReturnType<typeof createTestDispatcher>): Promise<number> {
  let sum = 0;
  for (;;) {
    const { delivered, next_attempt_at: next } = await dispatcher.dispatch();
    sum += delivered;
    if (next === null) return sum;
  }
}
