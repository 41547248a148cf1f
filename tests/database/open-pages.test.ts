import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import type { SubscriptionEvent } from '../helpers/gateway/events.ts';
import { attempt } from '../helpers/gateway/told.ts';
import { customerOf, prices } from '../helpers/records/customer.ts';
import { readAllRows } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

const database = useDatabase({ isEmptied: true, findings: { charged_twice: 'any', stopped_in_error: 'any' } });
beforeEach(async () => {
  await database.query('update public.plans set duration_months = 1');
  await database.at(at(0));
});
const customer = useCustomer(database);

const at = (minutes: number) => new Date(Date.UTC(2026, 5, 1) + minutes * 60_000).toISOString();
const july = Date.UTC(2026, 6, 1);
const withdrawn = { at: 'cycle end', state: 'pending' };

/** Asks for a subscription to a tier after so many minutes, or for a change to it at the end of the period. */
async function start(tier: string, minutes: number, change = false) {
  await database.at(at(minutes));
  const made = change
    ? await database.rpc('create_change', customer.id, tier, 'period_end')
    : await database.rpc('create_subscription', customer.id, tier);
  expect(made).toMatchObject({ outcome: 'created' });
  const id = uniqueId('sub');
  await store(made.id, id);
  const page = customerOf(database, customer, id);
  const event = (name: SubscriptionEvent['name'], minutes: number, more?: Partial<SubscriptionEvent>) =>
    page.event(name, at(minutes), { planId: `plan_${tier}`, ...more });
  const authorise = (minutes: number) => event('authenticated', minutes);
  const begin = async (minutes: number) => {
    await authorise(minutes);
    const cycle = { start: at(minutes), end: new Date(july + minutes * 60_000).toISOString() };
    await event('activated', minutes, cycle);
    await event('charged', minutes, { ...cycle, payment: { id: uniqueId('pay'), amount: prices[tier] } });
  };
  return { id, event, authorise, begin, cancellation: page.cancellation };
}
const change = (tier: string, minutes: number) => start(tier, minutes, true);
const store = (made: unknown, id: string) =>
  database.rpc('store_subscription', made, id, 'https://gateway.example/s/1');
const running = async () => (await customer.subscription())?.gateway_subscription_id;

describe('an authorisation', () => {
  test('cancels every other subscription that was asked for before it, and those are not offered again', async () => {
    const [basic, pro] = [await start('basic', 0), await start('pro', 5)];
    await basic.begin(10);
    expect([await pro.cancellation(), await basic.cancellation()]).toEqual([withdrawn, null]);
    const next = await start('pro', 15);
    expect(next.id).not.toBe(pro.id);
    await basic.event('activated', 20, { createdAt: at(10), start: at(10), end: new Date(july).toISOString() });
    expect(await next.cancellation()).toBeNull();
  });

  test.each([['basic', 'pro'], ['pro', 'basic']])(
    'of a change to %s that the customer has cancelled takes nothing from %s, started since',
    async (changed, started) => {
      await (await start('premium', 0)).begin(1);
      const cancelled = await change(changed, 5);
      await database.at(at(6));
      await customer.cancel('at the end');
      const next = await start(started, 7);
      await next.begin(8);
      await cancelled.authorise(10);
      expect([await next.cancellation(), (await cancelled.cancellation())?.state]).toEqual([null, 'pending']);
    },
  );

  test.each(['pro', 'premium'])(
    'of a change to %s now, before its order is paid, takes nothing from what runs',
    async (tier) => {
      const basic = await start('basic', 0);
      const cycle = { start: at(1), end: '2027-06-01T00:01:00.000Z' };
      await basic.event('activated', 1, cycle);
      await basic.event('charged', 1, { ...cycle, payment: { id: uniqueId('pay'), amount: prices.basic } });
      await database.at(at(5));
      const order = await database.rpc('create_order', customer.id, tier, null, null, 'now');
      const made = await database.rpc('create_change', customer.id, tier, 'now', order.payment_id);
      const id = uniqueId('sub');
      await store(made.id, id);
      const next = customerOf(database, customer, id);
      await next.event('authenticated', at(6), { planId: `plan_${tier}` });
      expect([await basic.cancellation(), await next.cancellation()]).toEqual([null, null]);
    },
  );

  test('cancels one that the gateway is still making; by an idempotency key it has that status', async () => {
    const basic = await start('basic', 0);
    const made = await database.rpc('create_subscription', customer.id, 'pro');
    await store((await database.rpc('create_subscription', customer.id, 'premium', 'key')).id, uniqueId('sub'));
    await basic.begin(10);
    const id = uniqueId('sub');
    expect(await store(made.id, id)).toEqual({ outcome: 'withdrawn' });
    expect(await customerOf(database, customer, id).cancellation()).toEqual(withdrawn);
    const again = await database.rpc('create_subscription', customer.id, 'premium', 'key');
    expect(again).toMatchObject({ outcome: 'existing', status: 'cancelled' });
  });

  test('of a change cancels a start that is open, and the other way round', async () => {
    await (await start('pro', 0)).begin(1);
    const [changed, started] = [await change('basic', 5), await start('premium', 6)];
    await changed.authorise(10);
    expect(await started.cancellation()).toEqual(withdrawn);
    const again = await start('premium', 15);
    await changed.event('cancelled', 16);
    const other = await change('basic', 17);
    await again.begin(20);
    expect(await other.cancellation()).toEqual(withdrawn);
  });
});

describe('of two subscriptions that were authorised in the same moment', () => {
  test.each([[false, 'withdrawn', []], [true, 'pending', ['stopped_in_error']]])(
    'the newer rules, and exactly one goes on; if its cancellation was sent (%j) it ends with its cycle, a finding',
    async (isSent, state, findings) => {
      const [basic, pro] = [await start('basic', 0), await start('pro', 5)];
      await basic.begin(10);
      // The gateway may have got the cancellation.
      if (isSent) {
        await database.query('update billing.outbox set attempts = 1, told_at = billing.clock() where key ~ $1', [
          pro.id,
        ]);
      }
      await pro.begin(11);
      expect([await basic.cancellation(), await pro.cancellation()]).toEqual([withdrawn, { at: 'cycle end', state }]);
      expect([await customer.tier(), await running()]).toEqual(['pro', pro.id]);
      expect(await customer.findings()).toEqual(findings.map((finding) => `${finding} ${pro.id}`));
    },
  );

  test.each([
    [false, 6],
    [true, 6],
    [false, 5],
    [true, 5],
  ])('changes, the newer first: %j, asked for in second 5 and %i: the newer starts', async (newerFirst, second) => {
    const old = await start('premium', 0);
    await old.begin(1);
    const pages = [await change('basic', 5), await change('pro', second)];
    for (const page of newerFirst ? pages.toReversed() : pages) await page.authorise(10);
    const states = await Promise.all(pages.map(async (page) => (await page.cancellation())?.state ?? 'withdrawn'));
    expect(states).toEqual(['pending', 'withdrawn']);
    expect(await old.cancellation()).toMatchObject({ state: 'pending' });
  });

  test.each([false, true])('a change and a start, the start first: %j: only the start bills', async (startFirst) => {
    const old = await start('pro', 0);
    await old.begin(1);
    const [changed, started] = [await change('basic', 5), await start('premium', 6)];
    if (!startFirst) await changed.authorise(10);
    await started.begin(11);
    if (startFirst) await changed.authorise(11);
    expect(await changed.cancellation()).toEqual(withdrawn);
    expect(await started.cancellation()).toEqual(startFirst ? null : { at: 'cycle end', state: 'withdrawn' });
    expect(await old.cancellation()).toMatchObject({ state: 'pending' });
    expect(await customer.tier()).toBe('premium');
  });

  test.each([false, true])('trials, the newer first: %j: the newer alone is charged', async (newerFirst) => {
    await database.query('update public.plans set trial_days = 7');
    const [basic, pro] = [await start('basic', 0), await start('pro', 5)];
    const acts = [() => basic.authorise(10), () => pro.authorise(11)];
    for (const act of newerFirst ? acts.toReversed() : acts) await act();
    expect(await basic.cancellation()).toEqual(withdrawn);
    expect((await pro.cancellation())?.state ?? 'withdrawn').toBe('withdrawn');
    expect(await customer.tier()).toBe('pro');
  });
});

describe('a trial that a change follows', () => {
  const day = 24 * 60;

  /** A trial of seven days, and a change on the second. The service tells the gateway on the fifth, which cancels it at once. */
  async function trialWithChange() {
    await database.setPlan('basic', 'trial_days = 7');
    const trial = await start('basic', 0);
    await trial.authorise(1);
    const pro = await change('pro', day);
    await pro.authorise(day + 1);
    await database.at(at(5 * day));
    await attempt(database, trial.id);
    await trial.event('cancelled', 5 * day);
    expect(await customer.tier()).toBe('basic');
    return pro;
  }

  test('runs to its end, and until the first charge of the new one', async () => {
    const pro = await trialWithChange();
    await database.expire(at(7 * day + 60));
    expect(await customer.tier()).toBe('basic');
    await pro.begin(7 * day + 120);
    expect(await customer.tier()).toBe('pro');
  });

  test.each([
    ['basic', { outcome: 'too_late', possible_from: at(7 * day) }],
    ['premium', { outcome: 'too_late', possible_from: at(7 * day) }],
    // That one waits.
    ['pro', { outcome: 'already_subscribed' }],
  ])('refuses a change to %s for its end once the gateway was told', async (tier, refusal) => {
    await trialWithChange();
    expect(await database.rpc('preview_change', customer.id, tier, 'period_end')).toEqual(refusal);
  });

  test('runs to its end, and no further, also where the customer then cancels for the end; twice writes nothing', async () => {
    await trialWithChange();
    await database.at(at(6 * day));
    await customer.cancel('at the end');
    expect(await customer.row()).toMatchObject({ tier: 'basic', status: 'active', cancel_at_period_end: true });
    const [mail] = await database.query("select payload from billing.outbox where kind = 'subscription-cancelled'");
    expect(mail?.payload).toMatchObject({ access_ends_at: at(7 * day), is_ended: false, resume_until: null });
    const cancelled = await readAllRows(database);
    await customer.cancel('at the end');
    expect(await readAllRows(database)).toEqual(cancelled);
    expect(await customer.stateAt(at(7 * day - 1))).toBe('basic: basic active to 2026-06-08');
    expect(await customer.stateAt(at(7 * day + 1))).toBe('free: basic cancelled to 2026-06-08');
  });

  test.each<[string, () => Promise<unknown>]>([
    ['the gateway cancels the new one', () => Promise.resolve()],
    ['a purchase replaces the new one', () => customer.buy('pro', { start: 'after_current' })],
  ])('runs to its end where %s, and ends where the customer cancels at once', async (_, act) => {
    const pro = await trialWithChange();
    await database.at(at(6 * day));
    await act();
    await pro.event('cancelled', 6 * day + 1);
    expect(await customer.state()).toBe('basic: basic active to 2026-06-08');
    await customer.cancel('at once');
    expect(await customer.tier()).toBe('free');
  });
});
