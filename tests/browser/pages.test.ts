import type { Page } from 'puppeteer-core';
import { beforeAll, expect, test } from 'vitest';
import { scrollsSideways, textOf } from '../helpers/browser/in-page.js';
import { useBrowser, type Viewing } from '../helpers/browser/use-browser.ts';
import { accessibilityProblems } from '../stack/checkout-rig.ts';
import { sampleOf } from '../helpers/project/is-long.ts';
import { call, createOrder, pay, simulate, simulator, until, useSimulator } from '../stack/gateway-simulator-rig.ts';
import { useMailbox } from '../stack/mailbox-rig.ts';

useSimulator();
const mailbox = await useMailbox();
const browser = useBrowser();

const VIEWS = sampleOf<[string, Viewing]>([
  ['light', {}],
  ['dark on a phone', { width: 360, height: 740, colours: 'dark' }],
], 1);

/** Opens a page, waits until it shows the text, and returns what axe finds, and whether the page scrolls sideways. */
async function look(page: Page, url: string, selector: string, text: string) {
  await page.goto(url);
  await until(async () => (await page.evaluate(textOf, selector)).includes(text));
  return await problems(page);
}

async function problems(page: Page) {
  const found = await accessibilityProblems(page.mainFrame());
  return await page.evaluate(scrollsSideways) ? [...found, 'scrolls sideways'] : found;
}

beforeAll(async () => {
  await pay(await createOrder());
  const order = await createOrder();
  await simulate('pay', { order_id: order.id, outcome: 'failed' });
  await createOrder();
});

test.each(VIEWS)('axe finds nothing on the page of the gateway simulator: %s', async (_, viewing) => {
  const page = await browser.openPage(viewing);
  expect(await look(page, simulator.url, '#orders', 'paid')).toEqual([]);
});

test.each(VIEWS)(
  'axe finds nothing on the page of a mandate, before and after its approval: %s',
  async (_, viewing) => {
    const page = await browser.openPage(viewing);
    const { body } = await call('POST', '/v1/subscriptions', { plan_id: 'plan_Pro00000000001', total_count: 12 });
    expect(await look(page, String(body.short_url), '#status', 'created')).toEqual([]);
    await page.locator('#approve').click();
    await until(async () => (await page.evaluate(textOf, '#message')).includes('Approved.'));
    expect(await problems(page)).toEqual([]);
  },
);

test.each(VIEWS)('axe finds nothing in the mailbox, empty and with an open mail: %s', async (_, viewing) => {
  const page = await browser.openPage(viewing);
  expect(await look(page, mailbox.url, '#no-mail', 'Choose a mail.')).toEqual([]);
  const mail = { from: 'Acme <billing@acme.example>', to: 'asha@example.com', subject: 'Your plan is active' };
  const html = '<!doctype html><html lang="en"><title>Mail</title><h1>Thank you</h1></html>';
  const authorization = 'Bearer re_local';
  await mailbox.call('POST', '/emails', { ...mail, html, text: 'Thank you' }, { authorization });
  await until(async () => (await page.evaluate(textOf, '#mails')).includes('Your plan is active'));
  expect(await problems(page)).toEqual([]);
  await page.locator('#mails a').click();
  await until(async () => (await page.evaluate(textOf, '#subject')) === 'Your plan is active');
  expect(await problems(page)).toEqual([]);
  for (const tab of ['#tab-text', '#tab-source']) {
    await page.locator(tab).click();
    expect([tab, await problems(page)]).toEqual([tab, []]);
  }
});
