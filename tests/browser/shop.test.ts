import postgres from 'postgres';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { buttonHeights, scrollsSideways, styleOf, textOf } from '../helpers/browser/in-page.js';
import { useBrowser, type Viewing } from '../helpers/browser/use-browser.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { accessibilityProblems, press, problemsOf, windowOf } from '../stack/checkout-rig.ts';
import { subscribe } from '../stack/billing-rig.ts';
import { simulator, until, useSimulator } from '../stack/gateway-simulator-rig.ts';
import { call, createOrder, pay } from '../stack/simulate.ts';
import {
  dataFolderOf,
  expectGone,
  freeBasePort,
  npmStart,
  type RunningStack,
  stoppedCodes,
} from '../stack/running-stack.ts';
import { serveFirstApp } from './first-app.ts';

useSimulator(); // beside that of the stack, for its pages
const browser = useBrowser();
let stack: RunningStack;
let env: Record<string, string>;
beforeAll(async () => {
  stack = npmStart(['--port', String(freeBasePort()), '--ephemeral']);
  env = await stack.ready;
});
afterAll(() => stack.end());

/** Opens a page of the shop, or of another address, and keeps its problems. */
async function visit(path: string, viewing: Viewing = {}) {
  const page = await browser.openPage(viewing);
  const problems = problemsOf(page);
  await page.goto(path.startsWith('/') ? `${env.APP_URL}${path}` : path);
  return { page, problems };
}

/** Opens two tabs of one browser, signed in as a new user: one after the sign-in, one with the prices. */
async function visitTwice(email = `${crypto.randomUUID()}@example.com`) {
  const { page: first } = await visit('/sign-in');
  await signIn(first, email, 'Create an account');
  const second = await first.browserContext().newPage();
  await second.goto(`${env.APP_URL}/pricing`);
  await shows(second, 'main', 'Buy Pro');
  await first.bringToFront();
  return { first, second, email };
}

async function signIn(page: Page, email: string, button: 'Sign in' | 'Create an account') {
  await page.locator('#email').fill(email);
  await page.locator('#password').fill('correct horse battery');
  // The heading has the name of a button.
  await press(page.mainFrame(), button);
  await shows(page, '#message', 'Signed in as');
}

/** A control of the stack's gateway simulator. Without fields: what it has stored. */
async function simulate(control: string, fields?: Record<string, unknown>) {
  const init = fields && { method: 'POST', body: JSON.stringify(fields) };
  return await (await fetch(`${env.GATEWAY_URL}/simulate/${control}`, init)).json();
}
const mailbox = async (path = '') => await (await fetch(`${env.MAILBOX_URL}/emails${path}`)).json();
const click = (page: Page, name: string) => page.locator(`::-p-aria([name="${name}"])`).click();
const shows = (page: Page, selector: string, text: string) =>
  // A navigation ends a running `evaluate`.
  until(async () => (await page.evaluate(textOf, selector).catch(() => '')).includes(text));
/** What axe finds on the page, and whether it scrolls sideways. */
const flaws = async (page: Page) =>
  (await accessibilityProblems(page.mainFrame())).concat(
    await page.evaluate(scrollsSideways) ? ['scrolls sideways'] : [],
  );

test('sign up, buy, cancel and resume without a reload; a refund is shown, and the mail links here', async () => {
  const { page, problems } = await visit('/sign-in');
  await signIn(page, `${crypto.randomUUID()}@example.com`, 'Create an account');
  await page.evaluate('document.body.dataset.loaded = "once"');

  await click(page, 'Buy Pro');
  await press(await windowOf(page), 'Pay ₹99.00');
  await shows(page, '#message', 'Paid. Your tier is pro.');
  await shows(page, '#tier', 'pro');
  await shows(page, 'tbody', '₹99.00captured');
  await withClient(
    env.DB_URL ?? '',
    (client) => client.query('do $$ begin loop exit when billing.issue_documents() = 0; end loop; end $$'),
  );
  await shows(page, 'tbody', '₹99.00captured2');
  await page.setViewport({ width: 360, height: 740 });
  expect(await flaws(page)).toEqual([]);
  await page.setViewport({ width: 1280, height: 800 });
  await page.locator('tbody button').click();
  await shows(page, '#message', 'is downloaded.');
  expect(new URL(page.url()).pathname).toBe('/dashboard');
  await shows(page, '#revalidated', '/subscription /pricing /analytics /dashboard');
  await until(async () => {
    const { data: [mail] } = await mailbox();
    return mail !== undefined && (await mailbox(`/${mail.id}`)).text.includes(`${env.APP_URL}/dashboard`);
  });

  await click(page, 'Cancel at the end of the period');
  await shows(page, '#period', 'then it ends');
  await click(page, 'Resume');
  await shows(page, '#message', 'Resumed.');
  expect(await page.evaluate(textOf, '#period')).not.toContain('then it ends');

  const { payments: [payment] } = await simulate('state');
  await simulate('refund', { payment_id: payment.id });
  await shows(page, '#tier', 'free');
  await shows(page, 'tbody', '₹99.00 refunded');
  expect([await page.evaluate('document.body.dataset.loaded'), problems]).toEqual(['once', []]);
  await click(page, 'Subscription');
  await shows(page, 'h2', 'Pro has ended');
});

test('the prices of the year are shown by the keyboard; after one was bought, the month is a change for its end', async () => {
  const { page, problems } = await visit('/sign-in');
  await signIn(page, `${crypto.randomUUID()}@example.com`, 'Create an account');
  await shows(page, 'main', '₹49.00 a month');
  await page.focus('#month');
  await page.keyboard.press('ArrowRight');
  await shows(page, 'main', '₹490.00 a year');
  await click(page, 'Buy Basic');
  await press(await windowOf(page), 'Pay ₹490.00');
  await shows(page, '#features', 'Projects: up to 3Analytics: no');
  await click(page, 'Pricing');
  await shows(page, 'li', '₹490.00 a yearYour plan');
  await click(page, 'Monthly');
  await shows(page, 'li', '₹49.00 a monthChange to Basic, monthly');
  expect(await flaws(page)).toEqual([]);
  await click(page, 'Change to Basic, monthly');
  await shows(page, '#period_end', 'Change to Basic, monthly, on');
  expect(await page.$('#now')).toBeNull();
  expect(problems.filter((problem) => !problem.includes('409'))).toEqual([]);
});

test('below a tier that support wrote, the page names it, and a change is undone to the price that is paid', async () => {
  const { page } = await visit('/sign-in');
  const email = `${crypto.randomUUID()}@example.com`;
  await signIn(page, email, 'Create an account');
  await page.locator('#renews').click();
  await click(page, 'Buy Pro');
  await press(await windowOf(page), 'Authorise ₹99.00');
  await shows(page, '#tier', 'pro');
  await click(page, 'Pricing');
  await click(page, 'Change to Basic, monthly');
  await page.locator('#period_end').click();
  await press(await windowOf(page), 'Authorise ₹49.00');
  await shows(page, '#message', 'Paid. Your tier is basic from');
  const support = postgres(env.DB_URL ?? '', { max: 1 });
  try {
    const [user] = await support`select id from auth.users where email = ${email}`;
    await support`update public.subscriptions set tier = 'premium' where user_id = ${user?.id}`;
    await support`update public.profiles set subscription_tier = 'premium' where user_id = ${user?.id}`;
  } finally {
    await support.end();
  }
  await page.goto(`${env.APP_URL}/subscription`);
  await shows(page, 'h2', 'premium');
  await page.locator('#undo').click();
  await shows(page, '#message', 'The change that waited is withdrawn.');
});

test('a subscription that a year bought now replaces has no method of payment to change any more', async () => {
  const { page } = await visit('/sign-in');
  await signIn(page, `${crypto.randomUUID()}@example.com`, 'Create an account');
  await page.locator('#renews').click();
  await click(page, 'Buy Pro');
  await press(await windowOf(page), 'Authorise ₹99.00');
  await shows(page, '#tier', 'pro');
  await page.goto(`${env.APP_URL}/subscription?to=pro`);
  await shows(page, 'main', 'Change the method of payment');
  await page.locator('#now').click();
  await press(await windowOf(page), 'Pay ₹900.01');
  // The window of the renewal, which the customer leaves.
  const texts = () => Promise.all(page.frames().map((one) => one.evaluate(textOf, 'body').catch(() => '')));
  await until(async () => (await texts()).some((text) => text.includes('Authorise')));
  await page.goto(`${env.APP_URL}/subscription`);
  await shows(page, 'main', 'It does not renew by itself.');
  expect(await page.evaluate(textOf, 'main')).not.toContain('method of payment');
});

test('a change that is possible at one time alone is offered without the reason against the other', async () => {
  const { page } = await visit('/sign-in');
  await signIn(page, `${crypto.randomUUID()}@example.com`, 'Create an account');
  await click(page, 'Yearly');
  await page.locator('#renews').click();
  await click(page, 'Buy Pro');
  await press(await windowOf(page), 'Authorise ₹999.00');
  await shows(page, '#tier', 'pro');
  await page.goto(`${env.APP_URL}/subscription?to=pro_monthly`);
  await shows(page, 'main', 'Change to Pro, monthly, on');
  expect(await page.evaluate(textOf, 'main')).not.toContain('monthly, now');
  expect(await page.evaluate(textOf, '#message')).toBe('');
});

test('on a phone in dark colours: axe finds nothing, nothing is cut off, buttons are large enough', async () => {
  const { page, problems } = await visit('/subscription', { width: 360, height: 640, colours: 'dark' });
  const check = async () => {
    expect(await flaws(page)).toEqual([]);
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
  await press(await windowOf(page), 'Authorise ₹49.00');
  await shows(page, '#tier', 'basic');
  await check();
  await page.goto(`${env.APP_URL}/subscription?to=premium`);
  await shows(page, 'main', 'Change to Premium, yearly, now');
  await shows(page, 'main', 'The next charge is on');
  await check();
  expect(problems).toEqual([]);
});

test('where invoices need the state, a dialog with large controls asks for it before the sale', async () => {
  const { page } = await visit('/sign-in', { width: 360, height: 640, colours: 'dark' });
  await signIn(page, `${crypto.randomUUID()}@example.com`, 'Create an account');
  const setGstin = (gstin: string | null) =>
    withClient(
      env.DB_URL ?? '',
      (client) => client.query('update billing.settings set seller_gstin = $1, seller_state = left($1, 2)', [gstin]),
    );
  await setGstin('29AAAAA0000A1ZY');
  onTestFinished(async () => void await setGstin(null));
  await click(page, 'Buy Pro');
  await shows(page, 'dialog', 'Your state, for the tax on the invoice');
  expect(await flaws(page)).toEqual([]);
  const heights = [...await page.evaluate(buttonHeights), parseFloat(await page.evaluate(styleOf, '#state', 'height'))];
  expect(Math.min(...heights)).toBeGreaterThanOrEqual(40);
  await page.select('#state', '27');
  await press(page.mainFrame(), 'Continue');
  await press(await windowOf(page), 'Pay ₹99.00');
  await shows(page, '#tier', 'pro');
});

test.each<[string, Viewing]>([
  ['light', {}],
  ['dark on a phone', { width: 360, height: 740, colours: 'dark' }],
])('axe finds nothing on the pages of simulator, mandate, mailbox and prices: %s', async (_, viewing) => {
  await pay(await createOrder());
  const { page } = await visit(simulator.url, viewing);
  await shows(page, '#orders', 'paid');
  expect(await flaws(page)).toEqual([]);
  await page.goto((await subscribe()).short_url);
  await shows(page, '#status', 'created');
  expect(await flaws(page)).toEqual([]);
  await page.locator('#approve').click();
  await shows(page, '#message', 'Approved.');
  expect(await flaws(page)).toEqual([]);

  await page.goto(env.MAILBOX_URL ?? '');
  await shows(page, '#no-mail', 'Choose a mail.');
  await shows(page, '#mails', 'your Pro plan is active');
  expect(await flaws(page)).toEqual([]);
  await page.locator('#mails a').click();
  await until(async () => await page.evaluate(textOf, '#subject') !== '');
  for (const tab of ['#tab-html', '#tab-text', '#tab-source']) {
    await page.locator(tab).click();
    expect([tab, await flaws(page)]).toEqual([tab, []]);
  }

  await page.goto(`${env.APP_URL}/pricing`);
  await shows(page, 'main', 'Sign in to buy Premium');
  expect(await flaws(page)).toEqual([]);
});

test('a customer whose charge failed pays by another method on the page of the subscription', async () => {
  const { id, short_url } = await subscribe();
  const { page } = await visit(short_url);
  await page.locator('#approve').click();
  await shows(page, '#message', 'Approved.');
  await call('POST', '/simulate/cycle', { subscription_id: id, outcome: 'pending' });
  await page.reload();
  await shows(page, '#status', 'pending');
  expect(await flaws(page)).toEqual([]);
  await page.select('#method', 'card');
  await page.locator('#change').click();
  await shows(page, '#message', 'Changed.');
  await shows(page, '#status', 'active');
});

test('a tab with old prices after another one bought sells nothing, and is read again', async () => {
  const { first, second } = await visitTwice();
  // A page in the background does not read again by itself.
  await second.evaluate("Object.defineProperty(document, 'hidden', { value: true })");
  await click(first, 'Buy Pro');
  await press(await windowOf(first), 'Pay ₹99.00');
  await shows(first, '#message', 'Paid. Your tier is pro.');
  const { orders: before } = await simulate('state');
  await second.bringToFront();
  await click(second, 'Buy Pro');
  await shows(second, '#message', 'Your plan has changed since this page was read.');
  await shows(second, 'main', 'Your plan');
  expect((await simulate('state')).orders).toHaveLength(before.length);
});

test(
  'the session ends in mid-checkout, the customer pays, and the next sign-in finishes the purchase',
  async () => {
    const { first, second, email } = await visitTwice();
    await simulate('checkout', { deliver: { drop: true } });
    await click(first, 'Buy Pro');
    const frame = await windowOf(first);
    await second.bringToFront();
    await click(second, 'Sign out');
    await shows(second, '#message', 'Signed out.');
    await first.bringToFront();
    await press(frame, 'Pay ₹99.00');
    await simulate('checkout', {});
    await shows(first, '#message', 'The payment is being confirmed.');
    await shows(first, 'h1', 'Sign in');
    await signIn(first, email, 'Sign in');
    await shows(first, '#tier', 'pro');
    await shows(first, 'tbody', '₹99.00captured');
    expect(await first.evaluate("Object.keys(localStorage).some((key) => key.startsWith('subscriptions:'))")).toBe(
      false,
    );
  },
);

test.each<Viewing>([{ width: 390, height: 844, colours: 'dark' }, { width: 1280, height: 800, colours: 'light' }])(
  'the app of the guide sells by the month, changes to the year, and opens a page by a feature: %j',
  async (viewing) => {
    const { page: shop } = await visit('/sign-in');
    const email = `${crypto.randomUUID()}@example.com`;
    await signIn(shop, email, 'Create an account');
    const { page, problems } = await visit(await serveFirstApp(env), viewing);
    const readsReports = async (text: string) => {
      await click(page, 'Reports');
      await shows(page, '#root', text);
      await page.goBack();
      await shows(page, '#root', 'Your tier is');
    };
    await page.locator('input[name="email"]').fill(email);
    await page.locator('input[name="password"]').fill('correct horse battery');
    await click(page, 'Sign in');
    await shows(page, 'h1', 'Your tier is free.');
    await readsReports('Pro has reports');
    await click(page, 'buy: Pro');
    await press(await windowOf(page), 'Pay ₹99.00');
    await shows(page, 'h1', 'Your tier is pro. paid');
    await shows(page, '#root', 'current: Pro');
    await readsReports('Your reports');
    await click(page, 'Per month');
    await click(page, 'upgrade: Pro');
    // What is left of the month is credited.
    await press(await windowOf(page), 'Pay ₹900.01');
    await shows(page, '#root', 'current: Pro');
    expect(await page.evaluate(scrollsSideways)).toBe(false);
    await readsReports('Your reports');
    expect(problems).toEqual([]);
  },
);

test('the session of a user that is gone, as after npm start -- --reset, ends, and another one begins', async () => {
  const { page } = await visit('/sign-in');
  const email = `${crypto.randomUUID()}@example.com`;
  await signIn(page, email, 'Create an account');
  await shows(page, '#user', email);
  await withClient(env.DB_URL ?? '', (client) => client.query('delete from auth.users where email = $1', [email]));
  await page.goto(`${env.APP_URL}/dashboard`);
  await shows(page, '#message', 'Your session has ended. Please sign in again.');
  expect(await page.evaluate(textOf, '#user')).toBe('');
  await signIn(page, `${crypto.randomUUID()}@example.com`, 'Create an account');
});

test('SIGTERM to npm leaves no process and no temporary data', async () => {
  const processes = await stack.processes();
  const data = dataFolderOf(processes);
  expect((await Deno.stat(data)).isDirectory).toBe(true);
  expect(stoppedCodes).toContain((await stack.end()).code);
  await expectGone(processes);
  await expect(Deno.stat(data)).rejects.toThrow(Deno.errors.NotFound);
});
