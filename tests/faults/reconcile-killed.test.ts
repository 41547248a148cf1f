import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createFunction, type EdgeFunction } from '../../scripts/stack/function/function.ts';
import { openSession } from '../helpers/database/session.ts';
import { functionEnvironment } from '../helpers/faults/fault-project.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { seconds, subscriptionEvent } from '../helpers/gateway/events.ts';
import { useProject } from '../helpers/project/use-project.ts';

const project = useProject({ findings: { missed_webhook: 1 } });
/** The cycle that ended today, and the next one. The gateway's times are whole seconds. */
const today = Math.floor(Date.now() / 1000) * 1000;
const day = (days: number) => new Date(today + days * 86_400_000).toISOString();
const [start, end, nextEnd] = [day(-30), day(0), day(30)];
const charged = { status: 'active', plan_id: 'plan_pro', current_start: seconds(end), current_end: seconds(nextEnd) };
/** How many subscriptions are due. */
const count = 30;

/** Answers that the gateway still gives. The others hang until the function is killed. */
let answersLeft = 12;
let hanging = 0;
const killed = Promise.withResolvers<void>();
const gateway = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, async ({ url }) => {
  if (url.includes('/v1/invoices')) return Response.json({ items: [] });
  answersLeft -= 1;
  if (answersLeft < 0) {
    hanging += 1;
    await killed.promise;
  }
  return Response.json({ id: url.split('/').at(-1), ...charged });
});
let edgeFunction: EdgeFunction;
beforeAll(async () => {
  const env = {
    ...functionEnvironment(project.apiUrl),
    GATEWAY_API_URL: `http://127.0.0.1:${gateway.addr.port}`,
    INTERNAL_KEY: 'internal-key',
    RECONCILE_CALLS_PER_SECOND: '1000',
  };
  edgeFunction = createFunction({ port: 0, env, log: () => {} });
  await edgeFunction.start();
  await edgeFunction.ready();
});
afterAll(async () => {
  await edgeFunction.stop();
  await gateway.shutdown();
});

const reconcile = () =>
  fetch(`${edgeFunction.url}/api/internal/reconcile`, {
    method: 'POST',
    headers: { 'x-internal-key': 'internal-key' },
  });
const renewed = async () =>
  (await project.database.one(
    "select count(*)::int as renewed from public.subscriptions where current_period_end > now() + interval '20 days'",
  )).renewed;

test('a function that is killed while it reconciles → after its leases each subscription is renewed, once', async () => {
  await project.database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
  const service = await openSession(project.database, { role: 'service_role' });
  for (let n = 0; n < count; n += 1) {
    const userId = crypto.randomUUID();
    await project.database.query('insert into auth.users (id, email) values ($1, $2)', [userId, `${n}@example.com`]);
    const event = { userId, id: `sub_${n}`, planId: 'plan_pro', start, end, createdAt: start };
    await deliver(service, subscriptionEvent({ name: 'activated', ...event }));
  }
  const settled = Promise.allSettled([reconcile()]);
  await vi.waitFor(async () => expect([hanging, await renewed()]).toEqual([5, 12]), { timeout: 20_000 });
  Deno.kill(edgeFunction.pid() ?? NaN, 'SIGKILL');
  expect(await settled).toMatchObject([{ status: 'rejected' }]);
  await vi.waitFor(() => expect(edgeFunction.pid()).toBeUndefined());
  killed.resolve();
  answersLeft = Infinity;

  // As after five minutes: the lease of the run and those of its subscriptions have expired.
  await project.database.query('update billing.scheduled_jobs set run_until = now()');
  await project.database.query(
    'update billing.gateway_subscriptions set next_check_at = billing.clock() where checked_at is null',
  );
  await edgeFunction.start();
  await edgeFunction.ready();
  const response = await reconcile();
  expect({ status: response.status, body: await response.json() }).toEqual({
    status: 200,
    body: { asked: count - 12, applied: count - 12, unanswered: 0 },
  });
  expect(await renewed()).toBe(count);
  expect(
    await project.database.one(
      "select count(*)::int as events, count(distinct subject_id)::int as subjects from billing.gateway_events where event = 'subscription.charged'",
    ),
  ).toEqual({ events: count, subjects: count });
});
