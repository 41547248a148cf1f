import axe from 'axe-core';
import type { Frame, Page } from 'puppeteer-core';
import { onTestFinished } from 'vitest';
import type { TestBrowser, Viewing } from '../helpers/browser/use-browser.ts';
import { axeProblems, textOf } from '../helpers/browser/in-page.js';
import { openCheckout } from './checkout-in-page.js';
import { simulator, until } from './gateway-simulator-rig.ts';
import type { Entity } from './simulate.ts';

const WAIT = { timeout: 15_000 };

/** What the checkout called in the app's page: the name of the callback, and its argument, if there was one. */
type Called = [name: string, argument?: unknown];

/**
 * An app's page, on another site than the simulator. Its policy allows what the real checkout needs of the gateway's
 * addresses, and nothing else. A form that is posted to it is kept in `posted`, with its header `origin`.
 */
export async function openApp(browser: TestBrowser, viewing?: Viewing) {
  const posted: Record<string, string>[] = [];
  const policy = `default-src 'none'; script-src ${simulator.url}; frame-src ${simulator.url}; base-uri 'none'`;
  const html = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>App</title>
    <main><h1>App</h1><p>Some text of the app.</p><button id="buy">Buy</button></main>
    <script src="${simulator.url}/v1/checkout.js"></script></html>`;
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen() {} }, async (request) => {
    if (request.method === 'POST') {
      const form = new URLSearchParams(await request.text());
      posted.push({ origin: request.headers.get('origin') ?? '', ...Object.fromEntries(form) });
    }
    return new Response(html, { headers: { 'content-type': 'text/html', 'content-security-policy': policy } });
  });
  const page = await browser.openPage(viewing);
  onTestFinished(() => server.shutdown());
  const problems = problemsOf(page);
  const url = `http://localhost:${server.addr.port}`;
  await page.goto(url);

  return {
    page,
    url,
    posted,
    /** Errors in the console, and violations of the policy. */
    problems,
    /** Opens the checkout, as an app does after a click. */
    open: (options: Entity) => page.evaluate(openCheckout, options),
    called: () => called(page),
    /** Waits until the checkout called a callback, and returns all calls. */
    untilCalled: (name: string) =>
      until(async () => {
        const calls = await called(page);
        return calls.some(([one]) => one === name) && calls;
      }),
    /** Whether the window is open. */
    isOpen: async () => await page.$('iframe.razorpay-checkout-frame') !== null,
  };
}

/** Keeps the errors in the console of a page, and the violations of its policy. */
export function problemsOf(page: Page): string[] {
  const problems: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(String(error)));
  return problems;
}

const called = async (page: Page) => await page.evaluate('called') as Called[];

/** The window of the open checkout, after it is ready. */
export async function windowOf(page: Page): Promise<Frame> {
  const element = await page.waitForSelector('iframe.razorpay-checkout-frame', WAIT);
  const frame = await element?.contentFrame();
  if (!frame) throw new Error('the checkout has no frame');
  await frame.waitForSelector('[data-panel]:not([hidden])', WAIT);
  return frame;
}

/** Presses a visible button by its text or label. */
export async function press(frame: Frame, name: string): Promise<void> {
  await frame.locator(`::-p-aria([name="${name}"][role="button"])`).setTimeout(WAIT.timeout).click();
}

/** Waits until the window says something. */
export async function says(frame: Frame, text: string): Promise<void> {
  await until(async () => (await frame.evaluate(textOf, '#message')).includes(text));
}

/** What axe finds in a document: the rule and the elements. */
export async function accessibilityProblems(frame: Frame): Promise<string[]> {
  await frame.evaluate(axe.source);
  return await frame.evaluate(axeProblems);
}
