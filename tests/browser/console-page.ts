import type { Page } from 'puppeteer-core';
import { expect } from 'vitest';
import { textOf } from '../helpers/browser/in-page.js';
import type { TestBrowser, Viewing } from '../helpers/browser/use-browser.ts';
import { problemsOf } from '../stack/checkout-rig.ts';
import type { useConsole } from '../stack/console-rig.ts';
import { until } from '../stack/gateway-simulator-rig.ts';

type Support = ReturnType<typeof useConsole>;

/** A function that opens a page of the console. Keeps errors, violations of the policy, and the addresses of other servers. */
export const visitsOf = (support: Support, browser: TestBrowser) => async (path: string, viewing: Viewing = {}) => {
  const page = await browser.openPage(viewing);
  const problems = problemsOf(page);
  await page.goto(support.entryUrl);
  const { origin, pathname, port, search } = new URL(page.url());
  expect([pathname, port, search]).toEqual(['/', new URL(support.url).port, '']);
  page.on('request', (request) => {
    if (/^https?:/.test(request.url()) && !request.url().startsWith(origin)) problems.push(request.url());
  });
  const open = async (path: string) => {
    await page.goto(origin + path);
    await page.waitForSelector('main h1');
  };
  await open(path);
  return { page, problems, open };
};

/** Clicks what has a name. */
export const click = (page: Page, name: string) => page.locator(`::-p-aria([name="${name}"])`).click();
/** Waits until an element has a text. */
export const shows = (page: Page, selector: string, text: string) =>
  until(async () => (await page.evaluate(textOf, selector).catch(() => '')).includes(text));
