import { expect, test } from 'vitest';
import { createGatewaySender } from '../../supabase/functions/api/outbox/gateway-sender.ts';
import type { Delivery, GatewaySubscription, StopDatabase } from '../../supabase/functions/api/ports.ts';
import { silentGateway } from './silent-gateway.ts';

type Outcome = Awaited<ReturnType<StopDatabase['confirmStop']>>['outcome'];

type Answers = {
  /** The subscription at the gateway; unknown: it has none; unanswered: no answer; limited: 429. */
  readonly read?: GatewaySubscription | 'unknown' | 'unanswered' | 'limited';
  /** What the database says to each call; a missing one fails. */
  readonly confirmed?: readonly Outcome[];
  readonly invoices?: 'unanswered' | 'limited';
  readonly status?: number;
  readonly retryAfter?: string | null;
};

const limited = { status: 'unanswered', limited: { status: 429, retryAfter: '7' } } as const;
const active = { status: 'active', current_end: 1_797_776_460 };

/** Delivers a cancellation. Returns what was asked in which order, and the delivery. */
async function cancel(
  isAtCycleEnd: boolean,
  { read = active, confirmed = ['stands'], invoices, status = 200, retryAfter = null }: Answers,
  kind = 'cancel-subscription',
) {
  const payload = { gateway_subscription_id: 'sub_1', at_cycle_end: isAtCycleEnd };
  const asked: string[] = [];
  const outcomes = [...confirmed];
  const gateway = {
    ...silentGateway,
    cancelSubscription(id: string, whether: boolean) {
      asked.push(`cancel ${id} ${whether ? 'at cycle end' : 'at once'}`);
      return Promise.resolve({ status, retryAfter });
    },
    readSubscription() {
      asked.push('read');
      if (read === 'limited') return Promise.resolve(limited);
      return Promise.resolve(typeof read === 'string' ? { status: read } : { status: 'found' as const, value: read });
    },
    listInvoices() {
      asked.push('invoices');
      if (invoices === 'limited') return Promise.resolve(limited);
      return Promise.resolve(invoices ? { status: invoices } : { status: 'found' as const, value: [{ id: 'inv_1' }] });
    },
  };
  const database: StopDatabase = {
    confirmStop({ subscription, invoices }) {
      asked.push(`confirm ${subscription?.status} ${invoices === null ? '' : `with ${invoices.length}`}`.trim());
      const outcome = outcomes.shift();
      return outcome ? Promise.resolve({ outcome }) : Promise.reject(new Error('no database'));
    },
  };
  const [attempt] = createGatewaySender(gateway, database)([{
    id: 1,
    key: 'cancel-subscription/sub_1',
    kind,
    payload,
  }]);
  const delivery = await attempt?.deliver();
  return { asked: asked.join(', '), delivery };
}

const delivered: Delivery = { status: 'delivered' };
const refused = (error: string): Delivery => ({ status: 'refused', error });
const failed = (error: string): Delivery => ({ status: 'failed', error });
const told = 'read, confirm active, cancel sub_1 at once';

test.each<[Answers, asked: string, Delivery]>([
  [{}, told, delivered],
  [{ read: 'unanswered' }, 'read', failed('not read: no answer')],
  [{ read: 'limited' }, 'read', { status: 'paused', error: 'not read: HTTP 429', seconds: 7 }],
  [{ confirmed: [] }, 'read, confirm active', failed('not confirmed')],
  [{ confirmed: ['changed'] }, 'read, confirm active', failed('planned anew')],
  [
    { confirmed: ['unnamed', 'stands'] },
    'read, confirm active, invoices, confirm active with 1, cancel sub_1 at once',
    delivered,
  ],
  [
    { confirmed: ['unnamed', 'changed'] },
    'read, confirm active, invoices, confirm active with 1',
    failed('planned anew'),
  ],
  [
    { confirmed: ['unnamed'], invoices: 'unanswered' },
    'read, confirm active, invoices',
    failed('invoices not read: no answer'),
  ],
  [
    { confirmed: ['unnamed'], invoices: 'limited' },
    'read, confirm active, invoices',
    { status: 'paused', error: 'invoices not read: HTTP 429', seconds: 7 },
  ],
  [{ read: 'unknown' }, 'read, confirm undefined', refused('the gateway has no such subscription')],
  [{ read: { ...active, status: 'cancelled' } }, 'read, confirm cancelled', delivered],
  [{ read: { ...active, status: 'completed' }, confirmed: ['changed'] }, 'read, confirm completed', delivered],
  [{ read: { ...active, status: 'expired' } }, 'read, confirm expired', delivered],
  [{ status: 400 }, told, failed('HTTP 400')],
  [{ status: 500 }, told, failed('HTTP 500')],
  [{ status: 0 }, told, failed('no answer')],
  [{ status: 429, retryAfter: '7' }, told, { status: 'paused', error: 'HTTP 429', seconds: 7 }],
])('a cancellation at once with %j asks "%s": %j', async (answers, asked, delivery) => {
  expect(await cancel(false, answers)).toEqual({ asked, delivery });
});

test.each<[GatewaySubscription, how: string]>([
  [active, 'at cycle end'],
  [{ status: 'paused', current_end: null }, 'at cycle end'],
  [{ status: 'authenticated', current_end: 1_797_776_460 }, 'at cycle end'],
  // Without a paid cycle the gateway refuses a cancellation at its end.
  [{ status: 'authenticated', current_end: null }, 'at once'],
  [{ status: 'created' }, 'at once'],
])('a cancellation at the end of the cycle of %j is told %s', async (read, how) => {
  const asked = `read, confirm ${read.status}, cancel sub_1 ${how}`;
  expect(await cancel(true, { read })).toEqual({ asked, delivery: delivered });
});

test('a row of another kind is refused and nothing is called', async () => {
  expect(await cancel(false, {}, 'other')).toEqual({ asked: '', delivery: refused('unknown row') });
});
