import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buttonHeights, scrollsSideways, textOf } from '../helpers/browser/in-page.js';
import { useBrowser } from '../helpers/browser/use-browser.ts';
import { isLong } from '../helpers/project/is-long.ts';
import { accessibilityProblems, press, says, windowOf } from '../stack/checkout-rig.ts';
import { until } from '../stack/gateway-simulator-rig.ts';
import { freeBasePort, npmStart, type RunningStack } from '../stack/running-stack.ts';
import { serveFirstApp } from './first-app.ts';

const browser = useBrowser();
let stack: RunningStack;
let env: Record<string, string>;
beforeAll(async () => {
  stack = npmStart(['--port', String(freeBasePort()), '--ephemeral']);
  env = await stack.ready;
});
afterAll(() => stack.end());

/** Opens a page, and keeps errors of its console, and violations of its policy. */
async function open(page: Page, url: string) {
  const problems: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.goto(url);
  return { page, problems };
}

/** Opens a page of the shop. */
const visit = async (path: string, viewing = {}) =>
  await open(await browser.openPage(viewing), `${env.APP_URL}${path}`);

/** Opens two tabs of one browser with the prices. A new user is signed in. */
async function visitTwice(email = `${crypto.randomUUID()}@example.com`) {
  const { page: first } = await visit('/sign-in');
  await signIn(first, email, 'Create an account');
  const { page: second } = await open(await first.browserContext().newPage(), `${env.APP_URL}/pricing`);
  await shows(second, 'main', 'Buy Pro');
  return { first, second, email };
}

async function signIn(page: Page, email: string, button: 'Sign in' | 'Create an account') {
  await page.locator('#email').fill(email);
  await page.locator('#password').fill('correct horse battery');
  // The heading has the name of a button.
  await press(page.mainFrame(), button);
  await shows(page, '#message', 'Signed in as');
}

/** A control of the gateway simulator. Without fields: what it has stored. */
async function simulate(control: string, fields?: Record<string, unknown>) {
  const init = fields && { method: 'POST', body: JSON.stringify(fields) };
  return await (await fetch(`${env.GATEWAY_URL}/simulate/${control}`, init)).json();
}

const click = (page: Page, name: string) => page.locator(`::-p-aria([name="${name}"])`).click();
const shows = (page: Page, selector: string, text: string) =>
  // A navigation ends a running `evaluate`.
  until(async () => (await page.evaluate(textOf, selector).catch(() => '')).includes(text));

test('sign up, buy, cancel and resume without a reload; a refund is shown, and the mail links here', async () => {
  const { page, problems } = await visit('/sign-in');
  await signIn(page, `${crypto.randomUUID()}@example.com`, 'Create an account');
  await page.evaluate('document.body.dataset.loaded = "once"');

  await click(page, 'Buy Pro');
  await press(await windowOf(page), 'Pay ₹999.00');
  await shows(page, '#message', 'Paid. Your tier is pro.');
  await shows(page, '#tier', 'pro');
  await shows(page, 'tbody', '₹999.00captured');
  expect(new URL(page.url()).pathname).toBe('/dashboard');
  const { data: [call] } = await (await fetch(env.REVALIDATE_URL ?? '')).json();
  expect(call.paths).toContain('/dashboard');
  await shows(page, '#revalidated', '/subscription /pricing /analytics /dashboard');

  await until(async () => {
    const { data: [mail] } = await (await fetch(`${env.MAILBOX_URL}/emails`)).json();
    if (mail === undefined) return false;
    const { text } = await (await fetch(`${env.MAILBOX_URL}/emails/${mail.id}`)).json();
    return text.includes(`${env.APP_URL}/dashboard`);
  });

  await click(page, 'Cancel at the end of the period');
  await shows(page, '#period', 'then it ends');
  await click(page, 'Resume');
  await shows(page, '#message', 'Resumed.');
  expect(await page.evaluate(textOf, '#period')).not.toContain('then it ends');

  const { payments: [payment] } = await simulate('state');
  await simulate('refund', { payment_id: payment.id });
  await shows(page, '#tier', 'free');
  expect(await page.evaluate('document.body.dataset.loaded')).toBe('once');
  expect(problems).toEqual([]);
});

test('on a phone in dark colours: axe finds nothing, nothing is cut off, buttons are large enough', async () => {
  const { page, problems } = await visit('/subscription', { width: 360, height: 640, colours: 'dark' });
  const check = async () => {
    expect(await accessibilityProblems(page.mainFrame())).toEqual([]);
    expect(await page.evaluate(scrollsSideways)).toBe(false);
    expect(Math.min(...await page.evaluate(buttonHeights))).toBeGreaterThanOrEqual(44);
  };
  await shows(page, 'h1', 'Sign in');
  await check();
  await click(page, 'Sign in as asha@example.com');
  await shows(page, 'h1', 'Subscription');
  await click(page, 'See the plans');
  await shows(page, 'h1', 'Pricing');
  await check();
  await click(page, 'Renew automatically');
  await click(page, 'Buy Basic');
  await press(await windowOf(page), 'Authorise ₹99.00');
  await shows(page, '#tier', 'basic');
  await check();
  await page.goto(`${env.APP_URL}/subscription?to=premium`);
  await shows(page, 'main', 'Change to premium now');
  await shows(page, 'main', 'The next charge is on');
  await check();
  expect(problems).toEqual([]);
});

test.runIf(isLong)('in light colours axe finds nothing on the pricing of an anonymous user', async () => {
  const { page } = await visit('/pricing');
  await shows(page, 'main', 'Sign in to buy Premium');
  expect(await accessibilityProblems(page.mainFrame())).toEqual([]);
});

test('two tabs buy at once: one order, one payment, and the second window says that it is paid', async () => {
  const { orders: before, payments: paidBefore } = await simulate('state');
  const { first, second } = await visitTwice();
  await Promise.all([click(first, 'Buy Pro'), click(second, 'Buy Pro')]);
  await second.bringToFront();
  const window = await windowOf(second);
  await first.bringToFront();
  await press(await windowOf(first), 'Pay ₹999.00');
  await shows(first, '#message', 'Paid. Your tier is pro.');
  await second.bringToFront();
  await press(window, 'Pay ₹999.00');
  await says(window, 'The order is already paid.');
  await press(window, 'Close');
  await shows(second, '#message', 'Paid. Your tier is pro.');
  await shows(second, 'tbody', '₹999.00captured');
  const { orders, payments } = await simulate('state');
  expect([orders.length - before.length, payments.length - paidBefore.length]).toEqual([1, 1]);
});

test.runIf(isLong)(
  'a tab that shows old prices after another one bought sells nothing, and is read again',
  async () => {
    const { first, second } = await visitTwice();
    // A page in the background does not read again by itself.
    await second.evaluate("Object.defineProperty(document, 'hidden', { value: true })");
    await first.bringToFront();
    await click(first, 'Buy Pro');
    await press(await windowOf(first), 'Pay ₹999.00');
    await shows(first, '#message', 'Paid. Your tier is pro.');
    const { orders: before } = await simulate('state');
    await second.bringToFront();
    await click(second, 'Buy Pro');
    await shows(second, '#message', 'Your plan has changed since this page was read.');
    await shows(second, 'main', 'Your plan');
    expect((await simulate('state')).orders).toHaveLength(before.length);
  },
);

test('the session ends in mid-checkout, the customer pays, and the next sign-in finishes the purchase', async () => {
  const { first, second, email } = await visitTwice();
  await simulate('checkout', { deliver: { drop: true } });
  await click(first, 'Buy Pro');
  const frame = await windowOf(first);
  await second.bringToFront();
  await click(second, 'Sign out');
  await shows(second, '#message', 'Signed out.');
  await first.bringToFront();
  await press(frame, 'Pay ₹999.00');
  await simulate('checkout', {});
  await shows(first, '#message', 'The payment is being confirmed.');
  await shows(first, 'h1', 'Sign in');
  await signIn(first, email, 'Sign in');
  await shows(first, '#tier', 'pro');
  await shows(first, 'tbody', '₹999.00captured');
  expect(await first.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('subscriptions:'))")).toEqual(
    [],
  );
});

test('the app of the guide signs in, sells, and shows the tier', async () => {
  const { page, problems } = await open(await browser.openPage(), await serveFirstApp(env));
  await page.locator('input[name="email"]').fill('ravi@example.com');
  await page.locator('input[name="password"]').fill('sample-password');
  await click(page, 'Sign in');
  await shows(page, '#root', 'Your tier is free.');
  await click(page, 'Buy Pro');
  await press(await windowOf(page), 'Pay ₹999.00');
  await shows(page, '#root', 'Your tier is pro. Buy Pro paid');
  await page.reload();
  await shows(page, '#root', 'Your tier is pro.');
  expect(problems).toEqual([]);
});
