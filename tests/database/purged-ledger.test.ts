import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import { changeEnvelope, disputeEvent, orderPaid, paymentCaptured, paymentFailed } from '../helpers/gateway/events.ts';
import {
  type PaymentFields,
  refundEvent,
  type SubscriptionEvent,
  subscriptionEvent,
} from '../helpers/gateway/events.ts';
import { seededRandom, shuffle } from '../helpers/orderings/permutations.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readRowsBesidesLedger } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { day, months } from '../helpers/records/time.ts';
import { repeatUntil } from '../helpers/project/repeat-until.ts';

// The events of a year are delivered again after a purge with the shortest days.
const database = useDatabase({ findings: 'compared elsewhere' });
const end = '2027-07-06';
/** The bodies in the order of their first delivery. */
const bodies: string[] = [];
let before: unknown;

const state = async () => ({
  rows: await readRowsBesidesLedger(database),
  findings: await database.query('select finding, subject, user_id, since from billing.findings order by 1, 2, 3'),
});
const deliverOutbox = () =>
  database.query('update billing.outbox set delivered_at = billing.clock() where delivered_at is null');

/** The body of an event, or an act, and its time. Each happens two seconds later. */
type Step = readonly [time: string, what: string | (() => Promise<unknown>)];

beforeAll(async () => {
  const cancelled = [...await cancelAtOnce(true), ...await cancelAtOnce(false)];
  for (const [time, what] of [...await orderAndRefund(), ...await billYear(), ...cancelled, ...await replace()]) {
    const at = Date.parse(day(time));
    await database.at(new Date(at + 2000).toISOString());
    if (typeof what !== 'string') await what();
    else {
      bodies.push(changeEnvelope(what, { created_at: at / 1000 }));
      await database.send(bodies.at(-1) ?? '');
    }
  }
  await database.sweep('2027-04-06');
  await deliverOutbox();
  await database.sweep(end);
  const purge = async () => (await database.rpc('purge_records', 90, 30, 1100)).purged === 0;
  await repeatUntil('nothing is left to purge', 1000, purge);
  before = await state();
});

const minute = (date: string, minutes: number) => `2026-${date}T00:0${minutes}:00Z`;
async function order(at: string, user?: Purchase['user'], tier = 'pro') {
  await database.at(at);
  const placed = await placeOrder(database, { ...(user && { user }), tier });
  return { ...placed, money: paymentOf(placed), verify: () => verifyPurchase(database.service, placed) };
}
/** A user and a gateway subscription to pro. @returns its event about a cycle of 2026 */
async function subscribe() {
  const [user, id] = [await createUser(database), uniqueId('sub')];
  const event = (name: SubscriptionEvent['name'], time: string, month: number, payment?: PaymentFields): Step => {
    const of = { userId: user.id, id, planId: 'plan_pro', ...months(month), createdAt: day(time) };
    return [time, subscriptionEvent({ name, ...of, ...(payment && { payment }) })];
  };
  return { user, event };
}

/** Failed attempts; a purchase with partial refunds and a dispute; one refunded in full; one paid twice. */
async function orderAndRefund(): Promise<Step[]> {
  const [bought, unpaid, returned] = [await order('01-01'), await order('01-11'), await order('01-12')];
  const [twice, id] = [await order('01-16'), uniqueId('rfnd')];
  const fail = (time: string, { money }: typeof bought, error_description: string): Step => {
    return [time, paymentFailed({ ...money, id: uniqueId('pay'), error_description })];
  };
  return [
    fail(minute('01-01', 1), bought, 'Declined'),
    fail(minute('01-01', 2), bought, 'Out of funds'),
    [minute('01-01', 3), paymentCaptured(bought.money)],
    [minute('01-01', 3), orderPaid(bought.money, { id: bought.orderId })],
    [minute('01-01', 3), bought.verify],
    ['01-06', refundEvent(bought.money, 100, { id, status: 'pending' })],
    ['01-07', refundEvent(bought.money, 100, { id })],
    ['01-08', refundEvent(bought.money, 200, { status: 'failed' })],
    ['01-09', disputeEvent('created', 'open', bought.money)],
    ['01-10', disputeEvent('under_review', 'under_review', bought.money)],
    ...[1, 2, 3].map((n) => fail(minute('01-11', n), unpaid, `Declined ${n}`)),
    ['01-12', returned.verify],
    ['01-12', paymentCaptured(returned.money)],
    ['01-13', refundEvent(returned.money, 99900)],
    ['01-14', disputeEvent('created', 'open', returned.money)],
    ['01-15', disputeEvent('lost', 'lost', returned.money)],
    ['01-16', paymentCaptured(twice.money)],
    [minute('01-16', 1), paymentCaptured({ ...twice.money, id: uniqueId('pay') })],
    ['01-17', refundEvent(twice.money, 99900)],
    ['01-17', () => database.sweep()],
  ];
}

/** Twelve cycles, one of which is refunded and one disputed. The gateway cancels the subscription at the end. */
async function billYear(): Promise<Step[]> {
  const { event } = await subscribe();
  const cycles = Array.from({ length: 12 }, (_, index): Step[] => {
    const [month, money] = [String(index + 1).padStart(2, '0'), { id: uniqueId('pay'), order_id: uniqueId('order') }];
    return [
      [minute(`${month}-01`, 1), paymentCaptured(money)],
      event('charged', minute(`${month}-01`, 2), index + 1, money),
      ...(month === '04' ? [['04-02', refundEvent(money, 99900)] as const] : []),
      ...(month === '06' ? [['06-02', disputeEvent('created', 'open', money)] as const] : []),
      ...(month === '06' ? [['06-03', disputeEvent('action_required', 'action_required', money)] as const] : []),
      [`${month}-04`, () => database.sweep()],
    ];
  });
  return [event('activated', '01-01', 1), ...cycles.flat(), event('cancelled', '12-20', 12)];
}

/** The user cancels at once. The gateway may confirm it. */
async function cancelAtOnce(isConfirmed: boolean): Promise<Step[]> {
  const { user, event } = await subscribe();
  return [
    event('activated', '02-10', 2),
    event('charged', minute('02-10', 1), 2, { id: uniqueId('pay') }),
    ['02-11', () => database.rpc('cancel_subscription', user.id, false)],
    ['02-11', deliverOutbox],
    ...(isConfirmed ? [event('cancelled', minute('02-11', 1), 2)] : []),
  ];
}

/** A purchase replaces a subscription. */
async function replace(): Promise<Step[]> {
  const { user, event } = await subscribe();
  const bought = await order('03-03', user, 'premium');
  const purchase: Step[] = [['03-03', bought.verify], ['03-03', paymentCaptured(bought.money)]];
  const charges = [event('activated', '03-02', 3), event('charged', minute('03-02', 1), 3)];
  return [...charges, ...purchase, event('cancelled', '04-01', 3)];
}

test('a purge leaves an empty ledger, and in the outbox only the cancellation of what may still be billed', async () => {
  expect(bodies.length).toBeGreaterThan(50);
  expect(await database.query('select event, outcome from billing.gateway_events')).toEqual([]);
  const left = await database.query('select kind, delivered_at is not null as is_delivered from billing.outbox');
  expect(left).toEqual([{ kind: 'cancel-subscription', is_delivered: true }]);
});

test.each([
  ['in the first order', () => bodies],
  ['reversed', () => bodies.toReversed()],
  ['shuffled', () => shuffle(bodies, seededRandom(1))],
])('after it all events again change nothing: %s', async (_order, inOrder) => {
  await database.at(end);
  await database.query('truncate billing.gateway_events cascade');
  for (const body of inOrder()) await database.send(body);
  expect(await database.query('select from billing.gateway_events')).toHaveLength(bodies.length);
  expect(await state()).toEqual(before);
  await database.sweep();
  expect(await state()).toEqual(before);
});
