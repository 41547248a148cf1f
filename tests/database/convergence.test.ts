import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { isLong } from '../helpers/project/is-long.ts';
import { permutations, seededRandom, shuffle } from '../helpers/orderings/permutations.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // The random histories have charges after cancellations and after newer activations.
  database = await createTestDatabase({
    findings: { charged_after_cancellation: 'any', charged_after_replacement: 'any', paid_twice: 'any' },
  });
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
});
afterAll(() => database.close());

type Step = Omit<SubscriptionEvent, 'userId'>;

/**
 * An event of `sub` (a letter) on a day of January 2026. `months` is its period, counted from January 2126, or null
 * for none.
 */
function step(name: Step['name'], day: number, months: [number, number] | null = null, sub = 'A', plan = 'pro'): Step {
  const month = (number: number) => new Date(Date.UTC(2126, number)).toISOString();
  return {
    name,
    id: sub,
    planId: `plan_${plan}`,
    createdAt: `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`,
    ...(months ? { start: month(months[0]), end: month(months[1]) } : {}),
  };
}

/** Delivers the events in that order to a new user, with or without a purchase before. @returns the resulting state */
async function outcomeOf(steps: readonly Step[], purchase: boolean): Promise<Record<string, unknown>> {
  const { id: userId } = await createUser(database);
  const suffix = uniqueId('');
  if (purchase) {
    const { orderId } = await createPayment(database, { userId });
    await setClock(database, '2025-12-31T00:00:00Z');
    await callRpc(service, 'verify_payment', userId, orderId, uniqueId('pay'), 'signature');
  }
  // Close to the events: for an arrival within the gateway's retries the time of the event counts.
  await setClock(database, '2026-01-08T00:00:00Z');
  const bodies = new Map<Step, string>();
  for (const step of steps) {
    const body = bodies.get(step) ?? subscriptionEvent({ ...step, userId, id: `sub_${step.id}${suffix}` });
    bodies.set(step, body);
    await deliver(service, body);
  }
  const subscription = await readSubscription(database, userId);
  const id = subscription?.gateway_subscription_id;
  return {
    ...subscription,
    ...(typeof id === 'string' ? { gateway_subscription_id: id.replace(suffix, '') } : {}),
    profileTier: await readTier(database, userId),
  };
}

const histories: [string, Step[]][] = [
  ['a subscription that is activated and charged twice, then cancelled', [
    step('activated', 1, [0, 1]),
    step('charged', 1, [0, 1]),
    step('charged', 2, [1, 2]),
    step('cancelled', 3),
  ]],
  ['one that is halted and activated again', [
    step('activated', 1, [0, 1]),
    step('charged', 2, [1, 2]),
    step('cancelled', 3),
    step('activated', 4, [2, 3]),
    step('charged', 5, [3, 4]),
  ]],
  ['everything within one second', [
    step('activated', 1, [0, 1]),
    step('charged', 1, [0, 1]),
    step('charged', 1, [1, 2]),
    step('cancelled', 1),
  ]],
  ['two periods of one end within one second', [
    step('activated', 1, [0, 3]),
    step('charged', 1, [1, 3]),
    step('charged', 1, [2, 3]),
  ]],
  ['one that is activated before its first cycle', [
    step('activated', 1),
    step('charged', 2, [0, 1]),
    step('charged', 3, [1, 2]),
    step('cancelled', 4),
  ]],
  ['one whose first period was over when it arrived', [
    step('activated', 1, [-1300, -1299]),
    step('charged', 2, [0, 1]),
    step('charged', 3, [1, 2]),
  ]],
  ['one that was cancelled and paid again after its period was over', [
    step('activated', 1, [-1300, -1299]),
    step('cancelled', 2),
    step('activated', 3, [-1299, -1298]),
    step('charged', 4, [0, 1]),
  ]],
  ['a second one after the first was cancelled', [
    step('activated', 1, [0, 1]),
    step('cancelled', 2),
    step('activated', 3, [1, 2], 'B'),
    step('charged', 4, [2, 3], 'B'),
  ]],
  ['a second one before the first was cancelled', [
    step('activated', 1, [0, 1]),
    step('activated', 2, [0, 6], 'B'),
    step('cancelled', 3),
    step('charged', 4, [6, 12], 'B'),
  ]],
  ['a second one that ends before the first', [
    step('activated', 1, [0, 1]),
    step('activated', 2, [0, 6], 'B'),
    step('cancelled', 3, null, 'B'),
    step('charged', 4, [1, 2]),
  ]],
  ['a second one of another plan', [
    step('activated', 1, [0, 1]),
    step('charged', 2, [1, 2]),
    step('activated', 3, [0, 6], 'B', 'premium'),
    step('cancelled', 4),
  ]],
  ['one whose plan changes', [
    step('activated', 1, [0, 1]),
    step('charged', 1, [0, 1]),
    step('charged', 2, [1, 2], 'A', 'premium'),
  ]],
];

describe.each([['without a purchase before', false], ['after a purchase', true]])('%s', (_, purchase) => {
  test.each(histories)('%s: every order of arrival gives the same result', async (_, steps) => {
    const expected = await outcomeOf(steps, purchase);
    // Four steps have 24 orders, five have 120: `npm test` runs four and six of them.
    const share = isLong ? 1 : [1, 1, 1, 1, 6, 20][steps.length] ?? 1;
    const orders = permutations(steps).filter((_, index) => index % share === 0);
    for (const order of orders) {
      expect(await outcomeOf(order, purchase), describeOrder(order)).toEqual(expected);
    }
  });
});

test('each history gives the result of its events in the order in which they happened', async () => {
  const ends: Record<string, unknown> = {};
  for (const [name, steps] of histories) {
    const { tier, status, profileTier, gateway_subscription_id: id, end } = await outcomeOf(steps, false);
    ends[name] = `${id} ${tier} ${status} ${String(end).slice(0, 7)}, profile ${profileTier}`;
  }
  expect(ends).toEqual({
    'a subscription that is activated and charged twice, then cancelled': 'sub_A pro cancelled 2126-03, profile free',
    'one that is halted and activated again': 'sub_A pro active 2126-05, profile pro',
    'everything within one second': 'sub_A pro cancelled 2126-03, profile free',
    'two periods of one end within one second': 'sub_A pro active 2126-04, profile pro',
    'one that is activated before its first cycle': 'sub_A pro cancelled 2126-03, profile free',
    'one whose first period was over when it arrived': 'sub_A pro active 2126-03, profile pro',
    'one that was cancelled and paid again after its period was over': 'sub_A pro active 2126-02, profile pro',
    'a second one after the first was cancelled': 'sub_B pro active 2126-04, profile pro',
    'a second one before the first was cancelled': 'sub_B pro active 2127-01, profile pro',
    'a second one that ends before the first': 'sub_A pro active 2126-03, profile pro',
    'a second one of another plan': 'sub_B premium active 2126-07, profile premium',
    'one whose plan changes': 'sub_A premium active 2126-03, profile premium',
  });
});

const randomHistories = isLong ? 40 : 10;
test(`${randomHistories} random histories give the same result in random orders with duplicates`, async () => {
  const random = seededRandom(20260101);
  const pick = (count: number) => Math.floor(random() * count);
  for (let history = 0; history < randomHistories; history++) {
    // The newest activation decides which subscription counts, so every history has one.
    const steps = Array.from({ length: 4 + pick(5) }, (_, index) => {
      const [sub, start] = [pick(3) === 0 ? 'B' : 'A', pick(6)];
      const others = ['activated', 'charged', 'charged', 'cancelled'] as const;
      const name = index === 0 ? 'activated' : others[pick(4)] ?? 'charged';
      const months: [number, number] = [start, start + 1 + pick(3)];
      return step(name, 1 + pick(6), name === 'cancelled' ? null : months, sub, sub === 'A' ? 'pro' : 'premium');
    });
    const purchase = random() < 0.5;
    const expected = await outcomeOf(steps, purchase);
    for (let order = 0; order < 3; order++) {
      const shuffled = shuffle([...steps, ...steps.filter(() => random() < 0.4)], random);
      expect(await outcomeOf(shuffled, purchase), `${history}: ${describeOrder(shuffled)}`).toEqual(expected);
    }
  }
});

function describeOrder(steps: readonly Step[]): string {
  return steps.map(({ name, id, createdAt, end }) => `${name} ${id} ${createdAt?.slice(8, 10)} ${end?.slice(0, 7)}`)
    .join(', ');
}
