import { expect, test } from 'vitest';
import { readOrderPayments } from '../../supabase/functions/api/gateway/order-payments.ts';
import type { GatewayEntity, Reading } from '../../supabase/functions/api/ports.ts';

type Answer = Reading<readonly GatewayEntity[]>;

const found = (...value: GatewayEntity[]): Answer => ({ status: 'found', value });
const refund = { id: 'rfnd_A', payment_id: 'pay_A', amount: 100, status: 'pending', created_at: 1_767_225_600 };

/** Reads an order from a gateway with these payments, and the refunds of each by its id. Also returns the calls. */
async function read(payments: Answer, refunds: Record<string, Answer> = {}) {
  const asked: string[] = [];
  const reading = await readOrderPayments({
    listOrderPayments(orderId) {
      asked.push(orderId);
      return Promise.resolve(payments);
    },
    listRefunds(paymentId) {
      asked.push(paymentId);
      return Promise.resolve(refunds[paymentId] ?? { status: 'unanswered' });
    },
  }, 'order_A');
  return { reading, asked };
}

test.each<[string, GatewayEntity]>([
  ['an amount refunded in part', { status: 'captured', amount_refunded: 1 }],
  ['an amount refunded in full', { status: 'refunded', amount_refunded: 99900 }],
  ['the status refunded and no amount', { status: 'refunded' }],
  ['the status refunded and an amount of null', { status: 'refunded', amount_refunded: null }],
])('a payment with %s has its refunds with all fields', async (_, fields) => {
  const payment = { id: 'pay_A', notes: [], ...fields };
  expect(await read(found(payment), { pay_A: found(refund) })).toEqual({
    reading: found({ ...payment, refunds: [refund] }),
    asked: ['order_A', 'pay_A'],
  });
});

test.each<GatewayEntity>([
  { id: 'pay_A', status: 'captured', amount_refunded: 0 },
  { id: 'pay_A', status: 'captured', amount_refunded: null },
  { id: 'pay_A', status: 'captured', amount_refunded: '100' },
  { id: 'pay_A', status: 'failed' },
  { status: 'refunded', amount_refunded: 100 },
  { id: 17, status: 'refunded' },
  {},
])('the refunds of %j are not read, and it is returned unchanged', async (payment) => {
  expect(await read(found(payment))).toEqual({ reading: found(payment), asked: ['order_A'] });
});

test('each payment has its own refunds, and the payments keep their order', async () => {
  const [one, two, three] = [
    { id: 'pay_A', amount_refunded: 100 },
    { id: 'pay_B', status: 'failed' },
    { id: 'pay_C', status: 'refunded' },
  ];
  const other = { ...refund, id: 'rfnd_C', payment_id: 'pay_C' };
  const { reading } = await read(found(one, two, three), { pay_A: found(refund), pay_C: found(other) });
  expect(reading).toEqual(found({ ...one, refunds: [refund] }, two, { ...three, refunds: [other] }));
});

test('a payment whose refunds are unknown to the gateway has none', async () => {
  const payment = { id: 'pay_A', status: 'refunded' };
  expect((await read(found(payment), { pay_A: { status: 'unknown' } })).reading)
    .toEqual(found({ ...payment, refunds: [] }));
});

test('an unanswered list of refunds makes the whole reading unanswered, and ends the calls', async () => {
  const payments = found({ id: 'pay_A', amount_refunded: 1 }, { id: 'pay_B', amount_refunded: 1 });
  expect(await read(payments, { pay_B: found(refund) }))
    .toEqual({ reading: { status: 'unanswered' }, asked: ['order_A', 'pay_A'] });
});

test.each(['unknown', 'unanswered'] as const)('an order that is %s is returned as that', async (status) => {
  expect(await read({ status })).toEqual({ reading: { status }, asked: ['order_A'] });
});
