import { mkdir } from 'node:fs/promises';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { root } from '../../../scripts/stack/root.ts';
import { findBrowser } from './find-browser.ts';

const NO_BROWSER = 'no browser: on Linux on x64 it comes with `npm ci`; elsewhere install Chrome, or set CHROME_PATH';
const screenshots = `${root}/tests/screenshots`;

/** How a person views a page. Default: a desktop, light colours, animations. */
export type Viewing = {
  width?: number;
  height?: number;
  colours?: 'light' | 'dark';
  motion?: 'reduce' | 'no-preference';
};

/** A browser for the tests of a file. */
export type TestBrowser = ReturnType<typeof useBrowser>;

/**
 * Starts a browser before the tests of the surrounding block, and closes it after the last. Without a browser they fail
 * in CI, and are skipped elsewhere.
 */
export function useBrowser() {
  let browser: Browser | undefined;
  beforeAll(async () => {
    const executablePath = await findBrowser();
    if (executablePath !== undefined) browser = await launch(executablePath);
    else if (Deno.env.get('CI')) throw new Error(NO_BROWSER);
  });
  afterAll(() => browser?.close());
  beforeEach(({ skip }) => skip(browser === undefined, NO_BROWSER));

  return {
    /** Opens an empty page with its own storage. It is closed after the test. A failure stores a screenshot. */
    async openPage({ width = 1280, height = 800, colours, motion }: Viewing = {}): Promise<Page> {
      if (browser === undefined) throw new Error('the browser is there only while tests run');
      const context = await browser.createBrowserContext();
      const page = await context.newPage();
      onTestFinished(async ({ task }) => {
        if (task.result?.state === 'fail') await photograph(page, task.name);
        await context.close();
      });
      await page.setViewport({ width, height });
      await page.emulateMediaFeatures([
        { name: 'prefers-color-scheme', value: colours ?? 'light' },
        { name: 'prefers-reduced-motion', value: motion ?? 'no-preference' },
      ]);
      return page;
    },
  };
}

async function launch(executablePath: string): Promise<Browser> {
  // Chrome refuses to run as root inside its sandbox. The pages are those of the tests.
  const args = Deno.uid() === 0 ? ['--no-sandbox'] : [];
  return await puppeteer.launch({ executablePath, args: [...args, '--disable-gpu'], headless: 'shell' });
}

async function photograph(page: Page, name: string): Promise<void> {
  const path = `${screenshots}/${name.replaceAll(/[^a-z0-9]+/gi, '-').slice(0, 100)}.png` as const;
  await mkdir(screenshots, { recursive: true });
  await page.screenshot({ path }).catch(() => undefined); // the test may have closed the page
}
