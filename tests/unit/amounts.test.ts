import { build, stop } from 'esbuild';
import { expect, test } from 'vitest';
import { guessedDecimals } from '../../scripts/check/amounts.ts';
import { root } from '../../scripts/stack/root.ts';
import { useBrowser } from '../helpers/browser/use-browser.ts';
import { useDatabase } from '../helpers/database/use-database.ts';

const database = useDatabase();
const browser = useBrowser();

/** The same amount in minor units, for people, in SPEC's two mails, and in the texts of the database. */
const rows = [
  { currency: 'INR', shown: '₹1,234.56', mailed: '₹1234.56', inSql: '1234.56 INR' },
  { currency: 'USD', shown: '$1,234.56', mailed: 'USD 1234.56', inSql: '1234.56 USD' },
  { currency: 'JPY', shown: '¥123,456', mailed: 'JPY 123456', inSql: '123456 JPY' },
  { currency: 'KWD', shown: 'KWD 123.456', mailed: 'KWD 123.456', inSql: '123.456 KWD' },
  { currency: 'IQD', shown: 'IQD 123.456', mailed: 'IQD 123.456', inSql: '123.456 IQD' },
  { currency: 'LAK', shown: 'LAK 1,234.56', mailed: 'LAK 1234.56', inSql: '1234.56 LAK' },
  { currency: 'MGA', shown: 'MGA 1,234.56', mailed: 'MGA 1234.56', inSql: '1234.56 MGA' },
  { currency: 'HUF', shown: 'HUF 1,234.56', mailed: 'HUF 1234.56', inSql: '1234.56 HUF' },
];
const AMOUNT = 123_456;
const currencies = rows.map(({ currency }) => currency);

/** What client (with shop and console), block, mails and simulator make of the amounts, as an expression. */
const source = `
  import { formatCurrency } from './supabase/client/subscriptions.ts';
  import { en } from './supabase/client/blocks/billing-page/en.ts';
  import { money as shop } from './scripts/stack/shop/element.ts';
  import { money as simulator } from './scripts/stack/http/money.js';
  import { formatAmount, formatCurrency as mail } from './supabase/functions/api/outbox/format.ts';
  export const texts = ${JSON.stringify(currencies)}.map((currency) => ({
    shown: [formatCurrency, en.money, shop, mail].map((format) => format(${AMOUNT}, currency)),
    simulated: simulator({ amount: ${AMOUNT}, currency }),
    mailed: formatAmount(${AMOUNT}, currency),
  }));`;

/** One line that works in every engine: the texts as JSON. */
async function script(): Promise<string> {
  try {
    const { outputFiles } = await build({
      absWorkingDir: root,
      stdin: { contents: source, resolveDir: root, loader: 'ts' },
      bundle: true,
      write: false,
      format: 'iife',
      globalName: 'made',
    });
    return `(() => { ${outputFiles[0]?.text}; return JSON.stringify(made.texts); })()`;
  } finally {
    await stop();
  }
}

async function output(command: string, ...args: string[]): Promise<string> {
  const made = await new Deno.Command(command, { args, clearEnv: true, env: { NO_COLOR: '1' } }).output();
  if (!made.success) throw new Error(new TextDecoder().decode(made.stderr));
  return new TextDecoder().decode(made.stdout).trim();
}

async function node(): Promise<string> {
  const folders = (Deno.env.get('PATH') ?? '').split(':').map((folder) => `${folder}/node`);
  const found = await Promise.all(folders.map((path) => Deno.stat(path).then(() => path, () => undefined)));
  return found.find((path) => path !== undefined) ?? 'node';
}

const engines: [name: string, run: (script: string) => Promise<unknown>][] = [
  ['Deno 2.1.4', (text) => output(`${root}/node_modules/deno-hosted/deno`, 'eval', '-p', text)],
  ["today's Deno", (text) => output(Deno.execPath(), 'eval', '-p', text)],
  ['Node', async (text) => output(await node(), '-p', text)],
  ['Chromium', async (text) => await (await browser.openPage()).evaluate(text)],
];

test.each(engines)(
  'on %s amounts have the decimals of ISO 4217 in client, block, shop, mails and simulator',
  async (_, run) => {
    // No engine may decide whether the space is a no-break one.
    const texts = JSON.parse(String(await run(await script()))).map(
      ({ shown, simulated, mailed }: { shown: string[]; simulated: string; mailed: string }) => ({
        shown: [...shown, simulated].map((text) => text.replace('\u00a0', ' ')),
        mailed,
      }),
    );
    expect(texts).toEqual(rows.map(({ shown, mailed }) => ({ shown: Array(5).fill(shown), mailed })));
  },
);

test.each(rows)('the database writes an amount of $currency as $inSql', async ({ currency, inSql }) => {
  expect(await database.one('select billing.amount_text($1, $2)', [AMOUNT, currency])).toEqual({ amount_text: inSql });
});

test('the decimals are those of ISO 4217', async () => {
  // From its list of 2024, without precious metals and funds.
  const none = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' ');
  const three = 'BHD IQD JOD KWD LYD OMR TND'.split(' ');
  const two = 'AFN ALL COP HUF IDR INR IRR KPW LAK LBP MGA MMK PKR RSD SOS SYP TWD USD YER'.split(' ');
  for (const [decimals, codes] of [[0, none], [2, two], [3, three]] as const) {
    const sql = 'select array_agg(distinct billing.minor_units(c)) as found from unnest($1::text[]) c';
    expect(await database.one(sql, [codes])).toEqual({ found: [decimals] });
  }
});

test.each([
  'const digits = new Intl.NumberFormat(l, o).resolvedOptions().maximumFractionDigits ?? 2;',
  'const digits = format\n  .resolvedOptions()\n  .minimumFractionDigits;',
  'const { maximumFractionDigits = 2 } = format.resolvedOptions();',
  'const shown = plan.amount / 100;',
  'const money = (minor: number) => (minor / 100).toFixed(2);',
  "amount.toLocaleString('en', { style: 'currency', currency });",
])('the check finds decimals that are guessed: %s', (line) => {
  expect(guessedDecimals('a.ts', `const a = 1;\n${line}`)).toEqual([expect.stringMatching(/^a\.ts:[23]: "/)]);
});

test.each([
  "new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone",
  'Math.round(share * 10_000) / 100',
  "new Intl.NumberFormat('en', { style: 'currency', currency, ...digits })",
  'amount / 10 ** minorUnits(currency)',
])('the check accepts %s', (line) => expect(guessedDecimals('a.ts', line)).toEqual([]));
