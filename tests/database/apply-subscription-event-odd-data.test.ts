import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { readSubscription } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

const january = { start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' };
const february = { start: '2126-02-01T00:00:00Z', end: '2126-03-01T00:00:00Z' };
const event = (event: SubscriptionEvent) => deliver(service, subscriptionEvent(event));

/** A customer who bought pro before all events, with an id for a gateway subscription. */
async function customer() {
  const user = await createUser(database);
  const { orderId } = await createPayment(database, { userId: user.id });
  await setClock(database, '2025-12-15T00:00:00Z');
  await callRpc(service, 'verify_payment', user.id, orderId, uniqueId('pay'), 'signature');
  await setClock(database, null);
  return { userId: user.id, id: uniqueId('sub') };
}

const odd = (name: string, change: (entity: Record<string, unknown>) => void, userId: string) => {
  const body = JSON.parse(subscriptionEvent({ name: 'charged', userId, ...february }));
  body.event = `subscription.${name}`;
  change(body.payload.subscription.entity);
  return JSON.stringify(body);
};

test.each<[string, unknown]>([
  ['a list', []],
  ['null', null],
  ['nothing', undefined],
  ['no user', { plan: 'pro' }],
  ['a number', { user_id: 7 }],
  ['an empty text', { user_id: '' }],
  ['no uuid', { user_id: 'user_1' }],
  ['a uuid in braces', { user_id: '{00000000-0000-0000-0000-000000000000}' }],
])('an event whose notes are or contain %s: ignored', async (_, notes) => {
  for (const name of ['activated', 'charged', 'cancelled']) {
    const body = odd(name, (entity) => entity.notes = notes, crypto.randomUUID());
    expect(await deliver(service, body), name).toBe('ignored: subscription.entity.notes.user_id');
  }
});

test.each([null, '1767225600', 1.5, -1, 253402300800, true, [1]])(
  'an end %j: ignored, nothing updated',
  async (end) => {
    const of = await customer();
    const before = await readSubscription(database, of.userId);
    for (const name of ['activated', 'charged']) {
      const body = odd(name, (entity) => entity.current_end = end, of.userId);
      expect(await deliver(service, body), name).toBe('ignored: subscription.entity.current_start, current_end');
    }
    expect(await readSubscription(database, of.userId)).toEqual(before);
  },
);

test('a period at the bounds, 1970 and 9999, is accepted', async () => {
  const of = await customer();
  const body = odd(
    'charged',
    (entity) => Object.assign(entity, { current_start: 0, current_end: 253402300799 }),
    of.userId,
  );
  expect(await deliver(service, body)).toBe('applied');
  expect(await readSubscription(database, of.userId)).toMatchObject({
    start: '1970-01-01T00:00:00.000Z',
    end: '9999-12-31T23:59:59.000Z',
  });
});

test('activated before the first cycle, with both ends null, sets only status and id', async () => {
  const of = await customer();
  const before = await readSubscription(database, of.userId);
  expect(await event({ name: 'activated', ...of })).toBe('applied');
  expect(await readSubscription(database, of.userId)).toEqual({ ...before, gateway_subscription_id: of.id });
});

test('an event of a user who does not exist: unmatched', async () => {
  const userId = crypto.randomUUID();
  for (const name of ['activated', 'charged', 'cancelled'] as const) {
    expect(await event({ name, userId, planId: 'plan_gateway', ...january }), name).toBe('unmatched');
  }
});
