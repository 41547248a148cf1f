import { describe, expect, test } from 'vitest';
import { useBrowser } from '../helpers/browser/use-browser.ts';
import { simulator, until, useSimulator } from './gateway-simulator-rig.ts';
import { createOrder, type Entity, look, pay, quiet, read, simulate, webhooks } from './simulate.ts';

useSimulator();

const offer_id = expect.stringMatching(/^offer_[A-Za-z0-9]{14}$/);

/** The payment of a new order, and the order, as the API has them. */
async function payNew(amount = 99900): Promise<{ payment: Entity; order: Entity }> {
  const { id } = await createOrder({ amount });
  const { gateway_payment_id } = await pay({ id }, quiet);
  return { payment: await read(`payments/${gateway_payment_id}`), order: await read(`orders/${id}`) };
}

test.each<[string, Entity, Entity]>([
  ['the defaults', {}, { amount: 99900, fee: 2358, tax: 360, offer_id: null }],
  ['the fee on top', { fee_bearer: 'customer' }, { amount: 102258, fee: 2358, tax: 360, offer_id: null }],
  ['a percentage off', { offer: { percent: 10 } }, { amount: 89910, fee: 2122, tax: 324, offer_id }],
  ['an amount off', { offer: { amount: 900 } }, { amount: 99000, fee: 2336, tax: 356, offer_id }],
  ['both', { fee_bearer: 'customer', offer: { amount: 900 } }, { amount: 101336, fee: 2336, tax: 356, offer_id }],
])(
  'POST /simulate/account with %s: the payment differs, and the order is paid as ordered',
  async (_, account, terms) => {
    expect(await simulate('account', account)).toEqual(await look('account'));
    const { payment, order } = await payNew();
    expect(payment).toMatchObject({ ...terms, status: 'captured', base_amount: terms.amount });
    expect(order).toMatchObject({ amount: 99900, amount_paid: 99900, amount_due: 0, status: 'paid', offer_id: null });
  },
);

test('an offer that leaves less than the minimum does not apply, and {} ends it', async () => {
  await simulate('account', { offer: { amount: 99850 } });
  expect((await payNew()).payment).toMatchObject({ amount: 99900, offer_id: null });
  expect((await payNew(99950)).payment).toMatchObject({ amount: 100, offer_id });
  expect(await simulate('account', {})).toEqual({ fee_bearer: 'merchant', offer: null, rates: {}, offer_id: null });
  expect((await payNew(99950)).payment).toMatchObject({ amount: 99950, offer_id: null });
});

test('a payment that was begun keeps its amount; a full refund refunds all of it; subscriptions are charged as planned', async () => {
  await simulate('account', { fee_bearer: 'customer' });
  const { gateway_payment_id: payment_id } = await pay(await createOrder({ amount: 99900 }), { outcome: 'authorized' });
  await simulate('account', {});
  await simulate('payment', { payment_id, to: 'captured' });
  expect((await webhooks()).map(({ payload }) => payload.payment.entity.amount)).toEqual([102258, 102258, 102258]);
  await simulate('refund', { payment_id });
  expect(await read(`payments/${payment_id}`)).toMatchObject({ status: 'refunded', amount_refunded: 102258 });
  await simulate('account', { fee_bearer: 'customer', offer: { percent: 50 } });
  await simulate('subscription', { event: 'charged', amount: 49900, ...quiet });
  expect((await look('state')).payments[0]).toMatchObject({ amount: 49900, offer_id: null });
});

test.each<Entity>([{ fee_bearer: 'bank' }, { offer: { percent: 100 } }, { offer: { amount: 0 } }, { offer: {} }])(
  'POST /simulate/account %j is refused and changes nothing',
  async (account) => {
    const { error } = await simulate('account', account);
    expect(error.field).toMatch(/^(fee_bearer|offer)/);
    expect(await look('account')).toEqual({ fee_bearer: 'merchant', offer: null, rates: {}, offer_id: null });
  },
);

describe('on the page', () => {
  const browser = useBrowser();

  test('a person sets the account, and sees what a control set', async () => {
    await simulate('account', { offer: { percent: 12.5 } });
    const page = await browser.openPage();
    await page.goto(simulator.url);
    const chosen = () => page.evaluate("document.querySelector('#offer').selectedOptions[0]?.textContent");
    await until(async () => await chosen() === '12.5 %');
    await page.click('#customer-fee');
    await until(async () => (await look('account')).fee_bearer === 'customer');
    expect((await look('account')).offer).toEqual({ percent: 12.5 });
    await page.select('#offer', '{"percent":10}');
    await until(async () => (await look('account')).offer.percent === 10);
    expect((await look('account')).fee_bearer).toBe('customer');
  });
});
