import postgres from 'postgres';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  buttonHeights,
  cutTexts,
  enabledButtons,
  focusedName,
  scrollsSideways,
  styleOf,
  textOf,
} from '../helpers/browser/in-page.js';
import { useBrowser, type Viewing } from '../helpers/browser/use-browser.ts';
import { accessibilityProblems, press, problemsOf, windowOf } from '../stack/checkout-rig.ts';
import { until } from '../stack/gateway-simulator-rig.ts';
import { freeBasePort, npmStart, type RunningStack } from '../stack/running-stack.ts';
import { serveBillingPage } from './billing-page-rig.ts';
import { states } from './billing-page-states.ts';

const browser = useBrowser();
let stack: RunningStack;
let env: Record<string, string>;
let app: Awaited<ReturnType<typeof serveBillingPage>>;
beforeAll(async () => {
  stack = npmStart(['--port', String(freeBasePort()), '--ephemeral']);
  env = await stack.ready;
  app = await serveBillingPage(env);
});
afterAll(async () => {
  await app?.stop();
  // The invoice of a seller who has no GSTIN afterwards, if a pass has compared it.
  await stack.end({ seller_differs: 'any' });
});

async function visit(search = '', viewing: Viewing = {}) {
  const page = await browser.openPage(viewing);
  const problems = problemsOf(page);
  await page.goto(`${app.url}/${search}`);
  await shows(page, 'Plans');
  return { page, problems };
}

const click = (page: Page, name: string) => press(page.mainFrame(), name);
const choose = (page: Page, name: string) => page.locator(`::-p-aria([name="${name}"][role="radio"])`).click();
const shows = (page: Page, text: string, selector = 'main') =>
  until(async () => (await page.evaluate(textOf, selector)).includes(text));
const MESSAGE = '[aria-live]';
const busy = (page: Page) => page.$('button[aria-busy]').then((button) => button !== null);

test('a customer buys by the month, sees what the year costs, changes, and cancels and resumes without a reload', async () => {
  const { page, problems } = await visit();
  await shows(page, 'FreeNo active plan');
  await click(page, 'Choose Pro');
  const frame = await windowOf(page);
  expect([await busy(page), await page.evaluate(enabledButtons)]).toEqual([true, []]);
  await press(frame, 'Authorise ₹99.00');
  await shows(page, 'You are on Pro now.', MESSAGE);
  await shows(page, 'Pro, monthlyActive₹99.00 a monthRenews on');
  await shows(page, '₹99.00Paid', 'tbody');

  await choose(page, 'Yearly');
  await click(page, 'Change to yearly');
  await shows(page, 'Due today₹900.0', 'dialog');
  await shows(page, 'This replaces Pro, monthly, which ends now.', 'dialog');
  await shows(page, 'After that₹999.00 a year', 'dialog');
  expect(await accessibilityProblems(page.mainFrame())).toEqual([]);
  await page.locator('dialog button:last-child').click();
  await press(await windowOf(page), await payLabel(page));
  // The window of the order is closing.
  await until(() => windowOf(page).then((frame) => press(frame, 'Authorise ₹999.00')).then(() => true, () => false));
  await shows(page, 'Your plan is changed. You are on Pro now.', MESSAGE);
  await shows(page, 'Pro, yearlyActive₹999.00 a year');

  await click(page, 'Cancel');
  await shows(page, 'You keep Pro until', 'dialog');
  await click(page, 'Cancel subscription');
  await shows(page, 'Cancelled. You keep your plan until', MESSAGE);
  await shows(page, 'Nothing more is charged.', 'section');
  await click(page, 'Resume');
  await shows(page, 'Resumed. Your plan goes on.', MESSAGE);
  await shows(page, 'Renews on', 'section');
  // The credit of a preview, and a change that is possible only later, are asked for first.
  expect(problems.filter((problem) => !problem.includes('409'))).toEqual([]);
});

test('after a reload the page waits for the payment that is being confirmed, and sells nothing meanwhile', async () => {
  const { page } = await visit();
  await shows(page, 'FreeNo active plan');
  let isDown = true;
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const isLost = isDown && request.method() === 'POST' && request.url().endsWith('/verify');
    void (isLost ? request.abort() : request.continue());
  });
  await click(page, 'Choose Pro');
  await press(await windowOf(page), 'Authorise ₹99.00');
  await shows(page, 'Confirming the payment', MESSAGE);
  await page.reload();
  await shows(page, 'Confirming the payment', MESSAGE);
  await shows(page, 'Plans');
  expect(await page.evaluate(enabledButtons)).toEqual(['Close']); // the message
  isDown = false;
  await shows(page, 'Thank you.', MESSAGE);
  await shows(page, 'Pro, monthlyActive₹99.00 a month');
});

test('a seller with a GSTIN asks for the state before the sale, and the receipt is downloaded after it', async () => {
  const { page, problems } = await visit();
  await shows(page, 'FreeNo active plan');
  const seller = postgres(env.DB_URL ?? '', { max: 1 });
  try {
    // What was sold before gets its receipt without a GSTIN.
    await seller`do $$ begin loop exit when billing.issue_documents() = 0; end loop; end $$`;
    await seller`update billing.settings set seller_gstin = '29AAAAA0000A1ZY', sac = '998315', tax_rate = 1800`;
    await click(page, 'Choose Pro');
    await shows(page, 'Where are you?', 'dialog');
    expect(await accessibilityProblems(page.mainFrame())).toEqual([]);
    await page.locator('dialog select').fill('27');
    const gstin = page.locator('::-p-aria([name="GSTIN, if you have one"])');
    await gstin.fill('27AAPFU0939F1ZW');
    await click(page, 'Continue');
    await shows(page, 'Your invoice needs this, too.', 'dialog');
    await page.locator('::-p-aria([name="Name"])').fill('Konkan');
    await page.locator('::-p-aria([name="Address"])').fill('7 Marine Drive');
    await click(page, 'Continue');
    await shows(page, 'This is no GSTIN', 'dialog');
    await gstin.fill('27AAPFU0939F1ZV');
    await click(page, 'Continue');
    await press(await windowOf(page), 'Authorise ₹99.00');
    await shows(page, 'You are on Pro now.', MESSAGE);
    await shows(page, 'Konkan7 Marine DriveMaharashtraGSTIN 27AAPFU0939F1ZV');
    await until(async () => {
      await seller`do $$ begin loop exit when billing.issue_documents() = 0; end loop; end $$`;
      await page.reload();
      await shows(page, 'Payments');
      return (await page.evaluate(textOf, 'tbody')).includes('/00000');
    });
    await page.locator('tbody button').click();
    await shows(page, 'is downloaded.', MESSAGE);
    await click(page, 'Edit details');
    await page.locator('::-p-aria([name="Name"])').fill('Konkan Traders');
    await click(page, 'Save');
    await shows(page, 'Saved.', MESSAGE);
    await shows(page, 'Konkan Traders7 Marine Drive');
  } finally {
    await seller`update billing.settings set seller_gstin = null, seller_state = null`;
    await seller.end();
  }
  // The refused GSTIN.
  expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]);
});

/** The name of the button that pays in the gateway's window. */
async function payLabel(page: Page): Promise<string> {
  const text = await (await windowOf(page)).evaluate(textOf, '[data-panel="pay"]');
  return /Pay ₹[\d.,]+/.exec(text)?.[0] ?? 'Pay';
}

test(
  'with the keyboard alone a customer schedules a change, sees it with its end of undo, and undoes it',
  async () => {
    const { page } = await visit();
    await click(page, 'Choose Premium');
    await press(await windowOf(page), 'Authorise ₹199.00');
    await shows(page, 'Premium, monthlyActive');
    const tabTo = async (name: string) => {
      const isThere = async () => (await page.evaluate(focusedName))?.startsWith(name) ?? false;
      await until(async () => {
        if (!await isThere()) await page.keyboard.press('Tab');
        return await isThere();
      });
      expect(await page.evaluate(styleOf, ':focus', 'outline-style')).toBe('solid');
      await page.keyboard.press('Enter');
    };
    await tabTo('Change to Basic');
    await shows(page, 'You keep Premium, monthly, until then.', 'dialog');
    expect(await page.evaluate(focusedName)).toBe('Change to Basic, monthly');
    await page.keyboard.press('Escape');
    await until(async () => await page.$('dialog') === null);
    expect(await page.evaluate(focusedName)).toBe('Change to Basic');
    await page.keyboard.press('Enter');
    await shows(page, 'Change on', 'dialog');
    await tabTo('Change on');
    await press(await windowOf(page), 'Authorise ₹49.00');
    await shows(page, 'Your plan is changed. It starts on', MESSAGE);
    await shows(page, 'What comes nextBasic, monthly, starts on');
    await shows(page, 'You can undo it until');
    await tabTo('Undo change');
    await shows(page, 'The change is undone.', MESSAGE);
    expect(await page.evaluate(textOf, 'main')).not.toContain('What comes next');
    expect(await page.evaluate(focusedName)).toBe('Billing');
  },
);

/** A sentence that only this state shows. */
const shown: Record<keyof typeof states, string> = {
  'free': 'FreeNo active planYou can choose a plan at any time.',
  'offered': '7 days free first',
  'monthly': 'Pro, monthlyActive₹99.00 a monthRenews on',
  'yearly': 'Pro, yearlyActive₹999.00 a yearRenews on',
  'bought': 'It does not renew by itself.',
  'trial': 'Free trial₹99.00 a monthYour trial ends on',
  'pending': 'Your last payment failed',
  'retried': 'Tried again',
  'halted': 'Your subscription is on hold',
  'ending': 'Nothing more is charged.Resume',
  'paused': 'It does not renew by itself.',
  'charged later': 'Your subscription goes on',
  'scheduled': 'Undo change',
  'told the gateway': 'It can no longer be undone.',
  'given': 'PremiumActiveYou have it until',
  'given over a change': 'Undo change',
  'invoiced': 'Disputed₹30.00 refunded',
  'changed': '₹30.00 refunded',
  'refunded': 'Your payment was refunded.',
};
/** States in which the gateway may charge. */
const charged = [
  'monthly',
  'yearly',
  'trial',
  'pending',
  'retried',
  'halted',
  'paused',
  'charged later',
  'scheduled',
  'told the gateway',
  'given',
  'given over a change',
  'invoiced',
  'changed',
];

const phone = { width: 390, height: 844 };
const viewings: [string, Viewing][] = [
  ['dark on a phone', { ...phone, colours: 'dark' }],
  ['light on a phone', phone],
  ['dark on a desktop', { colours: 'dark' }],
  ['light on a desktop', {}],
];

test.each(viewings)(
  'each state is shown without a finding of axe, and can be cancelled where money may move: %s',
  async (_, viewing) => {
    const { page, problems } = await visit('?state=free', viewing);
    for (const state of Object.keys(states)) {
      await page.goto(`${app.url}/?state=${encodeURIComponent(state)}`);
      await shows(page, shown[state] ?? '');
      const found = [await accessibilityProblems(page.mainFrame()), await page.evaluate(scrollsSideways)];
      expect([state, ...found, await page.evaluate(cutTexts)]).toEqual([state, [], false, []]);
      expect(Math.min(...await page.evaluate(buttonHeights))).toBeGreaterThanOrEqual(44);
      const cancel = await page.$('::-p-aria([name="Cancel"][role="button"])');
      expect([state, cancel !== null]).toEqual([state, charged.includes(state)]);
    }
    expect(problems).toEqual([]);
  },
);

test('the page is light in a light app, dark below the class dark, and else as the system', async () => {
  const { page } = await visit('?state=free&own-colours', { colours: 'dark' });
  const ground = () => page.evaluate(styleOf, 'main > div > div', 'background-color');
  const shownOn = async (search: string) => {
    await page.goto(`${app.url}/?state=free${search}`);
    await shows(page, 'Plans');
    return await ground();
  };
  const [light, dark] = ['rgb(250, 250, 250)', 'rgb(11, 11, 15)'];
  expect([await ground(), await shownOn('&own-colours&dark'), await shownOn('')]).toEqual([light, dark, dark]);
});

/** Plans and their features are the app's own, GSTIN and PT are names of codes. */
const names =
  /Basic|Pro|Premium|Unlimited projects|\d+ projects|Analytics|(Community|E-mail|Priority) support|GSTIN|PT\b/g;
/** What the app and the customer wrote. */
const written = /Konkan Traders|7 Marine Drive|27AAPFU0939F1ZV|CN2627/g;

test('with the texts of another language no English word is left, nothing is cut on a phone, and days and amounts are written by its locale', async () => {
  const { page } = await visit('?state=free', phone);
  const englishWords = async (selector: string) =>
    (await page.evaluate(textOf, selector)).replaceAll(names, '').replaceAll(written, '').match(/[A-Za-z]{2,}/g) ?? [];
  for (const state of Object.keys(states)) {
    await page.goto(`${app.url}/?state=${encodeURIComponent(state)}&hindi`);
    await shows(page, 'मौजूदा प्लान');
    expect([state, await englishWords('main')]).toEqual([state, []]);
    expect(await page.evaluate(textOf, 'main')).toMatch(/₹[\d,]+\.00/);
    expect([state, await page.evaluate(cutTexts)]).toEqual([state, []]);
    expect(await accessibilityProblems(page.mainFrame())).toEqual([]);
  }
  const opens = async (state: string, button: string, said: string) => {
    await page.goto(`${app.url}/?state=${state}&hindi`);
    await shows(page, 'मौजूदा प्लान');
    await click(page, button);
    await shows(page, said, 'dialog');
    expect([button, await englishWords('dialog')]).toEqual([button, []]);
    expect(await accessibilityProblems(page.mainFrame())).toEqual([]);
  };
  await opens('monthly', 'रद्द करें', 'क्या आप सदस्यता रद्द करना चाहते हैं?');
  await opens('monthly', 'Premium में अपग्रेड करें', 'बचे समय का क्रेडिट');
  await opens('monthly', 'Basic में बदलें', 'को देय');
  await opens('invoiced', 'विवरण बदलें', 'महाराष्ट्र');
});

test('the plans are shown by their rank, not by the price of their intervals', async () => {
  const { page } = await visit('?state=free');
  const names = await page.$$eval('li h3', (all) => all.map((one) => one.textContent));
  expect(names).toEqual(['Basic', 'Pro', 'Premium']);
});

test('a healthy subscription has a link to another method of payment, and a failed renewal is among the payments', async () => {
  const { page } = await visit('?state=monthly');
  const link = await page.$('a[href="https://gateway.example/manage"]');
  expect(link).not.toBeNull();
  await page.goto(`${app.url}/?state=pending`);
  await shows(page, 'Pro, monthlyRenewal', 'tbody');
  await shows(page, '₹99.00Failed', 'tbody');
  await shows(page, 'You keep your plan until', 'section');
  await page.goto(`${app.url}/?state=halted`);
  await shows(page, '₹99.00Failed', 'tbody');
  await page.goto(`${app.url}/?state=retried`);
  await shows(page, 'Pro, monthlyRenewal', 'tbody');
  await shows(page, '₹99.00Tried againPaid on', 'tbody');
  expect(await page.$eval('tbody', (body) => body.textContent)).not.toContain('Failed');
});

test('a customer who cancels in the days of grace reads that the plan ends now, not that a day of the past is its end', async () => {
  const { page } = await visit('?state=pending');
  await click(page, 'Cancel');
  await shows(page, 'The paid period is over: Pro ends now. Nothing more is charged.', 'dialog');
});

test('the page has the colours of shadcn where an app has them', async () => {
  const { page } = await visit('?state=free&shadcn');
  expect(await page.evaluate(styleOf, 'li button', 'background-color')).toBe('rgb(15, 118, 110)');
});
