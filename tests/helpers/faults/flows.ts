import { expect } from 'vitest';
import type { Fault } from '../../../scripts/stack/gateway/errors.ts';
import { refusal } from '../http/answer.ts';
import { actAsOwner } from '../records/support-actions.ts';
import type { BillingProject } from './billing-project.ts';
import type { BilledCustomer } from './customer.ts';

/** Calls of the gateway that fail. Those before the last one fail once, so that the last one is made. */
type Calls = readonly Partial<Fault>[];

/** A flow between a customer, the service and the gateway, with a call in it that fails. */
export type Flow = {
  readonly calls: Readonly<Record<string, Calls>>;
  prepare(parts: Parts): Promise<void>;
  fail(parts: Parts): Promise<void>;
  readonly during: string;
  /** The next try, after the gateway answers again. */
  retry(parts: Parts): Promise<void>;
  /** The findings before the end of the cycle. */
  readonly left?: readonly string[];
  /** After the end of the cycle: the tier, and the number of subscriptions that the gateway bills. */
  readonly end: { readonly tier: string; readonly billed: 0 | 1 };
  /** Of how many cycles the end must be passed; default 1. */
  readonly cycles?: number;
};

/** `state` is what `prepare` leaves for the next steps. */
export type Parts = { billing: BillingProject; customer: BilledCustomer; state: State };
type State = { paid?: unknown; first?: string; second?: string };

const unavailable = refusal(502, 'Payment gateway unavailable');
const post = (path: string): Calls => [{ method: 'POST', path }];
const get = (path: string): Calls => [{ method: 'GET', path }];
const cancellation = post('/v1/subscriptions/:id/cancel');
const later = (hours: number) => ({ customer }: Parts) => customer.later(hours);
const start = (tier: string) => async ({ billing, customer }: Parts) => {
  await customer.start(tier);
  await billing.moveOn(24 * 5);
};
/** A subscription about which no webhook arrives. */
const silentStart = async ({ billing, customer, state }: Parts) => {
  const id = await customer.ask('basic');
  billing.silent.add(id);
  state.paid = await customer.approve(id);
};
const change = (tier: string, when: 'now' | 'period_end') => async ({ customer }: Parts) =>
  await customer.complete(await customer.change(tier, when));
const changed = (from: string, to: string) => async (parts: Parts) => {
  await start(from)(parts);
  await change(to, 'period_end')(parts);
};
/** The schedule tells the gateway, which does not answer, and tries again an hour later. */
const untold = async (parts: Parts) => {
  await parts.billing.runSchedule();
  await parts.customer.attempted();
  await later(1)(parts);
};
/** The gateway is told 48 hours before the end of a cycle. */
const nearEnd = ({ customer }: Parts) => customer.moveTo(47);

/** A flow in which the gateway is told to cancel a subscription. `act` is what makes it necessary. */
const telling = (
  { prepare, act, ...flow }: Pick<Flow, 'prepare' | 'during' | 'end' | 'cycles'> & { act: Flow['prepare'] },
): Flow => ({
  calls: {
    'the cancellation': cancellation,
    // The gateway cancelled and its answer was lost; it refuses the next cancellation, and then the read fails.
    'the read after a lost answer': [
      { method: 'POST', path: '/v1/subscriptions/:id/cancel', mode: 'close', applied: true },
      { method: 'GET', path: '/v1/subscriptions/:id' },
    ],
  },
  prepare,
  async fail(parts) {
    await act(parts);
    await untold(parts);
  },
  retry: later(2),
  ...flow,
});

/** Every flow with each of its calls. The first call of a flow is the one that `npm test` lets fail. */
export const flows: Readonly<Record<string, Flow>> = {
  'a new subscription': {
    calls: { 'the new subscription': post('/v1/subscriptions') },
    prepare: () => Promise.resolve(),
    fail: async ({ billing, customer: { user } }) =>
      expect(await billing.send(user, 'subscriptions', { tier: 'basic' })).toEqual(unavailable),
    during: 'free',
    async retry({ customer }) {
      const id = await customer.ask('basic');
      expect(await customer.ask('basic')).toBe(id);
      await customer.approve(id);
    },
    end: { tier: 'basic', billed: 1 },
  },
  'the verification of a subscription': {
    calls: { 'its payment': get('/v1/payments/:id'), 'the subscription': get('/v1/subscriptions/:id') },
    prepare: silentStart,
    fail: async ({ billing, customer: { user }, state }) =>
      expect(await billing.send(user, 'payments/verify', state.paid)).toEqual(unavailable),
    during: 'free',
    async retry({ billing, customer, state }) {
      for (let time = 0; time < 2; time++) {
        expect(await billing.send(customer.user, 'payments/verify', state.paid)).toMatchObject({ status: 200 });
      }
      expect(await customer.mails()).toEqual(['payment-success']);
    },
    end: { tier: 'basic', billed: 1 },
  },
  'the reconciliation of a renewal': {
    calls: { 'the subscription': get('/v1/subscriptions/:id') },
    async prepare(parts) {
      await silentStart(parts);
      await later(1)(parts);
    },
    fail: ({ customer }) => customer.moveTo(-30),
    during: 'basic',
    retry: later(1),
    end: { tier: 'basic', billed: 1 },
  },
  'a cancellation at once': telling({
    prepare: start('basic'),
    act: async ({ customer }) => void await customer.cancel(false),
    during: 'free',
    end: { tier: 'free', billed: 0 },
  }),
  'a cancellation at the end of the period': telling({
    prepare: start('basic'),
    async act(parts) {
      await parts.customer.cancel(true);
      await nearEnd(parts);
    },
    during: 'basic',
    end: { tier: 'free', billed: 0 },
  }),
  'a refund of half of a cycle': {
    calls: { 'the refund': post('/v1/payments/:id/refund') },
    prepare: start('basic'),
    async fail({ billing, customer }) {
      const { payments: [payment] } = await customer.read();
      const reference = payment.gateway_payment_id;
      await actAsOwner(billing.database, { action: 'refund', reference, amount: payment.amount / 2 });
      await billing.runSchedule();
    },
    during: 'basic',
    async retry(parts) {
      await later(2)(parts);
      await parts.billing.simulate('due', {});
      const { payments: [payment] } = await parts.customer.read();
      expect(payment.refunded_amount * 2).toBe(payment.amount);
      const left = 'select refundable_amount::int as left from billing.customer_payments where gateway_payment_id = $1';
      const found = await parts.billing.database.one(left, [payment.gateway_payment_id]);
      expect(found).toEqual({ left: payment.amount / 2 });
    },
    end: { tier: 'basic', billed: 1 },
  },
  'a change now, with a credit': {
    calls: { 'the new subscription': post('/v1/subscriptions'), 'the order for the difference': post('/v1/orders') },
    prepare: start('basic'),
    fail: async ({ customer }) => expect(await customer.change('pro', 'now')).toEqual(unavailable),
    during: 'basic',
    retry: change('pro', 'now'),
    end: { tier: 'pro', billed: 1 },
    cycles: 2,
  },
  'a change at the end of the period': {
    calls: { 'the new subscription': post('/v1/subscriptions') },
    prepare: start('pro'),
    fail: async ({ customer }) => expect(await customer.change('basic', 'period_end')).toEqual(unavailable),
    during: 'pro',
    retry: change('basic', 'period_end'),
    end: { tier: 'basic', billed: 1 },
  },
  'a change that the customer undoes': telling({
    prepare: changed('pro', 'basic'),
    act: async ({ customer }) => expect(await customer.change('pro', 'period_end')).toMatchObject({ status: 200 }),
    during: 'pro',
    end: { tier: 'pro', billed: 1 },
  }),
  'two pages that are both authorised': {
    calls: { 'the reading of the second, before it is cancelled': get('/v1/subscriptions/:id') },
    async prepare({ billing, customer, state }) {
      [state.first, state.second] = [await customer.ask('basic'), await customer.ask('pro')];
      await billing.moveOn(1);
    },
    async fail(parts) {
      const { billing, customer, state } = parts;
      await customer.approve(state.first ?? '');
      await billing.runSchedule();
      await customer.attempted();
      await billing.moveOn(0.1);
      await customer.approve(state.second ?? '');
    },
    during: 'pro',
    retry: later(2),
    // The gateway was not told to stop the second, so it goes on, and the first one ends with its cycle.
    end: { tier: 'pro', billed: 1 },
  },
};
