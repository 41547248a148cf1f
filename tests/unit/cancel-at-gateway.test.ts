import { expect, test } from 'vitest';
import { createGatewaySender } from '../../supabase/functions/api/outbox/gateway-sender.ts';
import type { Delivery } from '../../supabase/functions/api/outbox/outbox.ts';
import type { GatewaySubscription, Reading } from '../../supabase/functions/api/ports.ts';
import { silentGateway } from './silent-gateway.ts';

type Answers = {
  readonly atCycleEnd?: number;
  readonly atOnce?: number;
  readonly found?: GatewaySubscription;
  readonly reading?: Reading<GatewaySubscription>;
  readonly retryAfter?: string | null;
};

const noCycle = { current_end: null };
const cycle = { current_end: 1_797_776_460 };

/** Delivers a cancellation to a gateway with a status for each kind of it. Returns the calls and the delivery. */
async function cancel(
  isAtCycleEnd: boolean,
  { atCycleEnd = 0, atOnce = 0, found, reading = { status: 'unanswered' }, retryAfter = null }: Answers,
  kind = 'cancel-subscription',
) {
  const payload = { gateway_subscription_id: 'sub_1', at_cycle_end: isAtCycleEnd };
  const asked: string[] = [];
  const [attempt] = createGatewaySender({
    ...silentGateway,
    cancelSubscription(id, whether) {
      asked.push(`cancel ${id} ${whether ? 'at cycle end' : 'at once'}`);
      return Promise.resolve({ status: whether ? atCycleEnd : atOnce, retryAfter });
    },
    readSubscription() {
      asked.push('read');
      return Promise.resolve(found === undefined ? reading : { status: 'found', value: found });
    },
  })([{ id: 1, key: 'cancel-subscription/sub_1', kind, payload }]);
  const delivery = await attempt?.deliver();
  return { asked: asked.join(', '), delivery };
}

const delivered: Delivery = { status: 'delivered' };
const refused = (error: string): Delivery => ({ status: 'refused', error });
const failed = (error: string): Delivery => ({ status: 'failed', error });

test.each<[Answers, Delivery]>([
  [{ atOnce: 200 }, delivered],
  [{ atOnce: 400, found: { status: 'cancelled' } }, delivered],
  [{ atOnce: 400, found: { status: 'completed' } }, delivered],
  [{ atOnce: 400, found: { status: 'expired' } }, delivered],
  [{ atOnce: 400, found: { status: 'active' } }, refused('HTTP 400')],
  [{ atOnce: 400 }, failed('HTTP 400')],
  [{ atOnce: 404 }, refused('HTTP 404')],
  [{ atOnce: 500 }, failed('HTTP 500')],
  [{ atOnce: 0 }, failed('no answer')],
  [{ atOnce: 429, retryAfter: '7' }, { status: 'paused', error: 'HTTP 429', seconds: 7 }],
])('a cancellation at once with %j is called once: %j', async (answers, delivery) => {
  const { asked, ...rest } = await cancel(false, answers);
  expect(rest).toEqual({ delivery });
  expect(asked.replace(', read', '')).toBe('cancel sub_1 at once');
});

const atCycleEnd = 'cancel sub_1 at cycle end';
const read = `${atCycleEnd}, read`;
const repeated = `${read}, cancel sub_1 at once`;
const refusal = { atCycleEnd: 400, atOnce: 200 };

test.each<[Answers, asked: string, Delivery]>([
  [{ atCycleEnd: 200, found: { status: 'authenticated', ...noCycle } }, atCycleEnd, delivered],
  [{ ...refusal, found: { status: 'created', ...noCycle } }, repeated, delivered],
  [{ ...refusal, found: { status: 'authenticated', ...noCycle } }, repeated, delivered],
  [{ ...refusal, found: { status: 'active', ...cycle } }, read, refused('HTTP 400')],
  [{ ...refusal, found: { status: 'active', ...noCycle } }, read, refused('HTTP 400')],
  [{ ...refusal, found: { status: 'paused', ...noCycle } }, read, refused('HTTP 400')],
  [{ ...refusal, found: { status: 'authenticated', ...cycle } }, read, refused('HTTP 400')],
  [{ atCycleEnd: 404, atOnce: 200, found: { status: 'authenticated', ...noCycle } }, read, refused('HTTP 404')],
  [{ atCycleEnd: 500, atOnce: 200, found: { status: 'authenticated', ...noCycle } }, atCycleEnd, failed('HTTP 500')],
  [{ ...refusal, reading: { status: 'unknown' } }, read, refused('HTTP 400')],
  [{ ...refusal, reading: { status: 'unanswered' } }, read, failed('HTTP 400')],
  [{ ...refusal, found: { status: 'cancelled', ...noCycle } }, read, delivered],
  [{ atCycleEnd: 400, atOnce: 400, found: { status: 'created', ...noCycle } }, repeated, failed('HTTP 400')],
  [{ atCycleEnd: 400, atOnce: 500, found: { status: 'created', ...noCycle } }, repeated, failed('HTTP 500')],
  [{ atCycleEnd: 400, atOnce: 0, found: { status: 'created', ...noCycle } }, repeated, failed('no answer')],
])('a cancellation at the end of a cycle with %j calls "%s": %j', async (answers, asked, delivery) => {
  expect(await cancel(true, answers)).toEqual({ asked, delivery });
});

test('a row of another kind is refused and nothing is called', async () => {
  expect(await cancel(false, { atOnce: 200 }, 'refund')).toEqual({ asked: '', delivery: refused('unknown row') });
});
