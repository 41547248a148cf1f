import { expect, test } from 'vitest';
import { readOrderPayments } from '../../supabase/functions/api/gateway/order-payments.ts';
import type { GatewayEntity, Reading } from '../../supabase/functions/api/ports.ts';

type Answer = Reading<readonly GatewayEntity[]>;

const found = (...value: GatewayEntity[]): Answer => ({ status: 'found', value });
const unanswered: Answer = { status: 'unanswered' };
const refund = { id: 'rfnd_A', payment_id: 'pay_A', amount: 100, status: 'pending', created_at: 1_767_225_600 };

/** Reads an order from a gateway with these payments, and the refunds of each by its id. Also returns the calls. */
async function read(payments: Answer, refunds: Record<string, Answer> = {}, order?: GatewayEntity) {
  const asked: string[] = [];
  const reading = await readOrderPayments(
    {
      listOrderPayments: (orderId) => (asked.push(orderId), Promise.resolve(payments)),
      listRefunds: (paymentId) => (asked.push(paymentId), Promise.resolve(refunds[paymentId] ?? unanswered)),
      readOrder: (
        id,
      ) => (asked.push(`${id} itself`),
        Promise.resolve(order ? { status: 'found', value: order } : { status: 'unanswered' })),
    },
    'order_A',
    99900,
  );
  return { reading, asked };
}

test.each<GatewayEntity>([
  { status: 'captured', amount_refunded: 1 },
  { status: 'refunded', amount_refunded: 99900 },
  { status: 'refunded' },
])('the refunds of a payment with %j are read with all fields', async (fields) => {
  const payment = { id: 'pay_A', notes: [], ...fields };
  expect(await read(found(payment), { pay_A: found(refund) }))
    .toEqual({ reading: found({ ...payment, refunds: [refund] }), asked: ['order_A', 'pay_A'] });
});

test.each<GatewayEntity>([
  { id: 'pay_A', status: 'captured', amount_refunded: 0 },
  { id: 'pay_A', status: 'captured', amount_refunded: '100' },
  { status: 'refunded', amount_refunded: 100 },
  { id: 17, status: 'refunded' },
  {},
])('the refunds of %j are not read, and it is returned unchanged', async (payment) => {
  expect(await read(found(payment))).toEqual({ reading: found(payment), asked: ['order_A'] });
});

test('each payment has its own refunds, none where the gateway knows none, and the payments keep their order', async () => {
  const [one, two] = [{ id: 'pay_A', amount_refunded: 100 }, { id: 'pay_B', status: 'failed' }];
  const [three, four] = [{ id: 'pay_C', status: 'refunded' }, { id: 'pay_D', status: 'refunded' }];
  const other = { ...refund, id: 'rfnd_C', payment_id: 'pay_C' };
  const refunds: Record<string, Answer> = { pay_A: found(refund), pay_C: found(other), pay_D: { status: 'unknown' } };
  expect((await read(found(one, two, three, four), refunds)).reading).toEqual(
    found({ ...one, refunds: [refund] }, two, { ...three, refunds: [other] }, { ...four, refunds: [] }),
  );
});

test('an unanswered list of refunds makes the whole reading unanswered, and ends the calls', async () => {
  const payments = found({ id: 'pay_A', amount_refunded: 1 }, { id: 'pay_B', amount_refunded: 1 });
  expect(await read(payments, { pay_B: found(refund) })).toEqual({ reading: unanswered, asked: ['order_A', 'pay_A'] });
});

test.each(['captured', 'refunded'])(
  'the order of a %s payment of another amount is read, once, and a missing answer is none',
  async (status) => {
    const [exact, fee] = [{ status, amount: 99900 }, { status, amount: 102258 }];
    const order = { id: 'order_A', status: 'paid', amount: 99900 };
    expect(await read(found(exact, fee, { ...fee, status: 'failed' }), {}, order)).toEqual({
      reading: found(exact, { ...fee, order }, { ...fee, status: 'failed' }),
      asked: ['order_A', 'order_A itself'],
    });
    expect((await read(found(fee))).reading).toEqual(unanswered);
  },
);
