import { afterEach, describe, expect, test } from 'vitest';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { refusal } from '../helpers/http/answer.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { sampleOf } from '../helpers/project/is-long.ts';
import { useProject } from '../helpers/project/use-project.ts';

const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }));
const unavailable = refusal(502, 'Payment gateway unavailable');
const outages = [
  ['answers 503', { mode: 'status', status: 503 }],
  ['closes the connection', { mode: 'close' }],
  ['answers no JSON', { mode: 'garbage' }],
  ['hangs', { mode: 'hang' }],
] as const;

afterEach(() => billing.mend());

const read = async (user: SignedUpUser) => (await billing.send(user, 'subscriptions')).body;
const mailsOf = ({ email }: SignedUpUser) =>
  billing.database.query("select kind from billing.outbox where payload ->> 'to' = $1", [email]);

/** A user with a subscription whose first cycle is paid. */
async function subscribed(): Promise<{ user: SignedUpUser; id: string }> {
  const user = await billing.newUser();
  const id = await billing.subscribe(user);
  await billing.approve(id);
  expect(await read(user)).toMatchObject({ currentTier: 'basic' });
  return { user, id };
}

describe.each(['/v1/subscriptions/:id', '/v1/payments/:id'])(
  'verify with a subscription while the gateway at GET %s',
  (path) => {
    test.each(sampleOf(path.includes('payments') ? outages.slice(0, 3) : outages, 1))(
      '%s → 502, nothing is granted; then 200 and one mail',
      async (_, fault) => {
        const user = await billing.newUser();
        const id = await billing.subscribe(user);
        billing.silent.add(id);
        const paid = await billing.approve(id);
        await billing.breakApi({ method: 'GET', path, ...fault });
        expect(await billing.send(user, 'payments/verify', paid)).toEqual(unavailable);
        expect(await read(user)).toMatchObject({ currentTier: 'free', subscription: null });
        await billing.mend();
        expect(await billing.send(user, 'payments/verify', paid)).toMatchObject({ status: 200 });
        expect(await billing.send(user, 'payments/verify', paid)).toMatchObject({ status: 200 });
        expect(await read(user)).toMatchObject({ currentTier: 'basic' });
        expect(await mailsOf(user)).toEqual([{ kind: 'payment-success' }]);
      },
    );
  },
);

describe.each([true, false])('POST /api/subscriptions/cancel with at_period_end %s', (atPeriodEnd) => {
  test.each(sampleOf(
    [
      ['answers 503', { mode: 'status', status: 503 }],
      ['does it and closes the connection', { mode: 'close', applied: true }],
      ['answers 429', { mode: 'status', status: 429, retry_after: 30 }],
    ] as const,
    1,
  ))('while the gateway %s → 200; the gateway is told once it answers', async (_, fault) => {
    const { user, id } = await subscribed();
    await billing.breakApi({ method: 'POST', path: '/v1/subscriptions/:id/cancel', ...fault });
    expect(await billing.send(user, 'subscriptions/cancel', { at_period_end: atPeriodEnd })).toMatchObject({
      status: 200,
    });
    expect(await read(user)).toMatchObject({ currentTier: atPeriodEnd ? 'basic' : 'free' });
    // The first attempts are made 47 hours before the end of the cycle.
    const [{ current_end = 0 } = {}] = await billing.atGateway(user);
    await billing.moveOn(atPeriodEnd ? Math.floor((current_end - await now()) / 3600) - 47 : 1);
    await billing.runSchedule();
    await billing.moveOn(1);
    await billing.mend();
    await billing.runSchedule();
    await billing.moveOn(atPeriodEnd ? 47 : 1);
    await billing.runSchedule();
    expect(await billing.atGateway(user)).toMatchObject([{ id, status: 'cancelled', paid_count: 1 }]);
    expect(await read(user)).toMatchObject({ currentTier: 'free', subscription: { status: 'cancelled' } });
  });
});

test.each(sampleOf(outages.slice(0, 2), 0))(
  'reconciliation while the gateway %s: no state changes; the next one applies it',
  async (_, fault) => {
    const user = await billing.newUser();
    const id = await billing.subscribe(user);
    billing.silent.add(id);
    await billing.approve(id);
    await billing.moveOn(0.2);
    await billing.breakApi(fault);
    await billing.runSchedule();
    expect(await read(user)).toMatchObject({ currentTier: 'free', subscription: null });
    await billing.mend();
    await billing.moveOn(0.1);
    await billing.runSchedule();
    expect(await read(user)).toMatchObject({ currentTier: 'basic' });

    await billing.moveOn(31 * 24);
    await billing.breakApi(fault);
    await billing.runSchedule();
    await billing.moveOn(72);
    await billing.runSchedule();
    expect(await read(user)).toMatchObject({ currentTier: 'basic', subscription: { status: 'active' } });
    await billing.mend();
    await billing.moveOn(0.1);
    await billing.runSchedule();
    const { subscription } = await read(user);
    const [{ current_end = 0 } = {}] = await billing.atGateway(user);
    expect(Date.parse(subscription.current_period_end) / 1000).toBe(current_end);
  },
);

async function now(): Promise<number> {
  return Number((await billing.database.one('select extract(epoch from billing.clock())::integer as now')).now);
}
