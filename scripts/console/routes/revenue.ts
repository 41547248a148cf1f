import { Hono } from 'hono';
import { toCsv } from '../csv.ts';
import type { SupportDatabase } from '../database.ts';
import { type FigureLine, figureQuery } from '../figures.ts';
import { PAGE_ROWS, pageOf, readCursor } from '../paging.ts';
import type { ActiveMonth, RevenueMonth } from '../revenue-rows.ts';
import type { ServiceState } from '../rows.ts';
import { readMonth } from './book-month.ts';

const COLUMNS = [
  'month',
  'currency',
  'gross',
  'refunded',
  'net',
  'mrr',
  'new_customers',
  'renewed_customers',
  'lapsed_customers',
  'active_customers',
  'churn_percent',
] as const;

/** The revenue of twelve months, as JSON for the plots, as CSV for a spreadsheet, and what each figure is made of. */
export function revenueRoutes(database: SupportDatabase): Hono {
  const routes = new Hono();
  routes.get('/revenue', async (c) => {
    const [revenue, active, [state]] = await Promise.all([
      readRevenue(),
      database.read<ActiveMonth>(
        'select month, tier, active_customers from billing.active_monthly order by month, tier',
      ),
      database.read<Pick<ServiceState, 'revenue_as_of'>>('select revenue_as_of from billing.service_state'),
    ]);
    return c.json({ revenue, active, asOf: state?.revenue_as_of ?? null });
  });
  routes.get('/revenue.csv', async (c) => {
    const currency = c.req.query('currency') ?? '';
    const shown = (await readRevenue()).filter((row) => row.currency === currency);
    const values = shown.map((row) => COLUMNS.map((name) => name === 'month' ? row.month.slice(0, 7) : row[name]));
    return c.body(toCsv(COLUMNS, values), 200, {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="revenue.csv"',
    });
  });
  routes.get('/revenue/:month/lines', async (c) => {
    const query = figureQuery(c.req.query('of') ?? '', readMonth(c.req.param('month')));
    if (query === undefined) return c.json({ error: 'There is no such figure.' }, 404);
    const currency = c.req.query('currency') ?? '';
    const older = c.req.query('older');
    const [rows, [sums]] = await Promise.all([
      database.read<FigureLine>(
        `select * from (${query}) l
        where $2::timestamptz is null or (l.at, coalesce(l.reference, l.user_id::text)) < ($2::text, $3)
        order by l.at desc, coalesce(l.reference, l.user_id::text) desc
        limit $4`,
        [currency, ...readCursor(older, 2), PAGE_ROWS + 1],
      ),
      older ? [] : database.read<{ lines: number; amount: number }>(
        `select count(*) as lines, coalesce(sum(l.amount), 0) as amount from (${query}) l`,
        [currency],
      ),
    ]);
    return c.json({ ...pageOf(rows, ({ at, reference, user_id }) => [at, reference ?? user_id ?? '']), sums });
  });
  return routes;

  function readRevenue() {
    return database.read<RevenueMonth>(
      `select ${COLUMNS.join(', ')}
      from (select m.*, max(m.month) over () as newest from billing.revenue_monthly m) m
      where month > newest - interval '12 months'
      order by month, currency`,
    );
  }
}
