import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buttonHeights, scrollsSideways, textOf } from '../helpers/browser/in-page.js';
import { useBrowser } from '../helpers/browser/use-browser.ts';
import { accessibilityProblems, press, windowOf } from '../stack/checkout-rig.ts';
import { until } from '../stack/gateway-simulator-rig.ts';
import { freeBasePort, npmStart, type RunningStack } from '../stack/running-stack.ts';

const browser = useBrowser();
let stack: RunningStack;
let env: Record<string, string>;
beforeAll(async () => {
  stack = npmStart(['--port', String(freeBasePort()), '--ephemeral']);
  env = await stack.ready;
});
afterAll(() => stack.end());

/** Opens a page of the shop, and keeps errors of its console, and violations of its policy. */
async function visit(path: string, viewing = {}) {
  const page = await browser.openPage(viewing);
  const problems: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.goto(`${env.APP_URL}${path}`);
  return { page, problems };
}

const click = (page: Page, name: string) => page.locator(`::-p-aria([name="${name}"])`).click();
const shows = (page: Page, selector: string, text: string) =>
  // A navigation ends a running `evaluate`.
  until(async () => (await page.evaluate(textOf, selector).catch(() => '')).includes(text));

test('sign up, buy, cancel and resume without a reload; a refund is shown, and the mail links here', async () => {
  const { page, problems } = await visit('/sign-in');
  await page.locator('#email').fill(`${crypto.randomUUID()}@example.com`);
  await page.locator('#password').fill('correct horse battery');
  await click(page, 'Create an account');
  await shows(page, '#message', 'Signed in as');
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

  const { payments: [payment] } = await (await fetch(`${env.GATEWAY_URL}/simulate/state`)).json();
  const refund = JSON.stringify({ payment_id: payment.id });
  await fetch(`${env.GATEWAY_URL}/simulate/refund`, { method: 'POST', body: refund });
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

test('in light colours axe finds nothing on the pricing of an anonymous user', async () => {
  const { page } = await visit('/pricing');
  await shows(page, 'main', 'Sign in to buy Premium');
  expect(await accessibilityProblems(page.mainFrame())).toEqual([]);
});
