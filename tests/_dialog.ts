import puppeteer from 'puppeteer-core';
import { findBrowser } from './helpers/browser/find-browser.ts';
const [url='', path='', ...clicks] = Deno.args;
const browser = await puppeteer.launch({ executablePath: await findBrowser(), args: ['--no-sandbox','--disable-gpu'], headless: 'shell' });
const page = await browser.newPage(); page.on('console', (m) => console.log(m.type(), m.text())); page.on('pageerror', (e) => console.log(String(e)));
await page.setViewport({ width: 1280, height: 860 }); await page.goto(url); await page.goto(new URL(path,url).href); await page.waitForSelector('main h1');
for (const c of clicks) { if (c.startsWith('=')) await page.keyboard.type(c.slice(1)); else await page.locator(`::-p-aria([name="${c}"])`).click(); await new Promise(r=>setTimeout(r,600)); }
await page.screenshot({ path: '/tmp/con/dialog.png' }); await browser.close();
