import { afterEach, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import type { Buyer } from '../helpers/http/caller.ts';
import { call, refusal, verify } from '../helpers/http/requests.ts';
import { poolThenRest, useProject, useService } from '../helpers/project/use-project.ts';
import { readCancellation, readTier } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

const project = useProject();
const { database, newBuyer, newUser, unchanged } = project;
const service = useService(poolThenRest, project);
afterEach(() => setClock(database, null));

type User = { readonly accessToken: string };
const cancel = (user: User, body: unknown) => call(service, 'POST /api/subscriptions/cancel', { user, body });
const resume = (user: User) => call(service, 'POST /api/subscriptions/resume', { user });
const notFound = refusal(404, 'Subscription not found');
const noResume = refusal(409, 'Cannot be resumed');

/** A user who bought pro, with a gateway subscription attached by hand. */
async function subscriber(): Promise<Buyer & { readonly id: string; readonly gatewayId: string }> {
  const buyer = await newBuyer();
  expect((await verify(service, buyer.accessToken, buyer.paid)).status).toBe(200);
  const gatewayId = uniqueId('sub');
  await database.query('update public.subscriptions set gateway_subscription_id = $2 where user_id = $1', [
    buyer.id,
    gatewayId,
  ]);
  return { ...buyer, gatewayId };
}
const cancellation = (id: string) => readCancellation(database, id);

test('POST /api/subscriptions/cancel and /resume without a session → 401', async () => {
  for (const path of ['cancel', 'resume']) {
    expect(await call(service, `POST /api/subscriptions/${path}`, { body: { at_period_end: true } }))
      .toEqual(refusal(401, 'Unauthorized'));
  }
});

test('POST /api/subscriptions/cancel with an invalid body → 400 with details, nothing written', async () => {
  const user = await subscriber();
  await unchanged(async () => {
    for (const body of [{}, { at_period_end: 'true' }, { at_period_end: null }, []]) {
      expect(await cancel(user, body)).toMatchObject({ status: 400, body: { error: 'Invalid request', details: {} } });
    }
  });
});

test('POST /api/subscriptions/cancel and /resume without a subscription → 404', async () => {
  const user = await newUser();
  expect(await cancel(user, { at_period_end: false })).toEqual(notFound);
  expect(await resume(user)).toEqual(notFound);
});

test('POST /api/subscriptions/cancel at once → 200; cancelled, profile free, cancellation at the gateway enqueued', async () => {
  const user = await subscriber();
  const subscription = { status: 'cancelled', ended_reason: 'cancelled', plan: { tier: 'pro' } };
  expect(await cancel(user, { at_period_end: false })).toMatchObject({ status: 200, body: { subscription } });
  expect(await readTier(database, user.id)).toBe('free');
  expect(await cancellation(user.gatewayId)).toEqual({ at: 'once', state: 'pending' });
  expect(await cancel(user, { at_period_end: false })).toEqual(notFound);
  expect(await resume(user)).toEqual(noResume);
});

test('POST /api/subscriptions/cancel at the period end → 200; the tier stays, the gateway is told 48 hours before', async () => {
  await setClock(database, '2027-01-10T12:00:00Z');
  const user = await subscriber();
  const subscription = { status: 'active', cancel_at_period_end: true, cancelled_at: null };
  expect(await cancel(user, { at_period_end: true })).toMatchObject({ status: 200, body: { subscription } });
  expect(await readTier(database, user.id)).toBe('pro');
  expect(await cancellation(user.gatewayId)).toEqual({ at: 'cycle end', state: 'pending' });
  const { due } = await database.one(
    'select billing.iso_time(next_attempt_at) as due from billing.outbox where key = $1',
    [`cancel-subscription/${user.gatewayId}`],
  );
  expect(due).toBe('2028-01-08T12:00:00.000Z');
});

test('POST /api/subscriptions/resume before the gateway has the cancellation → 200, withdrawn; cancelled again → enqueued again', async () => {
  const user = await subscriber();
  await cancel(user, { at_period_end: true });
  const subscription = { status: 'active', cancel_at_period_end: false };
  expect(await resume(user)).toMatchObject({ status: 200, body: { subscription } });
  expect(await cancellation(user.gatewayId)).toMatchObject({ state: 'withdrawn' });
  expect(await resume(user)).toMatchObject({ status: 200 });
  await cancel(user, { at_period_end: true });
  expect(await cancellation(user.gatewayId)).toMatchObject({ state: 'pending' });
});

test('POST /api/subscriptions/resume after the gateway has the cancellation → 409, nothing written', async () => {
  const user = await subscriber();
  await cancel(user, { at_period_end: true });
  await database.query('update billing.outbox set attempts = 1, delivered_at = now() where key = $1', [
    `cancel-subscription/${user.gatewayId}`,
  ]);
  await unchanged(async () => expect(await resume(user)).toEqual(noResume));
});
