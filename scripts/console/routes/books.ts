import { Hono } from 'hono';
import { type BankLine, settlementLines } from '../../books/bank-lines.ts';
import type { BookLine, BookMonths, BookPaper, BookProblem, BookState, BookSums } from '../book-rows.ts';
import { bookSections, bookSums, findSection } from '../book-sections.ts';
import { toCsv } from '../csv.ts';
import type { SupportDatabase } from '../database.ts';
import { PAGE_ROWS, pageOf, readCursor } from '../paging.ts';
import { readMonth } from './book-month.ts';

/** The most problems of a kind on the page; all are in the CSV file. */
const SHOWN = 20;
const PROBLEM_COLUMNS = ['problem', 'document_number', 'email', 'payment_id', 'detail'] as const;

/** The books of a month: sums, what each consists of, problems, and the closing. */
export function bookRoutes(database: SupportDatabase): Hono {
  const routes = new Hono();

  routes.get('/books', async (c) => {
    const [known] = await database.read<BookMonths>(
      `select to_char(today, 'YYYY-MM') as today, to_char(today - interval '1 month', 'YYYY-MM') as over,
        to_char(least(
          (select min(r.tax_period) from public.receipts r),
          (select billing.day_in_india(min(s.created_at)) from billing.settlements s),
          today - interval '1 month'
        ), 'YYYY-MM') as first
      from billing.day_in_india(billing.clock()) today`,
    );
    const month = readMonth(c.req.query('month') ?? known?.over);
    const day = `${month}-01`;
    const [[state], sections, sums, bank, problems] = await Promise.all([
      database.read<BookState>(
        `select m.closed_at, m.closed_by, s.seller_gstin, billing.book_summary($1) as summary,
          has_function_privilege('billing.close_month(date)', 'execute') as may_close
        from billing.settings s
        left join billing.book_months m on m.month = $1`,
        [day],
      ),
      readSums(day, bookSections),
      readSums(day, bookSums),
      database.read<BankLine>(
        `select b.* from billing.bank_lines b
        where b.settled_on >= $1 and b.settled_on < $1::date + interval '1 month'
        order by b.settled_on, b.settlement_id`,
        [day],
      ),
      readProblems(day, SHOWN),
    ]);
    return c.json({ month, known, state, sections, sums, bank, problems });
  });
  routes.post('/books/:month/close', async (c) => {
    const month = readMonth(c.req.param('month'));
    await database.write('select billing.close_month($1)', [`${month}-01`]);
    return c.json({ result: `${month} is closed: its return does not change any more.` });
  });
  routes.get('/books/:month/documents', async (c) => {
    const { where, title } = findSection(c.req.query('section')) ?? { where: 'true', title: 'All documents' };
    const rows = await database.read<BookPaper>(
      `select d.id, d.kind, d.document_number, d.document_date, d.buyer ->> 'name' as buyer, d.buyer ->> 'gstin' as gstin,
        d.place_of_supply, d.sign, d.currency, d.total, d.taxable, d.igst + d.cgst + d.sgst as tax, d.against,
        d.gateway_payment_id, d.issued_at, p.user_id
      from billing.book_documents d
      left join public.payments p on p.id = d.payment_id
      where d.tax_period = $1 and ${where} and ($2::timestamptz is null or (d.issued_at, d.id::text) < ($2, $3))
      order by d.issued_at desc, d.id::text desc
      limit $4`,
      [`${readMonth(c.req.param('month'))}-01`, ...readCursor(c.req.query('older'), 2), PAGE_ROWS + 1],
    );
    return c.json({ title, ...pageOf(rows, ({ issued_at, id }) => [issued_at, id]) });
  });
  routes.get('/books/:month/problems.csv', async (c) => {
    const month = readMonth(c.req.param('month'));
    const rows = (await readProblems(`${month}-01`, null)).map((row) => PROBLEM_COLUMNS.map((name) => row[name]));
    return c.body(toCsv(PROBLEM_COLUMNS, rows), 200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${month}-problems.csv"`,
    });
  });
  routes.get('/settlements/:id', async (c) => {
    const id = c.req.param('id');
    const [[line], lines] = await Promise.all([
      database.read<BankLine>('select b.* from billing.bank_lines b where b.settlement_id = $1', [id]),
      readLines(id, undefined),
    ]);
    return line ? c.json({ line, lines }) : c.json({ error: 'There is no settlement with this id.' }, 404);
  });
  routes.get('/settlements/:id/lines', async (c) => c.json(await readLines(c.req.param('id'), c.req.query('older'))));
  return routes;

  function readSums(day: string, sections: typeof bookSections) {
    const rows = sections.map(({ key, where }, place) => `(${place}, '${key}', ${where})`).join(', ');
    return database.read<BookSums>(
      `select s.key, count(*) filter (where s.is_in) as documents,
        coalesce(sum(d.sign * d.taxable) filter (where s.is_in), 0) as taxable,
        coalesce(sum(d.sign * (d.igst + d.cgst + d.sgst)) filter (where s.is_in and d.taxable is not null), 0) as tax
      from billing.book_documents d
      cross join lateral (values ${rows}) s (place, key, is_in)
      where d.tax_period = $1
      group by s.place, s.key
      order by s.place`,
      [day],
    );
  }

  function readProblems(day: string, most: number | null) {
    return database.read<BookProblem>(
      `select p.problem, p.document_number, p.detail, p.total, p.payment_id, paid.user_id, u.email
      from (
        select b.*, count(*) over (partition by b.problem) as total,
          row_number() over (partition by b.problem order by b.document_number, b.payment_id, b.detail) as place
        from billing.book_problems b
        where b.month = $1
      ) p
      left join public.payments paid on paid.id = p.payment_id
      left join billing.users u on u.user_id = paid.user_id
      where $2::bigint is null or p.place <= $2
      order by p.problem, p.place`,
      [day, most],
    );
  }

  async function readLines(id: string, older: string | undefined) {
    const rows = await database.read<BookLine>(
      `select b.type, b.entity_id, b.payment_id, b.document_number, b.amount, b.fee - b.tax as fee, b.tax, b.debit, b.credit,
        b.user_id, coalesce(b.place, 9) as place
      from ${settlementLines} b
      where b.settlement_id = $1 and ($2::integer is null or (coalesce(b.place, 9), b.entity_id) > ($2, $3))
      order by coalesce(b.place, 9), b.entity_id
      limit $4`,
      [id, ...readCursor(older, 2), PAGE_ROWS + 1],
    );
    return pageOf(rows, ({ place, entity_id }) => [place, entity_id]);
  }
}
