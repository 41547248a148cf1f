import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type Row, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { refundEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { actAsOwner, endAccess, grantTier } from '../helpers/records/support-actions.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // The clock shows January.
  database = await createTestDatabase({ findings: 'compared elsewhere' });
  service = await openSession(database, { role: 'service_role' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
  await setClock(database, '2026-01-01T10:00:00Z');
});
afterEach(() => setClock(database, '2026-01-01T10:00:00Z'));
afterAll(() => database.close());

const read = ({ email }: Purchase['user']): Promise<Row> =>
  database.one('select * from billing.customers where email = $1', [email]);
const periodsOf = ({ id }: Purchase['user']) =>
  database.query(
    `select kind, source_id, tier, billing.day_text(starts_at) as "from", billing.day_text(ends_at) as "to",
       billing.day_text(ended_at) as ended, is_ruling
     from billing.periods where user_id = $1 order by starts_at, ends_at`,
    [id],
  );

async function buy(): Promise<Purchase> {
  const order = await placeOrder(database);
  await verifyPurchase(service, order);
  return order;
}

describe('billing.customers says in one sentence why', () => {
  test('a user has no tier who never paid', async () => {
    expect(await read(await createUser(database))).toMatchObject({
      tier: 'free',
      why: 'No payment, subscription or grant gives a tier.',
      source_kind: null,
      until: null,
      billing: null,
      last_payment_at: null,
      lifetime_amounts: {},
      open_findings: '0',
    });
  });

  test('a payment gives the tier, and after its refund that it gave it', async () => {
    const order = await buy();
    expect(await read(order.user)).toMatchObject({
      user_id: order.user.id,
      name: order.user.email?.split('@')[0],
      tier: 'pro',
      why: `Payment ${order.paymentId} of 1 Jan 2026 gives pro until 1 Jan 2027.`,
      source_kind: 'payment',
      source_id: order.id,
      until: new Date('2027-01-01T10:00:00Z'),
      billing: 'one-time',
      last_payment_at: new Date('2026-01-01T10:00:00Z'),
      lifetime_amounts: { INR: 99900 },
    });
    await deliver(service, refundEvent(paymentOf(order), 99900));
    expect(await read(order.user)).toMatchObject({
      tier: 'free',
      why: `Payment ${order.paymentId} of 1 Jan 2026 gave pro and ended on 1 Jan 2026: refunded.`,
      source_kind: null,
      lifetime_amounts: { INR: 0 },
    });
  });

  test('a grant or a row written by hand gives it', async () => {
    const [granted, written] = [await createUser(database), await createUser(database)];
    await grantTier(database, granted.email, 'premium', '2026-03-01Z', 'press');
    expect(await read(granted)).toMatchObject({
      why: expect.stringMatching(/^Grant \d+ of 1 Jan 2026 \(press\) gives premium until 1 Mar 2026\.$/),
      billing: 'complimentary',
      lifetime_amounts: {},
    });
    await database.query("insert into public.subscriptions (user_id, tier, status) values ($1, 'pro', 'active')", [
      written.id,
    ]);
    expect(await read(written)).toMatchObject({
      tier: 'free',
      why: 'The subscription row that was written by hand on 1 Jan 2026 gives pro.',
      source_kind: 'manual',
      billing: null,
      open_findings: '2',
    });
  });

  test('a subscription that the gateway bills gives it, with each cycle in the amounts and the periods', async () => {
    const user = await createUser(database);
    const id = uniqueId('sub');
    const of = { userId: user.id, id, planId: 'plan_basic' };
    const cycle = (month: number) => ({
      start: `2026-0${month}-01T10:00:00Z`,
      end: `2026-0${month + 1}-01T10:00:00Z`,
      createdAt: `2026-0${month}-01T10:00:00Z`,
      payment: { id: uniqueId('pay'), amount: 9900 },
    });
    await deliver(service, subscriptionEvent({ name: 'charged', ...of, ...cycle(1) }));
    await setClock(database, '2026-02-01T10:00:00Z');
    const second = cycle(2);
    await deliver(service, subscriptionEvent({ name: 'charged', ...of, ...second }));
    expect(await read(user)).toMatchObject({
      why: `Subscription ${id} of 1 Jan 2026 gives basic until 1 Mar 2026, when the gateway charges the next cycle.`,
      source_kind: 'gateway_subscription',
      source_id: id,
      billing: 'billed',
      lifetime_amounts: { INR: 19800 },
    });
    const line = { kind: 'gateway_subscription', source_id: id, tier: 'basic', ended: null };
    expect(await periodsOf(user)).toEqual([
      { ...line, from: '1 Jan 2026', to: '1 Feb 2026', is_ruling: false },
      { ...line, from: '1 Feb 2026', to: '1 Mar 2026', is_ruling: true },
    ]);
    await deliver(service, refundEvent(second.payment, 9900));
    expect((await periodsOf(user))[1]).toMatchObject({ ended: '1 Feb 2026', is_ruling: false });
  });
});

test('billing.periods shows overlaps, and the one that rules', async () => {
  const order = await buy();
  await grantTier(database, order.user.email, 'premium', '2026-03-01Z', 'press');
  const grant = { kind: 'grant', source_id: expect.any(String), tier: 'premium' };
  const payment = { kind: 'payment', source_id: order.id, tier: 'pro' };
  expect(await periodsOf(order.user)).toEqual([
    { ...payment, from: '1 Jan 2026', to: '1 Jan 2027', ended: null, is_ruling: false },
    { ...grant, from: '1 Jan 2026', to: '1 Mar 2026', ended: null, is_ruling: true },
  ]);
  await actAsOwner(database, { action: 'revoke_grant', email: order.user.email });
  expect(await periodsOf(order.user)).toMatchObject([{ is_ruling: true }, { ended: '1 Jan 2026', is_ruling: false }]);
});

test('open_findings counts the findings of this customer', async () => {
  const order = await buy();
  await database.query("update public.payments set dispute_status = 'lost' where id = $1", [order.id]);
  expect(await read(order.user)).toMatchObject({ open_findings: '1' });
  expect(await database.query('select finding, remedy from billing.findings where email = $1', [order.user.email]))
    .toEqual([{ finding: 'dispute_lost', remedy: 'End the access of the payment.' }]);
});

test('a payment whose access an admin ended is why there is no tier', async () => {
  const order = await buy();
  await endAccess(database, order.paymentId);
  expect(await read(order.user)).toMatchObject({ tier: 'free', why: expect.stringContaining('ended by admin') });
});

test('a user of single sign-on has a row, and the address may be that of another user, too', async () => {
  const [id, email] = [crypto.randomUUID(), `${uniqueId('sso')}@example.com`];
  await database.query('insert into auth.users (id, email, is_sso_user) values ($1, $2, true)', [id, email]);
  await database.query(
    `insert into auth.identities (id, provider, provider_id, user_id, identity_data)
     values ($1, 'sso:1', $2, $1, jsonb_build_object('email', $2::text))`,
    [id, email],
  );
  expect(await read({ id, email })).toMatchObject({ user_id: id, tier: 'free' });
  await createUser(database, { email });
  await expect(database.query('select billing.user_id_of($1)', [email])).rejects.toMatchObject({ code: 'PS409' });
});
