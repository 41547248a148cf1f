import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createFunction, type EdgeFunction } from '../../scripts/stack/function/function.ts';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { functionEnvironment } from '../helpers/faults/fault-project.ts';
import { createCustomer, expectNothingHalfDone } from '../helpers/faults/fault-requests.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { seconds, subscriptionEvent } from '../helpers/gateway/events.ts';
import { enqueueMail, readSideEffect } from '../helpers/outbox/side-effects.ts';
import { createTestDispatcher } from '../helpers/outbox/test-dispatcher.ts';
import { startTestMailbox, type TestMailbox } from '../helpers/outbox/test-mailbox.ts';
import { useProject } from '../helpers/project/use-project.ts';

const project = useProject({ findings: { missed_webhook: 1 } });
let mailbox: TestMailbox;
let edgeFunction: EdgeFunction;
let killed: PromiseWithResolvers<void>;

/** The next cycle of a subscription whose cycle ends today, as the gateway tells it. Its times are whole seconds. */
const today = Math.floor(Date.now() / 1000) * 1000;
const day = (days: number) => new Date(today + days * 86_400_000).toISOString();
const charged = {
  status: 'active',
  plan_id: 'plan_pro',
  current_start: seconds(day(0)),
  current_end: seconds(day(30)),
};
/** Answers that the gateway still gives. The others hang until the function is killed. */
let answersLeft = 4;
let hanging = 0;
const gateway = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, async ({ url }) => {
  if (url.includes('/v1/invoices')) return Response.json({ items: [] });
  answersLeft -= 1;
  if (answersLeft < 0) {
    hanging += 1;
    await killed.promise;
  }
  return Response.json({ id: url.split('/').at(-1), ...charged });
});

beforeAll(async () => {
  mailbox = await startTestMailbox();
  const env = {
    ...functionEnvironment(project.apiUrl),
    ...mailbox.environment,
    GATEWAY_API_URL: `http://127.0.0.1:${gateway.addr.port}`,
    RECONCILE_CALLS_PER_SECOND: '1000',
  };
  edgeFunction = createFunction({ port: 0, env, log: () => {} });
  await start();
});
afterAll(async () => {
  await edgeFunction.stop();
  await gateway.shutdown();
  await mailbox.stop();
});

async function start(): Promise<void> {
  killed = Promise.withResolvers();
  await edgeFunction.start();
  await edgeFunction.ready();
}
const post = (endpoint: string) =>
  fetch(`${edgeFunction.url}/api/internal/${endpoint}`, {
    method: 'POST',
    headers: { 'x-internal-key': mailbox.environment.INTERNAL_KEY ?? '' },
  });

/** Kills the function when `moment` resolves, while requests are in flight, and starts it again. */
async function killAt(moment: () => Promise<unknown>, requests: Promise<unknown>[]) {
  const settled = Promise.allSettled(requests);
  await moment();
  Deno.kill(edgeFunction.pid() ?? NaN, 'SIGKILL');
  const results = await settled;
  await vi.waitFor(() => expect(edgeFunction.pid()).toBeUndefined());
  killed.resolve();
  await start();
  return results.map(({ status }) => status);
}

describe('a dispatcher', () => {
  const after = (seconds: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + seconds * 1000).toISOString();
  afterEach(async () => {
    await mailbox.clearFaults();
    await setClock(project.database, null);
  });

  test.each([['has accepted it', 1], ['has not', 0]])(
    'while the provider answers nothing and %s → another one sends the mail under the same key after the lease: one mail',
    async (_, before) => {
      await setClock(project.database, after(0));
      const to = `${crypto.randomUUID()}@example.com`;
      await mailbox.fail({ mode: 'hang', applied: before === 1, times: 1 });
      const key = await enqueueMail(project.database, { to });
      expect(await killAt(() => mailbox.untilFaultsApplied(), [post('outbox')])).toEqual(['rejected']);
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
});

test('during five verifies → each of them is complete or without effect, and succeeds when it is repeated', async () => {
  const running = {
    database: project.database,
    request: (path: string, init?: RequestInit) => fetch(edgeFunction.url + path, init),
  };
  const customers = await Promise.all(Array.from({ length: 5 }, () => createCustomer(running)));
  // One verify waits inside the database, so the function is killed while verifies are at different steps.
  const blocker = await project.database.connect();
  await blocker.query('begin');
  await blocker.query('select from auth.users where id = $1 for update', [customers[0]?.user.id]);
  const attempts = customers.map(({ send }) => send.verify());
  await killAt(() => Promise.any(attempts), attempts);
  await blocker.query('rollback');
  await expectNothingHalfDone(project.database);
  for (const { send } of customers) expect(await send.verify()).toMatchObject({ status: 200 });
  await expectNothingHalfDone(project.database);
  const { mails } = await project.database.one(
    "select count(*)::int as mails from billing.outbox where kind = 'payment-success' and payload ->> 'to' = any ($1)",
    [customers.map(({ user }) => user.email)],
  );
  expect(mails).toBe(5);
});

test('during a reconciliation → after its leases each subscription is renewed, once', async () => {
  const count = 12;
  await project.database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
  const service = await openSession(project.database, { role: 'service_role' });
  for (let n = 0; n < count; n += 1) {
    const userId = crypto.randomUUID();
    await project.database.query('insert into auth.users (id, email) values ($1, $2)', [userId, `${n}@example.com`]);
    const event = { userId, id: `sub_${n}`, planId: 'plan_pro', start: day(-30), end: day(0), createdAt: day(-30) };
    await deliver(service, subscriptionEvent({ name: 'activated', ...event }));
  }
  const renewed = async () =>
    (await project.database.one(
      `select count(*)::int as renewed from public.subscriptions
       where gateway_subscription_id is not null and current_period_end > now() + interval '20 days'`,
    )).renewed;
  const untilHanging = () =>
    vi.waitFor(async () => expect([hanging, await renewed()]).toEqual([5, 4]), { timeout: 20_000 });
  expect(await killAt(untilHanging, [post('reconcile')])).toEqual(['rejected']);
  answersLeft = Infinity;

  // As after five minutes: the lease of the run and those of its subscriptions have expired.
  await project.database.query(`
    update billing.scheduled_jobs set run_until = now();
    update billing.gateway_subscriptions set next_check_at = billing.clock() where checked_at is null`);
  const response = await post('reconcile');
  expect([response.status, await response.json()])
    .toEqual([200, { asked: count - 4, applied: count - 4, unanswered: 0 }]);
  expect(await renewed()).toBe(count);
  const events = `select count(*)::int as events, count(distinct subject_id)::int as subjects
    from billing.gateway_events where event = 'subscription.charged'`;
  expect(await project.database.one(events)).toEqual({ events: count, subjects: count });
});
