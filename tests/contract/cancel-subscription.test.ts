import { expect, test } from 'vitest';
import type { Buyer } from '../helpers/http/caller.ts';
import { call, refusal, verify } from '../helpers/http/requests.ts';
import { poolThenRest, useProject, useService } from '../helpers/project/use-project.ts';
import { readCancellation, readTier } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

const project = useProject();
const { database, newBuyer, newUser, unchanged } = project;
const service = useService(poolThenRest, project);

type User = { readonly accessToken: string };
const cancel = (user: User, body: unknown) => call(service, 'POST /api/subscriptions/cancel', { user, body });
const resume = (user: User) => call(service, 'POST /api/subscriptions/resume', { user });
const notFound = refusal(404, 'Subscription not found');
const noResume = refusal(409, 'Cannot be resumed');

/** A user who bought pro, with a gateway subscription attached by hand. */
async function subscriber(): Promise<Buyer & { readonly gatewayId: string }> {
  const buyer = await newBuyer();
  expect((await verify(service, buyer.accessToken, buyer.paid)).status).toBe(200);
  const gatewayId = uniqueId('sub');
  const attach = 'update public.subscriptions set gateway_subscription_id = $2 where user_id = $1';
  await database.query(attach, [buyer.id, gatewayId]);
  return { ...buyer, gatewayId };
}

test('POST /api/subscriptions/cancel and /resume → 401 without a session, 404 without a subscription', async () => {
  for (const path of ['cancel', 'resume']) {
    expect(await call(service, `POST /api/subscriptions/${path}`, { body: { at_period_end: true } }))
      .toEqual(refusal(401, 'Unauthorized'));
  }
  const user = await newUser();
  expect(await cancel(user, { at_period_end: false })).toEqual(notFound);
  expect(await resume(user)).toEqual(notFound);
});

test('POST /api/subscriptions/cancel with an invalid body → 400 with details, nothing written', async () => {
  const user = await subscriber();
  await unchanged(async () => {
    for (const body of [{}, { at_period_end: 'true' }, []]) {
      expect(await cancel(user, body)).toMatchObject({ status: 400, body: { error: 'Invalid request', details: {} } });
    }
  });
});

test('POST /api/subscriptions/cancel at once → 200; cancelled, profile free, cancellation at the gateway enqueued', async () => {
  const user = await subscriber();
  const subscription = { status: 'cancelled', ended_reason: 'cancelled', plan: { tier: 'pro' } };
  expect(await cancel(user, { at_period_end: false })).toMatchObject({ status: 200, body: { subscription } });
  expect(await readTier(database, user.id)).toBe('free');
  expect(await readCancellation(database, user.gatewayId)).toEqual({ at: 'once', state: 'pending' });
  expect(await cancel(user, { at_period_end: false })).toEqual(notFound);
  expect(await resume(user)).toEqual(noResume);
});

test('POST /api/subscriptions/resume of what ends with the period → 200, withdrawn; after the gateway has the cancellation → 409', async () => {
  const user = await subscriber();
  const cancellation = () => readCancellation(database, user.gatewayId);
  const ending = { status: 'active', cancel_at_period_end: true, cancelled_at: null };
  const cancelled = { status: 200, body: { subscription: ending } };
  const resumed = { status: 200, body: { subscription: { status: 'active', cancel_at_period_end: false } } };
  expect(await cancel(user, { at_period_end: true })).toMatchObject(cancelled);
  expect(await readTier(database, user.id)).toBe('pro');
  expect(await cancellation()).toEqual({ at: 'cycle end', state: 'pending' });

  for (const _ of [1, 2]) expect(await resume(user)).toMatchObject(resumed);
  expect(await cancellation()).toMatchObject({ state: 'withdrawn' });
  expect(await cancel(user, { at_period_end: true })).toMatchObject(cancelled);
  expect(await cancellation()).toMatchObject({ state: 'pending' });

  const deliver = 'update billing.outbox set attempts = 1, delivered_at = now() where key = $1';
  await database.query(deliver, [`cancel-subscription/${user.gatewayId}`]);
  await unchanged(async () => expect(await resume(user)).toEqual(noResume));
});
