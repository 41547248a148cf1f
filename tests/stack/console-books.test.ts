import { beforeEach, expect, test } from 'vitest';
import {
  bookWork,
  createFileMaker,
  type FileJob,
  type FileMaker,
  type FileWork,
} from '../../scripts/console/file-maker.ts';
import { createSupportDatabase } from '../../scripts/console/database.ts';
import { setClock } from '../helpers/database/clock.ts';
import {
  allFiles,
  exampleBooks,
  expectedFile,
  expectedFiles,
  replaceBooks,
  writeBooks,
  writeStateless,
} from '../helpers/records/books.ts';
import { readSheet, readTable } from '../helpers/records/read-sheet.ts';
import { createUser } from '../helpers/records/records.ts';
import { useConsole } from './console-rig.ts';
import { until } from './gateway-simulator-rig.ts';

const support = useConsole({ findings: { captured_not_fulfilled: 'any' } });
beforeEach(async () => {
  await replaceBooks(support.database);
  await setClock(support.database, '2026-11-30T18:30:00Z');
});

const read = async (path: string) => await (await support.get(`/api${path}`)).json();
const post = (path: string) =>
  fetch(`${support.url}/api${path}`, {
    method: 'POST',
    headers: { cookie: support.cookie, origin: support.url, 'content-type': 'application/json' },
    body: '{}',
  });
const grant = (verb: 'grant' | 'revoke') =>
  support.database.query(
    verb === 'grant'
      ? 'grant execute on function billing.close_month(date) to subscriptions_support'
      : 'revoke execute on function billing.close_month(date) from subscriptions_support',
  );

test('the month is the newest that is over in India; its sections add up to its summary', async () => {
  const { month, known, state, sections, sums } = await read('/books');
  expect([month, known]).toEqual(['2026-11', { today: '2026-12', over: '2026-11', first: '2026-11' }]);
  expect(state.summary).toEqual(JSON.parse(await expectedFile('summary.json')));
  expect(sections).toEqual([
    { key: 'b2b', documents: 2, taxable: 150575, tax: 27102 },
    { key: 'b2cl', documents: 1, taxable: 8474577, tax: 1525424 },
    { key: 'b2cs', documents: 1, taxable: 28249, tax: 5084 },
    { key: 'exp', documents: 1, taxable: 160273, tax: 0 },
    { key: 'cdnr', documents: 2, taxable: -65913, tax: -11864 },
    { key: 'cdnur', documents: 0, taxable: 0, tax: 0 },
    { key: 'none', documents: 0, taxable: 0, tax: 0 },
  ]);
  expect(sums).toEqual([
    { key: 'hsn-b2b', documents: 4, taxable: 84662, tax: 15238 },
    { key: 'hsn-b2c', documents: 3, taxable: 8663099, tax: 1530508 },
    { key: 'docs', documents: 7, taxable: 8747761, tax: 1545746 },
  ]);
  await setClock(support.database, '2026-11-30T18:29:59Z');
  expect((await read('/books')).month).toBe('2026-10');
});

test('a section opens its documents, a bank line its payments with document and customer', async () => {
  const { id } = await createUser(support.database);
  await support.database.query(
    "update public.payments set user_id = $1 where gateway_payment_id = 'pay_Example0000103'",
    [
      id,
    ],
  );
  const { title, rows } = await read('/books/2026-11/documents?section=cdnr');
  expect([title, rows.map((row: Record<string, unknown>) => [row.document_number, row.sign, row.taxable, row.against])])
    .toEqual(['Credit notes to buyers with a GSTIN', [
      ['CN2627/000012', -1, 37665, '2627/000102'],
      ['CN2627/000011', -1, 28248, '2627/000102'],
    ]]);
  const { line, lines } = await read('/settlements/setl_Example0000002');
  expect([line.payments, line.fees, line.gst_on_fees, line.refunds, line.amount]).toEqual(
    [193606, 5475, 986, 33333, 153812],
  );
  expect(lines.rows.map((row: Record<string, unknown>) => [row.entity_id, row.document_number, row.user_id])).toEqual([
    ['pay_Example0000103', '2627/000103', id],
    ['pay_Example0000104', '2627/000104', null],
    ['rfnd_Example0000011', 'CN2627/000011', null],
  ]);
  await support.database.query('update public.payments set user_id = null where user_id = $1', [id]);
  expect((await support.get('/api/settlements/setl_none')).status).toBe(404);
});

test('every document is in one section, and the lists page through all', async () => {
  const [first] = exampleBooks.documents;
  if (first === undefined) throw new Error('the example has no document');
  const documents = Array.from({ length: 150 }, (_, index) => ({
    ...first,
    ...{ id: crypto.randomUUID(), number: 1000 + index, document_number: `2627/${1000 + index}` },
    gateway_payment_id: `pay_many_${index}`,
  }));
  const lines = documents.map(({ gateway_payment_id }) => ({
    ...{
      type: 'payment',
      entity_id: gateway_payment_id,
      payment_id: null,
      amount: 99900,
      fee: 0,
      tax: 0,
      debit: 0,
      credit: 99900,
    },
  }));
  const many = {
    id: 'setl_many',
    utr: null,
    settled_on: '2026-11-20',
    status: 'processed',
    amount: 150 * 99900,
    lines,
  };
  await writeBooks(support.database, { ...exampleBooks, documents, settlements: [many] });
  const all = async (path: string, more: string, name: string) => {
    const found: unknown[] = [];
    let page = await read(path);
    page = page.lines ?? page;
    while (true) {
      found.push(...page.rows.map((row: Record<string, unknown>) => row[name]));
      if (page.older === null) return found;
      page = await read(`${more}${more.includes('?') ? '&' : '?'}older=${encodeURIComponent(page.older)}`);
    }
  };
  const path = '/books/2026-11/documents?section=b2b';
  const numbers = await all(path, path, 'document_number');
  expect([numbers.length, new Set(numbers).size]).toEqual([152, 152]);
  const ids = await all('/settlements/setl_many', '/settlements/setl_many/lines', 'entity_id');
  expect([ids.length, new Set(ids).size]).toEqual([150, 150]);
  const { sections } = await read('/books');
  const counts = sections.map((row: { documents: number }) => row.documents);
  expect(counts.reduce((sum: number, one: number) => sum + one, 0)).toBe(157);
});

test('problems have their customer, and a CSV file with all of a kind', async () => {
  const { id, email } = await writeStateless(support.database);
  const { problems } = await read('/books');
  expect(problems).toEqual([
    {
      ...{ problem: 'state_missing', document_number: '2627/000103', total: 1, user_id: id, email },
      ...{ payment_id: expect.any(String), detail: expect.any(String) },
    },
  ]);
  const csv = await (await support.get('/api/books/2026-11/problems.csv')).text();
  expect(csv.split('\r\n').slice(0, 2)).toEqual([
    'problem,document_number,email,payment_id,detail',
    `state_missing,2627/000103,${email},${
      problems[0].payment_id
    },The buyer's state is not known: the seller's was taken.`,
  ]);
  await support.database.query('update public.payments set user_id = null where user_id = $1', [id]);
});

test('the files are those of npm run books, to the byte', async () => {
  expect(await read('/books/2026-11/files')).toBeNull();
  expect((await post('/books/2026-11/files')).status).toBe(200);
  const job: FileJob = await until(async () => {
    const now: FileJob = await read('/books/2026-11/files');
    return now.state !== 'running' && now;
  });
  expect([job.state, job.error, job.done]).toEqual(['done', null, job.total]);
  expect(job.files.map(({ name }) => name)).toEqual(allFiles());
  for (const name of expectedFiles()) {
    const answer = await support.get(`/api/books/2026-11/files/${name}`);
    expect(await answer.text(), name).toBe(await expectedFile(name));
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="2026-11-${name}"`);
  }
  const sheet = await support.get('/api/books/2026-11/files/sales-register.xlsx');
  expect(sheet.headers.get('content-type')).toMatch(/^application\/vnd\.openxmlformats.*\.sheet$/);
  expect((await readSheet(await sheet.bytes())).rows).toEqual(readTable(await expectedFile('sales-register.csv')));
  for (const path of ['2026-11/files/..%2F..%2Fetc%2Fpasswd', '2026-11/files/notes.txt', '2026-10/files/gstr1.json']) {
    expect([path, (await support.get(`/api/books/${path}`)).status]).toEqual([path, 404]);
  }
});

/** Runs a test with a maker of files, whose temporary folder is its own. */
async function withFileMaker(
  work: FileWork,
  run: (files: FileMaker, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const usual = Deno.env.get('TMPDIR');
  Deno.env.set('TMPDIR', folder);
  const database = createSupportDatabase(support.supportUrl);
  try {
    await run(createFileMaker(database, work), folder);
  } finally {
    if (usual === undefined) Deno.env.delete('TMPDIR');
    else Deno.env.set('TMPDIR', usual);
    database.close();
    await Deno.remove(folder, { recursive: true });
  }
}

test('files are made for one month at a time, and are deleted with the next ones and at the end', () =>
  withFileMaker(bookWork, async (files, folder) => {
    const job = files.make('2026-11');
    expect(files.make('2026-11')).toBe(job);
    expect(() => files.make('2026-10')).toThrow('The files of 2026-11 are being made. Wait for them.');
    await until(() => job.state === 'done');
    const other = files.make('2026-10');
    expect(files.find('2026-11')).toBeNull();
    await until(() => other.state === 'done');
    expect([...Deno.readDirSync(folder)].length).toBe(1);
    files.close();
    expect([...Deno.readDirSync(folder)]).toEqual([]);
  }));

test('files that cannot be made are closed and deleted, and the job says why', async () => {
  const write: FileWork['write'] = async (_, __, made) => {
    await (await made.open('gstr1.json')).write('{}');
    await made.open('gstr1.json');
  };
  await withFileMaker({ ...bookWork, write }, async (files, folder) => {
    const isOpen = (fd: string) => {
      try {
        return Deno.readLinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
      } catch {
        return false; // that of the listing
      }
    };
    const job = files.make('2026-11');
    await until(() => job.state !== 'running');
    expect(job.state).toBe('failed');
    expect(job.error).toMatch(/^The files could not be written: File exists/);
    expect([...Deno.readDirSync(folder)]).toEqual([]);
    if (Deno.build.os === 'linux') {
      expect([...Deno.readDirSync('/proc/self/fd')].filter(({ name }) => isOpen(name))).toEqual([]);
    }
  });
});

test('support may not close a month, one to whom the owner granted it may, and the month says who', async () => {
  expect((await read('/books')).state).toMatchObject({ may_close: false, closed_at: null });
  const refused = await post('/books/2026-11/close');
  expect([refused.status, await refused.json()]).toEqual(
    [422, { error: 'The role of this console may not do that.' }],
  );
  await grant('grant');
  try {
    await setClock(support.database, '2026-11-30T18:29:59Z');
    const early = await post('/books/2026-11/close');
    expect([early.status, await early.json()]).toEqual([422, { error: '2026-11 is not over' }]);
    await setClock(support.database, '2026-11-30T18:30:00Z');
    expect((await read('/books')).state.may_close).toBe(true);
    expect((await post('/books/2026-11/close')).status).toBe(200);
  } finally {
    await grant('revoke');
  }
  const { state } = await read('/books');
  expect([state.closed_by, Date.parse(state.closed_at)]).toEqual(
    ['subscriptions_support', Date.parse('2026-11-30T18:30:00Z')],
  );
});

test.each(['2026-13', 'x', "2026-11'--"])('%s is no month → 422', async (month) => {
  const answers = await Promise.all(
    ['documents', 'files', 'problems.csv'].map((part) =>
      support.get(`/api/books/${encodeURIComponent(month)}/${part}`)
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([422, 422, 422]);
});
