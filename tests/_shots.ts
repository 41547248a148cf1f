import puppeteer from 'puppeteer-core';
import { findBrowser } from './helpers/browser/find-browser.ts';
const [url='', filter='', ...pages] = Deno.args;
const browser = await puppeteer.launch({ executablePath: await findBrowser(), args: ['--no-sandbox','--disable-gpu'], headless: 'shell' });
for (const [name,width,height,scheme] of [['d-light',1280,860,'light'],['d-dark',1280,860,'dark'],['m-light',360,740,'light'],['m-dark',360,740,'dark']] as const) {
  if (filter && !name.match(filter)) continue;
  const c = await browser.createBrowserContext(); const page = await c.newPage();
  page.on('console', (m) => console.log(name, m.type(), m.text())); page.on('pageerror', (e) => console.log(name, e));
  await page.setViewport({ width, height }); await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  const r = await page.goto(url); 
  for (const p of pages) { const t=Date.now(); await page.goto(new URL(p, url).href); await page.waitForSelector('main h1'); await page.waitForFunction("!document.querySelector('main[aria-busy]')"); await new Promise((r)=>setTimeout(r,300));
    console.log(name, p, Date.now()-t, await page.evaluate('document.documentElement.scrollWidth > innerWidth'));
    await page.screenshot({ path: `/tmp/con/${name}${p.replaceAll(/[^a-z0-9]+/gi,'_').slice(0,20)}.png` as any, fullPage: name.startsWith('m') }); }
}
await browser.close();
