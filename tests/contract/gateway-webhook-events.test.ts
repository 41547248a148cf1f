import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { setClock } from '../helpers/database/clock.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import {
  changeEnvelope,
  paymentCaptured,
  paymentFailed,
  seconds,
  type SubscriptionEvent,
  subscriptionEvent,
} from '../helpers/gateway/events.ts';
import type { Buyer } from '../helpers/http/caller.ts';
import { answer, verify } from '../helpers/http/requests.ts';
import { ledger, restThenPool, useProject, useService } from '../helpers/project/use-project.ts';
import { ledgerRow, paymentOfOrder, queued, readTier, subscriptionOf } from '../helpers/records/read-records.ts';
import { uniqueId } from '../helpers/records/records.ts';

const folder = `${root}/../shared/gateway/payloads`;
// A row written by hand, and the documented settlement, which has no lines. Findings are compared while the cycle runs.
const project = useProject({
  findings: { entitled_not_paid: 1, ...(existsSync(folder) && { settlement_incomplete: 1 }) },
  at: '2026-10-01T00:00:00Z',
});
const { database, newBuyer, newUser, unchanged } = project;
const service = useService(restThenPool, project);
beforeEach(() => setClock(database, '2026-10-01T00:00:00Z'));

const cycle = { start: '2026-09-21T14:13:20Z', end: '2026-10-21T14:13:20Z' };
const createdAt = '2026-09-21T14:15:00Z';

/** An event of a new gateway subscription in that cycle, unless stated otherwise. */
const event = (name: SubscriptionEvent['name'], userId: string, fields: Partial<SubscriptionEvent> = {}) =>
  subscriptionEvent({ name, userId, id: uniqueId('sub'), planId: 'plan_unknown', ...cycle, createdAt, ...fields });

/** Delivers an event, which is answered 200. @returns the outcome */
async function post(body: unknown): Promise<unknown> {
  expect(await answer(postWebhook(service, body))).toEqual({ status: 200, body: { received: true } });
  return (await ledgerRow(database, body))?.outcome;
}
/** Delivers bodies at once, which write nothing beside the ledger. @returns the outcomes */
const postInVain = (...bodies: unknown[]) =>
  unchanged(() => Promise.all(bodies.map(post)), [...ledger, 'billing.gateway_subscriptions']);

/** A user with a subscription that was written by hand. @returns the id of the user */
async function subscriber(): Promise<string> {
  const { id } = await newUser();
  await database.query(
    `insert into public.subscriptions (user_id, tier, status, current_period_start, current_period_end)
     values ($1, 'pro', 'active', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z')`,
    [id],
  );
  await database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [id]);
  return id;
}

// Events of subscriptions in any order: database/apply-subscription-event.
describe('payments', () => {
  const stored = ({ orderId }: Buyer) => paymentOfOrder(database, orderId);

  test('POST /api/webhooks/gateway with payment.captured → 200; fulfilled, one mail. After a verification: confirmed only', async () => {
    const [captured, verified] = [await newBuyer(), await newBuyer()];
    const pay = ({ orderId, paid }: Buyer) => paymentCaptured({ id: paid.gateway_payment_id, order_id: orderId });
    expect(await post(pay(captured))).toBe('applied');
    expect(await readTier(database, captured.id)).toBe('pro');
    expect(await queued(database, 'payment-success', captured.email)).toHaveLength(1);

    expect((await verify(service, verified.accessToken, verified.paid)).status).toBe(200);
    const before = await stored(verified);
    expect(await post(pay(verified))).toBe('applied');
    expect(await stored(verified)).toEqual({ ...before, confirmed_at: expect.any(Date), paid_amount: '99900' });
    expect(await postInVain(pay(verified), pay(captured))).toEqual(['already', 'already']);
    expect(await postInVain(paymentFailed({ order_id: captured.orderId }))).toEqual(['stale']);
  });
});

test('POST /api/webhooks/gateway about an unknown payment, order or user → 200, unmatched', async () => {
  const user = crypto.randomUUID();
  const subscriptions = (['activated', 'charged', 'cancelled'] as const).map((name) => event(name, user));
  expect(await postInVain(paymentCaptured(), paymentFailed({ order_id: uniqueId('order') }), ...subscriptions))
    .toEqual(Array(5).fill('unmatched'));
});

describe('data of any kind', () => {
  /** JSON values of every type but string. */
  const odd = [null, 7, true, [], { id: 'x' }];
  const noText = [...odd, undefined];
  const noTime = [null, 'x', '1790000000', true, [], -1, 1.5, 253402300800];
  const nested = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
  const users = (id: string) => [...noText, '', `${id}x`, `{${id}}`].map((user_id) => ({ user_id }));
  const notes = (id: string) => [...noText, 'x', id, ...users(id)];

  /** Events about a user and an order that each valid one would change. */
  test.each<[name: string, bodies: (buyer: Buyer) => unknown[], outcome?: string]>([
    ['a payment without its id', ({ orderId }) => noText.map((id) => paymentCaptured({ id, order_id: orderId }))],
    ['an attempt without its order', () => noText.map((order_id) => paymentFailed({ order_id }))],
    ['no user', ({ id }) => notes(id).map((of) => event('cancelled', id, { fields: { notes: of } }))],
    ['no start', ({ id }) => noTime.map((time) => event('charged', id, { fields: { current_start: time } }))],
    ['no entity', () =>
      [undefined, 'x', ...odd, ...odd.slice(0, 4).map((entity) => ({ payment: { entity } }))]
        .map((payload) => ({ event: 'payment.captured', payload }))],
    ['no object', () => ['null', '5', 'true', '"payment.captured"', '[{"event":"x"}]'], 'ignored: not an object'],
    [
      '65 levels',
      ({ id }) => [changeEnvelope(event('cancelled', id), { extra: nested(64) })],
      'ignored: nested too deep',
    ],
    ['NUL in an id', ({ orderId }) => [paymentFailed({ order_id: `${orderId}\u0000` })], 'unmatched'],
  ])('POST /api/webhooks/gateway with %s → 200, no effect', async (_, bodiesOf, outcome) => {
    const buyer = await newBuyer();
    // A payment without an order id.
    const insert = "insert into public.payments (user_id, amount, meta) values ($1, 1, '{}')";
    await database.query(insert, [buyer.id]);
    const bodies = bodiesOf(buyer);
    const ignored = outcome ?? expect.stringMatching(/^ignored: /);
    expect(await postInVain(...bodies)).toEqual(bodies.map(() => ignored));
  });

  test('POST /api/webhooks/gateway with NUL and lone surrogates in keys and values → 200, stored with U+FFFD', async () => {
    const { orderId } = await newBuyer();
    const attempt = paymentFailed({ order_id: orderId, error_description: 'A\u0000B\uD800C' });
    const body = changeEnvelope(attempt, { 'k\u0000\uDC00': '\u0000' });
    expect(await post(body)).toBe('applied');
    expect(await paymentOfOrder(database, orderId))
      .toMatchObject({ status: 'failed', meta: { error_description: 'A\uFFFDB\uFFFDC' } });
    expect(await ledgerRow(database, body)).toMatchObject({ payload: { 'k\uFFFD\uFFFD': '\uFFFD' } });
  });

  test('POST /api/webhooks/gateway with 64 levels, and values of any type in fields that the effect does not need → 200, applied', async () => {
    for (const value of odd) {
      const id = await subscriber();
      const body = event('cancelled', id, { fields: { plan_id: value, status: value, current_start: value } });
      expect(await post(changeEnvelope(body, { account_id: value, contains: value, extra: nested(63) }))).toBe(
        'applied',
      );
      expect(await subscriptionOf(database, id)).toMatchObject({ status: 'cancelled' });
    }
  });

  test('POST /api/webhooks/gateway with a page that is no http address → 200, applied; no page is stored', async () => {
    await database.query("update public.plans set gateway_plan_id = 'plan_pages' where tier = 'pro'");
    const stored = async (short_url: string) => {
      const { id } = await newUser();
      const mandate = event('authenticated', id, { planId: 'plan_pages', fields: { short_url } });
      expect(await post(mandate)).toBe('applied');
      return await database.one("select public.get_subscription($1) -> 'billing' ->> 'manage_url' as page", [id]);
    };
    expect(await stored('javascript:alert(document.domain)//https://gateway.example')).toEqual({ page: null });
    expect(await stored('data:text/html,<script>alert(1)</script>')).toEqual({ page: null });
    expect(await stored('https://gateway.example/s/1')).toEqual({ page: 'https://gateway.example/s/1' });
  });

  test('POST /api/webhooks/gateway with an invalid created_at → 200, applied as without one', async () => {
    const id = await subscriber();
    for (const [index, created_at] of [...noTime, 1e300].entries()) {
      const fields = { id: `sub_${id}`, fields: { current_end: seconds(cycle.end) + index } };
      expect(await post(changeEnvelope(event('charged', id, fields), { created_at }))).toBe('applied');
    }
  });

  // The gateway's documented examples are not part of this repository. A developer can place them beside it.
  const documented = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];

  test.skipIf(documented.length === 0)('POST /api/webhooks/gateway with each documented body → 200', async () => {
    for (const name of documented) {
      const text = readFileSync(`${folder}/${name}`, 'utf8');
      expect(await post(text), name).toEqual(expect.any(String));
    }
  });
});
