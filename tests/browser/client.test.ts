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
const soon = { timeout: 10_000, interval: 5 };

const untilPaid = () => vi.waitFor(async () => expect((await app.orders()).at(-1)).toBe('paid'), soon);

test('a customer dismisses a window, then fails an attempt and pays, and the page learns the tier and its end', async () => {
  const tab = await app.open(browser);
  await tab.buy({ checkSeconds: 0 });
  await press(await windowOf(tab.page), 'Close the checkout');
  expect(await tab.result()).toMatchObject({ outcome: 'dismissed' });
  expect(await tab.currentTier()).toBe('free');
  await tab.buy();
  const frame = await windowOf(tab.page);
  await press(frame, 'Fail this attempt');
  await says(frame, 'The bank declined the payment.');
  await press(frame, 'Try again');
  await press(frame, PAY);
  const { outcome, id, tier, validUntil } = await tab.result();
  expect([outcome, tier]).toEqual(['paid', 'pro']);
  expect([id, validUntil]).toEqual([expect.stringMatching(/^order_/), expect.stringMatching(/Z$/)]);
  expect([await tab.states(), await tab.remembered()]).toEqual([['open', 'attempt_failed', 'verifying'], []]);
  expect(await tab.currentTier()).toBe('pro');
});

test(
  'a tab is closed after the payment, webhooks are late, and the next current() finishes the checkout',
  async () => {
    await app.simulate('checkout', { deliver: { drop: true } });
    const tab = await app.open(browser);
    await tab.buy();
    const next = await tab.another();
    await tab.page.bringToFront();
    const frame = await windowOf(tab.page);
    // A tab learns late what another one stored.
    await vi.waitFor(async () => expect(await next.remembered()).toHaveLength(1), soon);
    await press(frame, PAY);
    await untilPaid();
    await tab.page.close();
    expect(await next.currentTier()).toBe('pro');
    expect([await next.remembered(), app.requests(VERIFY)]).toEqual([[], 0]);
  },
);

test('the network is lost between payment and verify, and verify follows when it is back', async () => {
  await app.simulate('checkout', { deliver: { drop: true } });
  const tab = await app.open(browser);
  await tab.buy();
  await press(await windowOf(tab.page), PAY);
  await untilPaid();
  await tab.page.setOfflineMode(true);
  await tab.page.waitForFunction("states.includes('verifying')", { polling: 20 });
  expect([app.requests(VERIFY), await tab.page.evaluate('result')]).toEqual([0, null]);
  await tab.page.setOfflineMode(false);
  expect(await tab.result()).toMatchObject({ outcome: 'paid' });
  expect(app.requests(VERIFY)).toBe(1);
});

test('in redirect mode the browser pays on the page of the gateway, and comes back with the tier', async () => {
  const tab = await app.open(browser);
  await tab.buy({ redirect: true });
  await tab.page.waitForSelector('[data-panel="pay"]:not([hidden])');
  await press(tab.page.mainFrame(), PAY);
  await vi.waitFor(() => expect(tab.page.url()).toMatch(/\/dashboard\?payment=paid&order=order_/), soon);
  await tab.page.waitForFunction("typeof start === 'function'");
  expect(await tab.currentTier()).toBe('pro');
  expect([await tab.remembered(), app.requests(VERIFY)]).toEqual([[], 0]);
});

test("a script that the page's policy blocks fails with a message that names the policy", async () => {
  const tab = await app.open(browser, 'forbids');
  await tab.buy();
  const { outcome, message } = await tab.result();
  expect(outcome).toBe('failed');
  expect(message).toMatch(/checkout\.js is blocked by the page's content security policy: add it to script-src$/);
});

test('two tabs open the same order at once: one pays, the other one can not, and learns it', async () => {
  const before = (await app.orders()).length;
  const first = await app.open(browser);
  const second = await first.another();
  await Promise.all([first.buy(), second.buy()]);
  const window = await windowOf(second.page);
  await first.page.bringToFront();
  await press(await windowOf(first.page), PAY);
  const { id } = await first.result();
  await second.page.bringToFront();
  await press(window, PAY);
  await says(window, 'The order is already paid.');
  await press(window, 'Close');
  expect(await second.result()).toMatchObject({ outcome: 'paid', id });
  expect([await second.currentTier(), (await app.orders()).length - before]).toEqual(['pro', 1]);
});

test(
  'a subscription that the gateway bills is authorised and verified, before its webhooks',
  async () => {
    await app.simulate('checkout', { deliver: { drop: true } });
    await project.database.query("update public.plans set gateway_plan_id = 'plan_Pro00000000001' where tier = 'pro'");
    const tab = await app.open(browser);
    await tab.buy({ method: 'subscribe' });
    await press(await windowOf(tab.page), 'Authorise ₹999.00');
    expect(await tab.result()).toMatchObject({ outcome: 'paid', id: expect.stringMatching(/^sub_/), tier: 'pro' });
    expect(await tab.currentTier()).toBe('pro');
  },
);
