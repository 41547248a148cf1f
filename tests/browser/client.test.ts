import { expect, test, vi } from 'vitest';
import { useBrowser } from '../helpers/browser/use-browser.ts';
import { useProject } from '../helpers/project/use-project.ts';
import { press, says, windowOf } from '../stack/checkout-rig.ts';
import { useApp } from './app-rig.ts';

const project = useProject();
const app = useApp(project);
const browser = useBrowser();
const PAY = 'Pay ₹999.00';
const VERIFY = '/api/payments/verify';

const newestOrderIs = (status: string) =>
  vi.waitFor(async () => expect((await app.orders()).at(-1)).toBe(status), { timeout: 10_000, interval: 5 });

test('a customer buys a plan, and the page learns the tier and its end', async () => {
  const tab = await app.open(browser);
  await tab.buy();
  await press(await windowOf(tab.page), PAY);
  expect(await tab.result()).toMatchObject({
    outcome: 'paid',
    id: expect.stringMatching(/^order_/),
    tier: 'pro',
    validUntil: expect.stringMatching(/Z$/),
  });
  expect([await tab.states(), await tab.remembered()]).toEqual([['open', 'verifying'], []]);
  expect(await tab.currentTier()).toBe('pro');
});

test('a failed attempt is followed by another one in the same window', async () => {
  const tab = await app.open(browser);
  await tab.buy();
  const frame = await windowOf(tab.page);
  await press(frame, 'Fail this attempt');
  await says(frame, 'The bank declined the payment.');
  await press(frame, 'Try again');
  await press(frame, PAY);
  expect(await tab.result()).toMatchObject({ outcome: 'paid' });
  expect(await tab.states()).toEqual(['open', 'attempt_failed', 'verifying']);
});

test('a QR code that is paid after the window was closed is paid', async () => {
  await app.simulate('checkout', { deliver: { drop: true } });
  const tab = await app.open(browser);
  await tab.buy();
  const frame = await windowOf(tab.page);
  await press(frame, 'Pay by QR code on another device');
  await says(frame, 'Waiting for the payment on the other device');
  await press(frame, 'Close the checkout');
  expect(await tab.result()).toMatchObject({ outcome: 'paid', tier: 'pro' });
  expect(await tab.states()).toEqual(['open', 'checking']);
});

test('a window that is closed without a payment is dismissed after a check', async () => {
  const tab = await app.open(browser);
  await tab.buy({ checkSeconds: 0 });
  await press(await windowOf(tab.page), 'Close the checkout');
  expect(await tab.result()).toMatchObject({ outcome: 'dismissed' });
  expect(await tab.currentTier()).toBe('free');
});

test('a tab is closed after the payment, webhooks are late, and the next current() finishes the checkout', async () => {
  await app.simulate('checkout', { deliver: { drop: true } });
  const tab = await app.open(browser);
  await tab.buy();
  const next = await tab.another();
  await tab.page.bringToFront();
  const frame = await windowOf(tab.page);
  // A tab learns late what another one stored.
  await vi.waitFor(async () => expect(await next.remembered()).toHaveLength(1), { timeout: 10_000 });
  await press(frame, PAY);
  await newestOrderIs('paid');
  await tab.page.close();
  expect(await next.currentTier(), app.answers()).toBe('pro');
  expect(await next.remembered()).toEqual([]);
  expect(app.requests(VERIFY)).toBe(0);
});

test('verify answers 500 twice, then the payment is verified', async () => {
  await app.simulate('checkout', { deliver: { drop: true } });
  const tab = await app.open(browser);
  app.break(VERIFY, 2);
  await tab.buy();
  await press(await windowOf(tab.page), PAY);
  expect(await tab.result()).toMatchObject({ outcome: 'paid' });
  expect(app.requests(VERIFY)).toBe(3);
});

test('the network is lost between payment and verify, and verify follows when it is back', async () => {
  await app.simulate('checkout', { deliver: { drop: true } });
  const tab = await app.open(browser);
  await tab.buy();
  await press(await windowOf(tab.page), PAY);
  await newestOrderIs('paid');
  await tab.page.setOfflineMode(true);
  await tab.page.waitForFunction("states.includes('verifying')", { polling: 20 });
  expect([app.requests(VERIFY), await tab.page.evaluate('result')]).toEqual([0, null]);
  await tab.page.setOfflineMode(false);
  expect(await tab.result()).toMatchObject({ outcome: 'paid' });
  expect(app.requests(VERIFY)).toBe(1);
});

test('a reload while verify fails loses nothing: resumePending() verifies the payment', async () => {
  await app.simulate('checkout', { deliver: { drop: true } });
  const tab = await app.open(browser);
  app.break(VERIFY, 1);
  await tab.buy();
  await press(await windowOf(tab.page), PAY);
  await vi.waitFor(() => expect(app.requests(VERIFY)).toBe(1), { timeout: 10_000, interval: 5 });
  const reloaded = await tab.another();
  await tab.page.close();
  expect(await reloaded.page.evaluate('subscriptions.resumePending()')).toMatchObject([{ outcome: 'paid' }]);
  expect(await reloaded.remembered()).toEqual([]);
});

test('in redirect mode the browser pays on the page of the gateway, and comes back with the tier', async () => {
  const tab = await app.open(browser);
  await tab.buy({ redirect: true });
  await tab.page.waitForSelector('[data-panel="pay"]:not([hidden])');
  await press(tab.page.mainFrame(), PAY);
  await vi.waitFor(() => expect(tab.page.url()).toMatch(/\/dashboard\?payment=paid&order=order_/), { timeout: 10_000 });
  await tab.page.waitForFunction("typeof start === 'function'");
  expect(await tab.currentTier()).toBe('pro');
  expect([await tab.remembered(), app.requests(VERIFY)]).toEqual([[], 0]);
});

test("a script that the page's policy blocks fails with a message that names the policy", async () => {
  const tab = await app.open(browser, 'forbids');
  await tab.buy();
  expect(await tab.result()).toMatchObject({
    outcome: 'failed',
    message: expect.stringMatching(
      /checkout\.js is blocked by the page's content security policy: add it to script-src$/,
    ),
  });
});

test('two tabs open the same order at once: one pays, and the other one learns it', async () => {
  const first = await app.open(browser);
  const second = await first.another();
  await Promise.all([first.buy(), second.buy()]);
  await first.page.bringToFront();
  await press(await windowOf(first.page), PAY);
  const { id } = await first.result();
  await second.page.bringToFront();
  await press(await windowOf(second.page), 'Close the checkout');
  expect(await second.result()).toMatchObject({ outcome: 'paid', id });
  expect(await second.currentTier()).toBe('pro');
});

test('a subscription that the gateway bills is authorised and verified, before its webhooks', async () => {
  await app.simulate('checkout', { deliver: { drop: true } });
  await project.database.query("update public.plans set gateway_plan_id = 'plan_Pro00000000001' where tier = 'pro'");
  const tab = await app.open(browser);
  await tab.buy({ method: 'subscribe' });
  await press(await windowOf(tab.page), 'Authorise ₹999.00');
  expect(await tab.result()).toMatchObject({ outcome: 'paid', id: expect.stringMatching(/^sub_/), tier: 'pro' });
  expect(await tab.currentTier()).toBe('pro');
});
