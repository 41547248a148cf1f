import { expect, test } from 'vitest';
import { CURRENT, openPage, orderIs, paid, paidOrder, pass, pay, READ, verified, VERIFY } from './fake-page.ts';

/** A page that was reloaded while its payment was verified, so that storage has the gateway's answer. */
async function reloadWhileVerifying() {
  const page = openPage();
  page.answers(VERIFY, 'lost');
  const { window } = await page.open();
  window.pay();
  await pass(1);
  return { page, reloaded: page.reload() };
}

test('after a reload resumePending() verifies with back-off what the gateway answered', async () => {
  const { page, reloaded } = await reloadWhileVerifying();
  page.answers(VERIFY, { status: 500 }, { status: 500 }, verified);
  const results = reloaded.resumePending();
  await pass(5);
  expect(await results).toEqual([paid]);
  expect(page.storage.size).toBe(0);
});

test('after a reload current() verifies once before it reads, and reads also when that fails', async () => {
  const { page, reloaded } = await reloadWhileVerifying();
  expect(await reloaded.current()).toMatchObject({ currentTier: 'free' });
  expect(page.storage.size).toBe(1);
  page.answers(VERIFY, verified);
  await reloaded.current();
  const [verify, read] = page.requests.slice(-2);
  expect([verify?.endpoint, read?.endpoint, page.storage.size]).toEqual([VERIFY, CURRENT, 0]);
});

test('a tab that was closed after the payment is finished by the next current()', async () => {
  const page = openPage();
  await page.open();
  page.answers(READ, paidOrder);
  await page.reload().current();
  expect([page.to(READ).length, page.to(VERIFY).length, page.storage.size]).toEqual([1, 0, 0]);
});

test('what the gateway answered is being verified after a reload, and an order without an answer is only looked up', async () => {
  const states: string[] = [];
  const onState = (state: string) => void states.push(state);
  const { page, reloaded } = await reloadWhileVerifying();
  page.answers(VERIFY, verified);
  await reloaded.resumePending({ onState });
  await page.open();
  await page.reload().resumePending({ onState });
  expect(states).toEqual(['verifying', 'checking']);
});

test('an order without an answer is read for an hour, then forgotten', async () => {
  const page = openPage();
  await page.open();
  await pass(3599);
  expect(await page.reload().resumePending()).toEqual([{ outcome: 'dismissed', id: 'order_1' }]);
  await pass(2);
  expect(await page.reload().resumePending()).toEqual([]);
  expect([page.to(READ).length, page.storage.size]).toEqual([1, 0]);
});

test('what another user of the browser left is kept for that user', async () => {
  const { page, reloaded } = await reloadWhileVerifying();
  const before = page.requests.length;
  page.userId = '22222222-2222-4222-8222-222222222222';
  expect(await reloaded.resumePending()).toEqual([]);
  expect([page.requests.length, page.storage.size]).toEqual([before, 1]);
});

test('damaged and foreign entries in storage are ignored, and without storage the checkout works', async () => {
  const page = openPage();
  page.storage.set('subscriptions:api:order_0', '{').set('theme', 'dark');
  expect(await page.subscriptions.resumePending()).toEqual([]);
  const without = openPage({ localStorage: undefined });
  expect([await without.buy(pay), await without.subscriptions.resumePending()]).toEqual([paid, []]);
});

test('two tabs with the same order: one pays, and the other one, dismissed, is paid, too', async () => {
  const page = openPage();
  const first = await page.open();
  const second = page.reload().checkout('pro');
  await pass(0);
  first.window.pay();
  expect(await first.result).toEqual(paid);
  page.answers(READ, paidOrder);
  page.windows[1]?.dismiss();
  expect(await second).toEqual(paid);
});

const IPHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const ANDROID = 'Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0';
test.each([
  ['Instagram', `${ANDROID.replace('; wv', '')} Instagram 350`, true],
  ['Facebook', `${ANDROID.replace('; wv', '')} Chrome/126.0 Mobile Safari/537.36 [FBAN/EMA;FBAV/470]`, true],
  ['a web view of Android', `${ANDROID} Chrome/126.0 Mobile Safari/537.36`, true],
  ['a web view of iOS', `${IPHONE} Mobile/15E148`, true],
  ['Safari on iOS', `${IPHONE} Version/18.0 Mobile/15E148 Safari/604.1`, false],
  ['Chrome on Android', `${ANDROID.replace('; wv', '')} Chrome/126.0 Mobile Safari/537.36`, false],
])('in %s the window redirects to the function, or answers its handler', async (_, userAgent, redirect) => {
  const { window: { options } } = await openPage({ navigator: { userAgent } }).open();
  const callback_url = 'https://ref.supabase.co/functions/v1/api/payments/return';
  expect([options.redirect, options.callback_url, typeof options.handler])
    .toEqual(redirect ? [true, callback_url, 'undefined'] : [false, undefined, 'function']);
});

test("React Native's web view redirects, and `redirect` decides before that", async () => {
  const page = openPage({ ReactNativeWebView: {} });
  const [usual, chosen] = [await page.open(), await page.open({ redirect: false }, page.reload())];
  expect([usual.window.options.redirect, chosen.window.options.redirect]).toEqual([true, false]);
});

test('a redirected page that comes back out of the cache reads its order', async () => {
  const page = openPage();
  const { result } = await page.open({ redirect: true });
  page.answers(READ, orderIs('open'), paidOrder);
  globalThis.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  await pass(5);
  expect(await result).toEqual(paid);
});

test('a second purchase of an order whose payment waits for verify opens no window', async () => {
  const { page, reloaded } = await reloadWhileVerifying();
  page.answers(VERIFY, verified);
  expect(await reloaded.checkout('pro')).toEqual(paid);
  expect(page.windows).toHaveLength(1);
});
