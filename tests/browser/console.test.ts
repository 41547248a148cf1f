import type { Page } from 'puppeteer-core';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  buttonHeights,
  focusedName,
  scrollsSideways,
  scrollTo,
  textOf,
  unreachableControls,
} from '../helpers/browser/in-page.js';
import { useBrowser, type Viewing } from '../helpers/browser/use-browser.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { setClock } from '../helpers/database/clock.ts';
import { paymentCaptured, subscriptionEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { createUser } from '../helpers/records/records.ts';
import { accessibilityProblems } from '../stack/checkout-rig.ts';
import { useConsole } from '../stack/console-rig.ts';
import { until } from '../stack/gateway-simulator-rig.ts';
import { click, shows, visitsOf } from './console-page.ts';

const support = useConsole();
const browser = useBrowser();
const visit = visitsOf(support, browser);
/** Bought pro, and the mail about it was refused. */
let asha: Purchase;
/** Paid for a tier whose plan is missing. */
let ravi: Purchase;

beforeAll(async () => {
  const { database } = support;
  const session = await database.connect();
  asha = await placeOrder(database);
  await database.query(`update public.profiles set display_name = 'Asha Rao' where user_id = $1`, [asha.user.id]);
  await verifyPurchase(session, asha);
  await database.query(
    `update billing.outbox set claims = array[gen_random_uuid()], attempts = 1, last_error = 'HTTP 422', parked_at = now()
     where destination = 'email'`,
  );
  ravi = await placeOrder(database, { tier: 'gold' });
  await deliver(session, paymentCaptured({ ...paymentOf(ravi), amount: 99900 }));
});

/** Finds a customer by the search, as a person types. */
async function find(page: Page, query: string, name: string): Promise<void> {
  await page.keyboard.press('/');
  await page.keyboard.type(query);
  await shows(page, 'tbody', name);
  await page.locator(`::-p-aria([name="${name}"][role="link"])`).click();
  await shows(page, 'h1', name);
}

/** Gives the reason in the open dialog, which says what will happen, and confirms. */
async function confirm(page: Page, sentence: string, button: string): Promise<void> {
  await shows(page, '#sentence', sentence);
  await page.locator('#reason').fill('because the test says so');
  await page.locator(`dialog ::-p-aria([name="${button}"][role="button"])`).click();
  await page.waitForSelector('dialog', { hidden: true });
}

test('a customer is found by a part of the name; the page says why the tier is theirs, and a grant changes it', async () => {
  const { page, problems } = await visit('/revenue');
  await find(page, 'sha ra', 'Asha Rao');
  await shows(page, '#why', `Payment ${asha.paymentId}`);
  await shows(page, '#why', 'gives pro');
  await shows(page, 'table[aria-label="Payments"]', '₹999.00captured');
  await click(page, 'Grant a tier');
  await shows(page, '#sentence', `${asha.user.email} gets pro until`);
  await page.locator('#tier').fill('premium');
  await shows(page, '#sentence', 'it replaces pro, which continues below it until');
  await confirm(page, `${asha.user.email} gets premium until`, 'Grant');
  await shows(page, '#message', 'gives premium until');
  await shows(page, '#why', '(because the test says so) gives premium');
  await shows(page, '.timeline', 'grant by subscriptions_support');
  await shows(page, '.timeline', 'pro to premium: grant');
  expect(problems).toEqual([]);
});

test('Enter in the search opens the only hit, and lists several', async () => {
  const { page } = await visit('/');
  await page.keyboard.press('/');
  await page.keyboard.type(asha.paymentId);
  await page.keyboard.press('Enter');
  await shows(page, 'h1', 'Asha Rao');
  expect(new URL(page.url()).pathname).toBe(`/customers/${asha.user.id}`);
  await page.locator('#search').fill('user');
  await page.keyboard.press('Enter');
  await shows(page, 'main', 'the best match first');
  expect(new URL(page.url()).search).toBe('?q=user');
});

test('what follows is said beside the picture: the next charge with its day and amount, and days of grace', async () => {
  const { database } = support;
  await database.query(
    `insert into public.plans (tier, lookup_key, name, price, duration_months, gateway_plan_id)
     values ('basic', 'basic_monthly', 'basic_monthly', 4900, 1, 'plan_basic_monthly')`,
  );
  const { id } = await createUser(database);
  const cycle = { start: '2030-01-05T10:00:00Z', end: '2030-02-05T10:00:00Z' };
  onTestFinished(() => setClock(database, null));
  await setClock(database, cycle.start);
  const session = await database.connect();
  const of = { userId: id, planId: 'plan_basic_monthly', ...cycle, createdAt: cycle.start };
  const fields = { charge_at: Date.parse(cycle.end) / 1000 };
  await deliver(session, subscriptionEvent({ name: 'activated', ...of, fields }));
  await deliver(
    session,
    subscriptionEvent({ name: 'charged', ...of, fields, payment: { id: 'pay_followed', amount: 4900 } }),
  );
  const { page, problems, open } = await visit(`/customers/${id}`);
  const told = '5 Feb 2030, 10:00: ₹49.00 is charged for 1 month of basic.';
  await shows(page, '#follows', told);
  await shows(page, '.facts', 'Next charge₹49.00 for 1 month (basic_monthly)5 Feb 2030, 10:00');
  await shows(page, '.timeline', '2 webhooks as usual');
  // By the clock of the database: not the past of this machine's months.
  await click(page, 'Grant a tier');
  await shows(page, '#sentence', 'until 5 Feb 2030, 10:0');
  await open('/');
  await shows(page, '.tiles', 'Last webhookjust now');
  const waiting = { name: 'authenticated', planId: of.planId, createdAt: cycle.start, fields } as const;
  const { id: free } = await createUser(database);
  await deliver(session, subscriptionEvent({ ...waiting, userId: free, id: 'sub_waits_for_its_charge' }));
  await open(`/customers/${free}`);
  await shows(page, '.facts', 'Until–Billingbegins with the first charge');
  await shows(page, '#follows', told);
  await setClock(database, '2030-02-05T11:00:00Z');
  await open(`/customers/${id}`);
  await shows(page, '.facts', 'Until5 Feb 2030, 10:00over, the next charge is awaited');
  expect(problems).toEqual([]);
});

test('the second of two payments is refunded from its finding', async () => {
  const { database } = support;
  const first = await placeOrder(database);
  const session = await database.connect();
  const second = await placeOrder(database, { user: first.user });
  for (const order of [first, second]) await verifyPurchase(session, order);
  onTestFinished(async () => void await database.query('delete from auth.users where id = $1', [first.user.id]));
  const { page, problems } = await visit(`/customers/${first.user.id}`);
  await shows(page, '.findings', 'another payment for the same time');
  await page.locator('.findings ::-p-aria([name="Refund"][role="button"])').click();
  await confirm(page, `${first.user.email} gets ₹999.00 back`, 'Refund');
  await shows(page, '#message', 'The gateway is asked to refund 999.00 INR of payment ');
  expect(problems).toEqual([]);
});

test('a row written by hand, a further payment and a failed renewal are named as such; a September is written in one way', async () => {
  const { database } = support;
  await database.query(
    `insert into public.plans (tier, lookup_key, name, price, duration_months, gateway_plan_id)
     values ('plus', null, 'Plus', 5900, 1, 'plan_plus')`,
  );
  onTestFinished(() => setClock(database, null));
  await setClock(database, '2031-09-05T10:00:00Z');
  const session = await database.connect();
  const order = await placeOrder(database);
  const { id } = order.user;
  await deliver(session, paymentCaptured({ ...paymentOf(order), amount: 99900 }));
  await deliver(session, paymentCaptured({ ...paymentOf(order), amount: 99900, id: 'pay_further' }));
  const of = { userId: id, id: 'sub_by_hand', planId: 'plan_plus' };
  const cycle = { start: '2031-08-05T10:00:00Z', end: '2031-09-05T10:00:00Z' };
  const payment = { id: 'pay_of_cycle', amount: 5900 };
  await deliver(session, subscriptionEvent({ name: 'charged', ...of, ...cycle, createdAt: cycle.start, payment }));
  await deliver(session, subscriptionEvent({ name: 'pending', ...of, createdAt: cycle.end }));
  await database.query("update public.subscriptions set tier = 'premium' where user_id = $1", [id]);
  onTestFinished(async () => void await database.query('delete from auth.users where id = $1', [id]));
  const { page, problems } = await visit(`/customers/${id}`);
  await shows(page, 'figure', 'Written by hand · premium');
  await shows(page, '.timeline', 'Written by hand5 Sep 2031, 10:00');
  const rows = await page.$$eval('table[aria-label="Payments"] tbody tr', (all) => all.map((row) => row.textContent));
  expect(rows.find((row) => row.includes('pay_further'))).toContain('captureda further payment on the order');
  expect(rows.find((row) => row.includes('failed'))).toMatch(/plus1 month.*sub_by_hand/);
  expect(await page.evaluate(textOf, 'main')).not.toContain('Sept ');
  expect(problems).toEqual([]);
});

test('times are those of the seller, also in a browser of another zone, and in the field of a grant', async () => {
  const { database } = support;
  await database.query("update billing.settings set time_zone = 'Asia/Kolkata'");
  onTestFinished(async () => void await database.query("update billing.settings set time_zone = 'UTC'"));
  const { end } = await database.one(
    `select to_char(current_period_end at time zone 'Asia/Kolkata', 'FMDD Mon YYYY, HH24:MI') as end
     from public.subscriptions where user_id = $1`,
    [asha.user.id],
  );
  const { page } = await visit('/customers');
  await page.emulateTimezone('America/New_York');
  await page.goto(new URL(`/customers/${asha.user.id}`, page.url()).href);
  await shows(page, 'main', String(end));
  await click(page, 'Grant a tier');
  await page.locator('#until').fill('2099-03-01T00:30');
  await shows(page, '#sentence', 'until 1 Mar 2099, 00:30');
  await confirm(page, 'until 1 Mar 2099', 'Grant');
  await shows(page, '#message', 'until 1 Mar 2099.');
  const { until } = await database.one(
    "select until from billing.support_actions where action = 'grant' order by until desc limit 1",
  );
  expect(until).toEqual(new Date('2099-02-28T19:00:00Z'));
});

test.each([['LAK', '0.01', '999.00'], ['JPY', '1', '99900'], ['KWD', '0.001', '99.900']])(
  'the field of a refund of %s has the decimals of the currency: %s, %s',
  async (currency, step, value) => {
    await support.database.query('update public.payments set currency = $2 where gateway_payment_id = $1', [
      asha.paymentId,
      currency,
    ]);
    onTestFinished(async () => {
      await support.database.query("update public.payments set currency = 'INR' where gateway_payment_id = $1", [
        asha.paymentId,
      ]);
    });
    const { page } = await visit(`/customers/${asha.user.id}`);
    await page.locator('::-p-aria([name="Refund"][role="button"])').click();
    await shows(page, '#sentence', 'back; the access');
    const shown = await page.$eval('#amount', (field) => [field.getAttribute('step'), Reflect.get(field, 'value')]);
    expect(shown).toEqual([step, value]);
  },
);

test('a payment is refunded in parts: the dialog says what becomes of access, and asks for no more than is left', async () => {
  const { page, problems, open } = await visit(`/customers/${asha.user.id}`);
  await page.locator('::-p-aria([name="Refund"][role="button"])').click();
  await shows(page, '#sentence', 'gets ₹999.00 back; the access that this payment gives ends when');
  await page.locator('#amount').fill('400.50');
  await confirm(page, `${asha.user.email} gets ₹400.50 back; access stays.`, 'Refund');
  await shows(
    page,
    '#message',
    `The gateway is asked to refund 400.50 INR of payment ${asha.paymentId}. Access stays.`,
  );
  await shows(page, '.timeline', 'refund by subscriptions_support');
  await open(`/customers/${asha.user.id}`);
  await page.locator('::-p-aria([name="Refund"][role="button"])').click();
  await shows(page, '#sentence', 'gets ₹598.50 back');
  await page.locator('#amount').fill('598.51');
  await shows(page, '#sentence', 'Enter an amount, at most ₹598.50.');
  expect(problems).toEqual([]);
});

test('a resumption promises no charge to a customer whose purchase renews nothing', async () => {
  const { page } = await visit(`/customers/${asha.user.id}`);
  await click(page, 'Resume the plan');
  await shows(page, '#sentence', 'is withdrawn: what renewed before renews again.');
});

test('a figure of revenue opens its payments, and the month leaves as tables', async () => {
  await support.database.query('select billing.run_passes()');
  const { page, problems } = await visit('/revenue');
  await page.setViewport({ width: 390, height: 844 });
  expect(Math.max(...await page.evaluate(buttonHeights))).toBeLessThan(60);
  await page.setViewport({ width: 1280, height: 800 });
  await page.locator('#make-files').click();
  await shows(page, 'table[aria-label="Files"]', 'payments.csvCaptured in the month');
  await shows(page, 'table[aria-label="Files"]', 'payments.xlsxCaptured in the month');
  expect(await accessibilityProblems(page.mainFrame())).toEqual([]);
  await page.locator('table[aria-label="Month by month"] td a').click();
  await shows(page, 'h1', 'Payments captured');
  await shows(page, 'main', asha.paymentId);
  expect(await accessibilityProblems(page.mainFrame())).toEqual([]);
  expect(await page.evaluate(scrollsSideways)).toBe(false);
  expect(problems).toEqual([]);
});

test('a mail that was refused is shown, queued again, and in the timeline', async () => {
  const { page, problems } = await visit('/messages?show=parked');
  await click(page, 'Payment success');
  await shows(page, '.facts', '422');
  const frame = await (await page.waitForSelector('iframe'))?.contentFrame();
  await until(async () => (await frame?.content())?.includes('Asha') ?? false);
  await click(page, 'Send again');
  await confirm(page, `The message to ${asha.user.email} is delivered again`, 'Send again');
  await shows(page, '.facts', 'Statequeued');
  await click(page, asha.user.email ?? '');
  await shows(page, '.timeline', 'requeue_mail by subscriptions_support');
  expect(problems).toEqual([]);
});

test('a webhook without its plan is applied again from the findings, after the plan was added', async () => {
  const { page, problems } = await visit('/');
  await shows(page, 'main', 'Add the plan, then replay the webhook.');
  await support.database.query(
    `insert into public.plans (tier, name, price, duration_months) values ('gold', 'Gold', 99900, 1)`,
  );
  await click(page, 'Apply again');
  await confirm(page, 'The event is applied again now', 'Apply again');
  await shows(page, '#message', 'payment.captured was applied again: applied.');
  await page.waitForFunction("!document.querySelector('main').textContent.includes('Failed events')");
  await find(page, ravi.orderId, ravi.user.email?.split('@')[0] ?? '');
  await shows(page, '#why', 'gives gold');
  await shows(page, '.timeline', 'replay_event by subscriptions_support');
  expect(problems).toEqual([]);
});

test.each<[string, Viewing]>([
  ['light on a desktop', {}],
  ['dark on a phone', { width: 360, height: 740, colours: 'dark' }],
])('axe finds nothing on any page, and nothing is cut off: %s', async (_, viewing) => {
  const { page, problems, open } = await visit('/', viewing);
  const [webhook] = await support.database.query(
    `select encode(body_sha256, 'hex') as hash from billing.gateway_events`,
  );
  const customer = `/customers/${asha.user.id}`;
  const lists = ['/customers', '/customers?q=a', '/revenue', '/webhooks', '/messages', `/webhooks/${webhook?.hash}`];
  for (const path of ['/', ...lists, '/messages/1', customer]) {
    await open(path);
    const low = viewing.width === 360 ? (await page.evaluate(buttonHeights)).filter((height) => height < 44) : [];
    expect([path, await accessibilityProblems(page.mainFrame()), await page.evaluate(scrollsSideways), low])
      .toEqual([path, [], false, []]);
  }
  await click(page, 'Add a note');
  await page.waitForSelector('dialog[open]');
  expect(await accessibilityProblems(page.mainFrame())).toEqual([]);
  expect(problems).toEqual([]);
});

test.each<[string, Viewing]>([
  ['1280x800', { width: 1280, height: 800 }],
  ['1024x768', { width: 1024, height: 768 }],
  ['390x844', { width: 390, height: 844 }],
])('every control is reached and answers a click at %s', async (_, viewing) => {
  const { page, problems, open } = await visit('/', viewing);
  const { database } = support;
  const [webhook] = await database.query(`select encode(body_sha256, 'hex') as hash from billing.gateway_events`);
  const [wide, session] = [await placeOrder(database), await database.connect()];
  await verifyPurchase(session, wide);
  await deliver(session, paymentCaptured(paymentOf(wide)));
  await database.query("update billing.settings set seller_name = 'Example LLP', receipts_from = '2020-01-01'");
  await database.query('do $$ begin loop exit when billing.issue_documents() = 0; end loop; end $$');
  const customer = `/customers/${wide.user.id}`;
  const pages = ['/customers', '/revenue', '/webhooks', `/webhooks/${webhook?.hash}`, '/messages', '/messages/1'];
  for (const path of ['/', ...pages, customer]) {
    await open(path);
    for (const summary of await page.$$('main summary')) await summary.click();
    expect([path, await page.evaluate(unreachableControls)]).toEqual([path, []]);
  }
  for (const path of ['/', '/messages/1', customer]) {
    await open(path);
    for (const summary of await page.$$('main summary')) await summary.click();
    if (path === customer) await page.waitForSelector('::-p-aria([name="Reissue"][role="button"])');
    for (const button of await page.$$('main button')) {
      const name = await button.evaluate(scrollTo);
      await button.click();
      await page.waitForSelector('dialog[open]', { timeout: 5000 })
        .catch(() => expect.fail(`${path}: ${name} opens nothing`));
      expect([name, await page.evaluate(unreachableControls)]).toEqual([name, []]);
      await click(page, 'Cancel');
      await page.waitForSelector('dialog', { hidden: true });
    }
  }
  expect(problems).toEqual([]);
});

test('the keyboard alone: the first stop skips the navigation, / goes to the search', async () => {
  const { page } = await visit('/messages');
  await page.keyboard.press('Tab');
  expect(await page.evaluate(focusedName)).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  await page.waitForFunction("document.activeElement.id === 'main'");
  await page.keyboard.press('/');
  expect(await page.evaluate(focusedName)).toBe('Search customers');
});

test('an answer that comes after a later one was asked for is dropped', async () => {
  const { page } = await visit('/customers');
  await page.setRequestInterception(true);
  const held: (() => void)[] = [];
  page.on('request', (request) => {
    const go = () => void request.continue().catch(() => {});
    if (request.url().endsWith('?q=a')) held.push(go);
    else go();
  });
  await page.locator('#search').fill('a');
  await until(() => held.length > 0);
  await page.locator('#search').fill('nobody@nowhere');
  await shows(page, 'main', 'Nothing found for “nobody@nowhere”');
  for (const go of held) go();
  // A later answer of the same server has arrived.
  await page.evaluate(`fetch('/api/tiers').then((answer) => answer.text())`);
  expect(await page.evaluate(textOf, 'main')).toContain('Nothing found for “nobody@nowhere”');
});
