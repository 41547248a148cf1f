import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { buttonHeights, focusedName, scrollsSideways, unreachableControls } from '../helpers/browser/in-page.js';
import { useBrowser, type Viewing } from '../helpers/browser/use-browser.ts';
import { setClock } from '../helpers/database/clock.ts';
import { writeStateless } from '../helpers/records/books.ts';
import { createUser } from '../helpers/records/records.ts';
import { accessibilityProblems } from '../stack/checkout-rig.ts';
import { useConsole } from '../stack/console-rig.ts';
import { click, shows, visitsOf } from './console-page.ts';

const support = useConsole({ findings: { captured_not_fulfilled: 'any', state_missing: 1, settlement_difference: 1 } });
const browser = useBrowser();
const visit = visitsOf(support, browser);
let email: string;

beforeAll(async () => {
  const { database } = support;
  email = (await writeStateless(database)).email ?? expect.fail('the user has no address');
  await database.query(
    `update billing.settlements set amount = amount + 100, lines_complete_at = null where settlement_id like '%3'`,
  );
  await database.query('grant execute on function billing.close_month(date) to subscriptions_support');
  await setClock(database, '2026-12-05');
});

test('each figure of a month opens what it is made of, and each problem its customer or settlement', async () => {
  const { page, problems, open } = await visit('/books');
  await shows(page, '.tiles', 'Taxable₹87,477.61Tax₹15,457.46Bank (3)₹1,00,479.64Problems2');
  await click(page, 'Credit notes to buyers with a GSTIN');
  await shows(page, 'table[aria-label="Documents"]', 'CN2627/000012of 2627/000102');
  await click(page, 'Books of Nov 2026');
  await click(page, '23 Nov 2026');
  await shows(page, '.tiles', 'Difference₹1.00');
  await shows(page, 'table[aria-label="Lines"]', 'pay_Example0000105');
  await open('/books');
  await click(page, 'setl_Example0000003');
  await shows(page, 'h1', 'Bank, 23 Nov 2026');
  await open('/books');
  await shows(page, '#problems', 'Ask the customer for the state, then reissue');
  await click(page, email);
  await shows(page, 'aside', email);
  expect(problems).toEqual([]);
});

test('the receipts of a customer have the day of the document, in another time zone too', async () => {
  const { database } = support;
  const user = await createUser(database);
  const number = '2627/000103'; // issued at 6:30 in UTC, which is the day before in Hawaii
  const setUser = (id: string | null) =>
    database.query('update public.receipts set user_id = $1 where document_number = $2', [id, number]);
  await database.query('alter table public.receipts disable trigger user');
  await setUser(user.id);
  await database.query('alter table public.receipts enable trigger user');
  onTestFinished(async () => void await setUser(null));
  await database.query("update billing.settings set time_zone = 'Pacific/Honolulu'");
  onTestFinished(async () => void await database.query("update billing.settings set time_zone = 'UTC'"));
  const { page, problems } = await visit(`/customers/${user.id}`);
  await shows(page, 'table[aria-label="Receipts"]', `5 Nov 2026${number}`);
  expect(problems).toEqual([]);
});

test('the keyboard alone chooses a month, and makes the files', async () => {
  const { page, problems } = await visit('/books');
  await page.waitForSelector('#month');
  await page.focus('#month');
  await page.keyboard.press('ArrowUp');
  await shows(page, '.lead', 'This month is not over in India');
  await page.waitForFunction("document.querySelector('#month').value === '2026-12'");
  expect(await page.evaluate(focusedName)).toBe('Month');
  await page.keyboard.press('ArrowDown');
  await shows(page, '.lead', 'Open: a credit note');
  await page.focus('#make-files');
  await page.keyboard.press('Enter');
  await shows(page, 'table[aria-label="Files"]', 'tally-vouchers.xml');
  const links = await page.$$eval('a[download]', (all) => all.map((one) => one.getAttribute('download')));
  // In the list, and in the row of its section.
  expect(links.filter((name) => name === '2026-11-gstr1-cdnr.csv').length).toBe(2);
  expect(problems).toEqual([]);
});

test.each<[string, Viewing]>([
  ['light at 1280x800', {}],
  ['dark at 1280x800', { colours: 'dark' }],
  ['light at 390x844', { width: 390, height: 844 }],
  ['dark at 390x844', { width: 390, height: 844, colours: 'dark' }],
])(
  'axe finds nothing on the pages of the books, nothing is cut off, every control is reached: %s',
  async (_, viewing) => {
    const { page, problems, open } = await visit('/', viewing);
    const isSmall = viewing.width === 390;
    for (
      const path of ['/books', '/books/documents?month=2026-11&section=taxed', '/books/settlements/setl_Example0000002']
    ) {
      await open(path);
      const low = isSmall ? (await page.evaluate(buttonHeights)).filter((height) => height < 44) : [];
      expect([path, await accessibilityProblems(page.mainFrame()), await page.evaluate(scrollsSideways), low])
        .toEqual([path, [], false, []]);
      expect([path, await page.evaluate(unreachableControls)]).toEqual([path, []]);
    }
    await open('/books');
    await click(page, 'Close month');
    await page.waitForSelector('dialog[open]');
    expect([await accessibilityProblems(page.mainFrame()), await page.evaluate(unreachableControls)]).toEqual([[], []]);
    expect(problems).toEqual([]);
  },
);

test('a month without documents says that its return is nil', async () => {
  const { page, problems } = await visit('/books?month=2026-01');
  await shows(page, 'main', 'Nothing to declare in Jan 2026The return of this month is nil.');
  expect(problems).toEqual([]);
});

test('the dialog lists the problems before a month is closed; the page then says when and by whom', async () => {
  const { page, problems, open } = await visit('/books');
  await click(page, 'Close month');
  await shows(page, 'dialog', 'Settlement difference: 1State missing: 1');
  await click(page, 'Cancel');
  await page.waitForSelector('dialog', { hidden: true });
  await support.database.query('revoke execute on function billing.close_month(date) from subscriptions_support');
  onTestFinished(async () => void await support.database.query('truncate billing.book_months'));
  await open('/books');
  expect(await page.$('::-p-aria([name="Close month"])')).toBeNull();
  await support.database.query('grant execute on function billing.close_month(date) to subscriptions_support');
  await open('/books');
  await click(page, 'Close month');
  await click(page, 'Close the month');
  await shows(page, '.lead', 'Closed on 5 Dec 2026, 00:00 by subscriptions_support.');
  await shows(page, '#message', '2026-11 is closed');
  expect(await page.$('::-p-aria([name="Close month"])')).toBeNull();
  expect(problems).toEqual([]);
});
