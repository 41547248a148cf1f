import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import puppeteer from 'puppeteer-core';
import { root } from '../../../scripts/stack/root.ts';

/** A Chromium for Linux on x64, as npm installs it: compressed. */
const packaged = `${root}/node_modules/@sparticuz/chromium`;

/**
 * Finds a Chrome or Chromium: the one that `CHROME_PATH` names, else the packaged one on Linux on x64, else an installed
 * Chrome. @returns its path, or undefined when there is none
 */
export async function findBrowser(): Promise<string | undefined> {
  const named = Deno.env.get('CHROME_PATH');
  if (named) {
    if (!existsSync(named)) throw new Error(`CHROME_PATH names ${named}, which does not exist`);
    return named;
  }
  if (Deno.build.os === 'linux' && Deno.build.arch === 'x86_64' && existsSync(packaged)) return await unpack();
  try {
    const installed = puppeteer.executablePath('chrome');
    return existsSync(installed) ? installed : undefined;
  } catch {
    return undefined; // no Chrome at the places where the system installs it
  }
}

/** Decompresses the packaged browser once. Several processes may do so at the same time. */
async function unpack(): Promise<string> {
  const { version } = JSON.parse(await readFile(`${packaged}/package.json`, 'utf8'));
  const folder = `${root}/node_modules/.cache/chromium-${version}`;
  const browser = `${folder}/chromium`;
  if (existsSync(browser)) return browser;
  await mkdir(folder, { recursive: true });
  const partial = `${browser}-${Deno.pid}`;
  const source = createReadStream(`${packaged}/bin/chromium.br`);
  await pipeline(source, createBrotliDecompress(), createWriteStream(partial, { mode: 0o755 }));
  await rename(partial, browser);
  return browser;
}
