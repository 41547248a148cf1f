import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createFunction, type EdgeFunction } from '../../scripts/stack/function/function.ts';
import { setClock } from '../helpers/database/clock.ts';
import { functionEnvironment } from '../helpers/faults/fault-project.ts';
import { enqueueMail, readSideEffect } from '../helpers/outbox/side-effects.ts';
import { createTestDispatcher } from '../helpers/outbox/test-dispatcher.ts';
import { startTestMailbox, type TestMailbox } from '../helpers/outbox/test-mailbox.ts';
import { useProject } from '../helpers/project/use-project.ts';

const project = useProject();
let mailbox: TestMailbox;
let edgeFunction: EdgeFunction;

beforeAll(async () => {
  mailbox = await startTestMailbox();
  const env = { ...functionEnvironment(project.apiUrl), ...mailbox.environment };
  edgeFunction = createFunction({ port: 0, env, log: () => {} });
  await start();
});
afterEach(async () => {
  await mailbox.clearFaults();
  await setClock(project.database, null);
});
afterAll(async () => {
  await edgeFunction.stop();
  await mailbox.stop();
});

async function start(): Promise<void> {
  await edgeFunction.start();
  await edgeFunction.ready();
}

/** Kills the function when `moment` resolves, while requests are in flight, and starts it again. */
async function killAt(moment: () => Promise<unknown>, requests: Promise<unknown>[]) {
  const settled = Promise.allSettled(requests);
  await moment();
  Deno.kill(edgeFunction.pid() ?? NaN, 'SIGKILL');
  const results = await settled;
  await vi.waitFor(() => expect(edgeFunction.pid()).toBeUndefined(), 30_000);
  await start();
  return results.map(({ status }) => status);
}

test.each([['accepted', 1], ['did not accept', 0]])(
  'during a delivery of a mail that the provider %s → another dispatcher sends it under the same key after the lease: one mail',
  async (_, before) => {
    const after = (seconds: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + seconds * 1000).toISOString();
    await setClock(project.database, after(0));
    const to = `${crypto.randomUUID()}@example.com`;
    await mailbox.fail({ mode: 'hang', applied: before === 1, times: 1 });
    const key = await enqueueMail(project.database, { to });
    const headers = { 'x-internal-key': mailbox.environment.INTERNAL_KEY ?? '' };
    const dispatching = fetch(`${edgeFunction.url}/api/internal/outbox`, { method: 'POST', headers });
    expect(await killAt(() => mailbox.untilFaultsApplied(), [dispatching])).toEqual(['rejected']);
    expect(await mailbox.mailsTo(to)).toHaveLength(before);
    const claimed = { state: 'pending', claims: 1, next_attempt_at: after(60) };
    expect(await readSideEffect(project.database, key)).toMatchObject(claimed);

    const other = createTestDispatcher(project.apiUrl, mailbox.environment);
    await setClock(project.database, after(59.999));
    expect(await other.dispatch()).toMatchObject({ delivered: 0, next_attempt_at: after(60) });
    await setClock(project.database, after(60));
    expect(await other.dispatch()).toEqual({ delivered: 1, retried: 0, parked: 0, next_attempt_at: null });
    expect(await readSideEffect(project.database, key)).toMatchObject({ state: 'delivered', claims: 2, attempts: 2 });
    expect((await mailbox.mailsTo(to)).map((mail) => mail.idempotency_key)).toEqual([key]);
  },
);
