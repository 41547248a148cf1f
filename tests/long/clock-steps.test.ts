import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { moveClock } from '../../scripts/stack/clock/move-clock.ts';
import { readTarget } from '../../scripts/stack/clock/read-target.ts';
import { freeBasePort, npmStart, type RunningStack } from '../stack/running-stack.ts';
import { subscribe } from '../stack/subscriber.ts';

const port = freeBasePort();
let stack: RunningStack;
let env: Record<string, string>;
let sql: postgres.Sql;
beforeAll(async () => {
  stack = npmStart(['--port', String(port), '--ephemeral']);
  env = await stack.ready;
  sql = postgres(env.DB_URL ?? '', { max: 1, onnotice: () => {} });
});
afterAll(async () => {
  await sql.end({ timeout: 1 });
  await stack.end();
});

/** Moves the clock as `npm run clock` does. */
async function move(interval: string): Promise<void> {
  const target = await readTarget(sql, interval);
  if (target.status === 'refused') throw new Error(target.reason);
  const urls = { gatewayUrl: env.GATEWAY_URL ?? '', internalUrl: `${env.FUNCTIONS_URL}/api/internal` };
  await moveClock({ sql, ...urls, secretKey: env.SECRET_KEY ?? '' }, target.at);
}

/** Customers who do different things on their first day, each by a name. */
async function begin() {
  const customers = {
    stays: await subscribe(env, { tier: 'basic' }),
    cancels: await subscribe(env, { tier: 'basic' }),
    'cancels at once': await subscribe(env, { tier: 'basic' }),
    'has a card that fails twice': await subscribe(env, { tier: 'basic' }),
    'has a card that fails': await subscribe(env, { tier: 'basic' }),
    changes: await subscribe(env, { tier: 'basic' }),
    pauses: await subscribe(env, { tier: 'basic' }),
  };
  await customers.cancels.request('subscriptions/cancel', { at_period_end: true });
  await customers['cancels at once'].request('subscriptions/cancel', { at_period_end: false });
  await customers['has a card that fails twice'].simulate('subscription-fault', { charges: 'fail', times: 2 });
  await customers['has a card that fails'].simulate('subscription-fault', { charges: 'fail' });
  const { subscription } = await customers.changes.request('subscriptions/change', {
    price: 'pro_monthly',
    when: 'period_end',
  });
  await customers.changes.authorise(subscription.id);
  await customers.pauses.atGateway('/pause', {});
  return customers;
}

/** What became of each customer: the subjects of the mails, and what the gateway and the app have. */
async function endsOf(customers: Awaited<ReturnType<typeof begin>>) {
  const ends = Object.entries(customers).map(async ([name, { userId, request, atGateway }]) => {
    const { status, paid_count } = await atGateway();
    const { currentTier, payments, subscription: { ended_reason } } = await request('subscriptions');
    const mails = await sql`
      select o.kind from billing.outbox o where o.payload ->> 'to' = (select u.email from auth.users u where u.id = ${userId})
      order by o.kind`;
    const findings = await sql`select f.finding from billing.findings f where f.user_id = ${userId}`;
    const told = { mails: mails.map(({ kind }) => kind).join(), findings: findings.map(({ finding }) => finding) };
    return [name, { status, paid_count, currentTier, ended_reason, payments: payments.length, ...told }] as const;
  });
  return Object.fromEntries(await Promise.all(ends));
}

test('one jump of 40 days ends as 40 steps of a day do', async () => {
  const jumped = await begin();
  await move('40 days');
  const ends = await endsOf(jumped);
  expect(ends).toMatchObject({
    stays: { status: 'active', paid_count: 2, currentTier: 'basic' },
    cancels: { status: 'cancelled', paid_count: 1, currentTier: 'free' },
    'cancels at once': { status: 'cancelled', paid_count: 1, currentTier: 'free' },
    'has a card that fails': { status: 'halted', paid_count: 1, currentTier: 'free' },
    changes: { status: 'cancelled', paid_count: 1, currentTier: 'pro' },
  });
  const walked = await begin();
  for (let step = 0; step < 40; step += 1) await move('1 day');
  expect(await endsOf(walked)).toEqual(ends);
}, 600_000);
