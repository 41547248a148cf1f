import { expect, test } from 'vitest';
import {
  type Answer,
  dismiss,
  failAndDismiss,
  fields,
  type GatewayWindow,
  openPage,
  ordered,
  orderIs,
  ORDERS,
  paid,
  paidOrder,
  pass,
  pay,
  pending,
  READ,
  refusal,
  verified,
  VERIFY,
} from './fake-page.ts';

const refused = refusal(400, 'Payment verification failed');
const another = { status: 201, body: { ...ordered, order: { ...ordered.order, id: 'order_2' } } };

test('a payment is verified with the three fields, and the window had the order and what is known of the user', async () => {
  const page = openPage();
  const states: unknown[] = [];
  const chosen = { name: 'Acme', theme: { color: '#123456' } };
  const { result, window } = await page.open({
    window: { ...chosen, prefill: { contact: '+919999999999' } },
    start: 'after_current',
    onState: (...state) => states.push(state),
  });
  expect(window.options).toMatchObject({
    ...{ ...chosen, key: 'key_1', order_id: 'order_1', amount: 99900, currency: 'INR', redirect: false },
    prefill: { email: 'asha@example.com', name: 'Asha', contact: '+919999999999' },
  });
  expect(page.storage.size).toBe(1);
  // A failed attempt does not end the checkout.
  window.fail('The bank said no.');
  await pass(60);
  window.pay();
  expect(await result).toEqual(paid);
  expect(page.requests).toEqual([
    { endpoint: ORDERS, body: { tier: 'pro', start: 'after_current' } },
    { endpoint: VERIFY, body: { gateway_order_id: 'order_1', ...fields } },
  ]);
  expect(states).toEqual([['open', undefined], ['attempt_failed', 'The bank said no.'], ['verifying', undefined]]);
  expect(page.storage.size).toBe(0);
});

test('the script is loaded once for several checkouts, also at the same time', async () => {
  const page = openPage();
  const both = [page.subscriptions.checkout('pro'), page.reload().checkout('pro')];
  await pass(0);
  expect(page.windows).toHaveLength(2);
  page.windows.forEach(dismiss);
  await pass(60);
  await Promise.all(both);
  await page.open();
  expect(page.scripts).toEqual(['https://checkout.example.com/v1/checkout.js']);
});

test.each(
  [
    ['is forbidden', "is blocked by the page's content security policy: add it to script-src"],
    ['fails', 'could not be loaded: an ad blocker or the network blocks it'],
    ['sets nothing', 'does not set Gateway'],
    ['throws', null],
  ] as const,
)('a script that %s fails with a clear message, and nothing is remembered', async (fate, reason) => {
  const page = openPage();
  page.scriptFate = fate;
  const result = page.subscriptions.checkout('pro');
  await pass(1);
  const message = `The checkout https://checkout.example.com/v1/checkout.js ${reason}`;
  expect(await result).toMatchObject({
    outcome: 'failed',
    error: { code: 'script', message: reason === null ? 'Error: No key passed' : message },
  });
  page.scriptFate = 'loads';
  expect(page.storage.size).toBe(0);
  await page.open();
  expect(page.scripts).toHaveLength(reason === null ? 1 : 2);
});

test('without a page the checkout fails, and plans are read', async () => {
  const page = openPage({ document: undefined, localStorage: undefined });
  page.answers('GET /api/subscriptions/plans', { body: { plans: [ordered.plan] } });
  expect(await page.subscriptions.plans()).toEqual([ordered.plan]);
  expect(await page.subscriptions.checkout('pro')).toMatchObject({ error: { code: 'script' } });
});

test('a dismissed order is read every five seconds for thirty before it counts as dismissed', async () => {
  const page = openPage();
  const { result, window } = await page.open();
  window.dismiss();
  await pass(29);
  expect(page.to(READ)).toHaveLength(6);
  await pass(1);
  expect([await result, page.to(READ).length]).toEqual([{ outcome: 'dismissed', id: 'order_1' }, 7]);
});

const failure = { outcome: 'failed', id: 'order_1', error: { code: 'declined' } };
const unpaid = orderIs('failed', { last_error: 'Out of funds.' });
const outOfFunds = { ...failure, error: { message: 'Out of funds.' } };
test.each<[string, (window: GatewayWindow) => void, number, Record<string, Answer[]>, object, number]>([
  ['dismissed, and paid meanwhile', dismiss, 10, { [READ]: [orderIs('open'), orderIs('open'), paidOrder] }, paid, 0],
  ['dismissed, and its order is not known', dismiss, 30, { [READ]: ['lost'] }, pending, 1],
  ['dismissed, and paid without a tier', dismiss, 30, { [READ]: [orderIs('paid')] }, pending, 1],
  ['declined, then dismissed', failAndDismiss, 30, {}, { ...failure, error: { message: 'The bank said no.' } }, 1],
  ['declined, then dismissed, and its order says why', failAndDismiss, 30, { [READ]: [unpaid] }, outOfFunds, 1],
  ['paid, and verify answers 500 twice', pay, 3, { [VERIFY]: [{ status: 500 }, { status: 500 }, verified] }, paid, 0],
  ['paid, and verify does not answer for two minutes', pay, 120, { [VERIFY]: ['lost'] }, pending, 1],
  ['paid, and verify refuses it', pay, 0, { [VERIFY]: [refused] }, pending, 1],
  ['paid, refused, and its order has failed', pay, 0, { [VERIFY]: [refused], [READ]: [unpaid] }, failure, 0],
])('a checkout is %s', async (_, end, seconds, answers, expected, remembered) => {
  const page = openPage();
  for (const [endpoint, next] of Object.entries(answers)) page.answers(endpoint, ...next);
  expect(await page.buy(end, seconds)).toMatchObject(expected);
  expect(page.storage.size).toBe(remembered);
  if (answers[VERIFY]?.[0] === refused) expect(page.to(VERIFY)).toHaveLength(1);
  if (expected === pending && end === pay) {
    expect([...page.storage.values()].join()).toContain('"gateway_signature":"f00d"');
  }
});

test('an answer that comes after the dismissal is verified', async () => {
  const page = openPage();
  const { result, window } = await page.open();
  window.dismiss();
  await pass(1);
  window.pay();
  await pass(5);
  expect([await result, page.to(VERIFY).length]).toEqual([paid, 1]);
});

test('a second click while the window is open gets the result of the first; another order fails', async () => {
  const page = openPage();
  const { result, window } = await page.open();
  const second = page.subscriptions.checkout('pro');
  await pass(1);
  expect(page.windows).toHaveLength(1);
  page.answers(ORDERS, another);
  expect(await page.subscriptions.checkout('basic')).toMatchObject({ outcome: 'failed', error: { code: 'busy' } });
  window.pay();
  expect([await result, await second]).toEqual([paid, paid]);
});

test('while a closed window is checked, another click opens it again', async () => {
  const page = openPage();
  const first = await page.open();
  first.window.dismiss();
  await pass(1);
  const second = await page.open();
  second.window.pay();
  page.answers(READ, paidOrder);
  await pass(5);
  expect([await first.result, await second.result]).toEqual([paid, paid]);
});

test('two tabs with two orders are remembered apart', async () => {
  const page = openPage();
  await page.open();
  page.answers(ORDERS, another);
  const second = await page.open({}, page.reload());
  expect(page.storage.size).toBe(2);
  second.window.pay();
  expect(await second.result).toEqual({ ...paid, id: 'order_2' });
  expect([...page.storage.keys()]).toEqual(['subscriptions:api:order_1']);
});

test('an abort closes the open window, and the checkout is pending and remembered; after its end it closes nothing', async () => {
  const page = openPage();
  const controller = new AbortController();
  const { signal } = controller;
  const finished = await page.open({ signal });
  finished.window.pay();
  expect(await finished.result).toEqual(paid);
  const open = await page.open({ signal });
  controller.abort();
  expect([await open.result, page.storage.size]).toEqual([pending, 1]);
  expect([open.window.isClosed, finished.window.isClosed]).toEqual([true, false]);
});
