import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createFunction, type EdgeFunction } from '../../scripts/stack/function/function.ts';
import { setClock } from '../helpers/database/clock.ts';
import { functionEnvironment } from '../helpers/faults/fault-project.ts';
import { type ApiProxy, startApiProxy } from '../helpers/http/api-proxy.ts';
import { emptyOutbox, enqueueMail, readSideEffect } from '../helpers/outbox/side-effects.ts';
import { createTestDispatcher } from '../helpers/outbox/test-dispatcher.ts';
import { startTestMailbox } from '../helpers/outbox/test-mailbox.ts';
import { useProject } from '../helpers/project/use-project.ts';

const project = useProject();
const mailbox = await startTestMailbox();
afterAll(() => mailbox.stop());

const start = Date.parse('2026-01-01T00:00:00Z');
const after = (seconds: number) => new Date(start + seconds * 1000).toISOString();

let proxy: ApiProxy;
let edgeFunction: EdgeFunction;
/** Resolves when the function reports a delivered batch to the database. The report gets no answer. */
let completing: PromiseWithResolvers<void>;
let killed: PromiseWithResolvers<void>;

beforeEach(async () => {
  await setClock(project.database, after(0));
  await emptyOutbox(project.database);
  completing = Promise.withResolvers();
  killed = Promise.withResolvers();
  proxy = startApiProxy(() => project.apiUrl, async (request, forwardRequest) => {
    if (!request.url.endsWith('/complete_outbox')) return await forwardRequest();
    completing.resolve();
    await killed.promise;
    return new Response(null, { status: 503 });
  });
  const env = { ...functionEnvironment(proxy.url), ...mailbox.environment };
  edgeFunction = createFunction({ port: 0, env, log: () => {} });
  await edgeFunction.start();
  await edgeFunction.ready();
});
afterEach(async () => {
  killed.resolve();
  await edgeFunction.stop();
  await proxy.stop();
  await mailbox.clearFaults();
  await setClock(project.database, null);
});

/** Starts a dispatch in the function and kills the function when `moment` resolves. */
async function killAt(moment: () => Promise<void>): Promise<void> {
  const headers = { 'x-internal-key': mailbox.environment.INTERNAL_KEY ?? '' };
  const request = fetch(`${edgeFunction.url}/api/internal/outbox`, { method: 'POST', headers });
  const settled = Promise.allSettled([request]);
  await moment();
  Deno.kill(edgeFunction.pid() ?? NaN, 'SIGKILL');
  expect(await settled).toMatchObject([{ status: 'rejected' }]);
  await vi.waitFor(() => expect(edgeFunction.pid()).toBeUndefined());
  killed.resolve();
}

/** Another dispatcher finds nothing before the lease expires, and delivers the row afterwards. */
async function expectTakenOver(key: string): Promise<void> {
  const other = createTestDispatcher(project.apiUrl, mailbox.environment);
  await setClock(project.database, after(59.999));
  expect(await other.dispatch()).toEqual({ delivered: 0, retried: 0, parked: 0, next_attempt_at: after(60) });
  await setClock(project.database, after(60));
  expect(await other.dispatch()).toEqual({ delivered: 1, retried: 0, parked: 0, next_attempt_at: null });
  expect(await readSideEffect(project.database, key)).toMatchObject({ state: 'delivered', claims: 2, attempts: 2 });
}

test('a dispatcher killed between delivery and completion → sent again under the same key, one mail', async () => {
  const to = 'between@example.com';
  const key = await enqueueMail(project.database, { to });
  await killAt(() => completing.promise);
  expect(await mailbox.mailsTo(to)).toHaveLength(1);
  expect(await readSideEffect(project.database, key)).toMatchObject({
    state: 'pending',
    claims: 1,
    next_attempt_at: after(60),
  });
  await expectTakenOver(key);
  expect((await mailbox.mailsTo(to)).map((mail) => mail.idempotency_key)).toEqual([key]);
});

test('a dispatcher killed while it waits for the answer to a mail that the provider accepted → one mail', async () => {
  const to = 'taken@example.com';
  await mailbox.fail({ mode: 'hang', times: 1, applied: true });
  const key = await enqueueMail(project.database, { to });
  await killAt(() => mailbox.untilFaultsApplied());
  expect(await mailbox.mailsTo(to)).toHaveLength(1);
  expect(await readSideEffect(project.database, key)).toMatchObject({ state: 'pending', claims: 1 });
  await expectTakenOver(key);
  expect((await mailbox.mailsTo(to)).map((mail) => mail.idempotency_key)).toEqual([key]);
});

test('a dispatcher killed while it waits for the answer to a mail that the provider did not accept → one mail', async () => {
  const to = 'not-taken@example.com';
  await mailbox.fail({ mode: 'hang', times: 1 });
  const key = await enqueueMail(project.database, { to });
  await killAt(() => mailbox.untilFaultsApplied());
  expect(await mailbox.mailsTo(to)).toEqual([]);
  await expectTakenOver(key);
  expect(await mailbox.mailsTo(to)).toHaveLength(1);
});
