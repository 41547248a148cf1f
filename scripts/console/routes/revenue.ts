import { Hono } from 'hono';
import { toCsv } from '../csv.ts';
import type { SupportDatabase } from '../database.ts';
import type { ActiveMonth, RevenueMonth, ServiceState } from '../rows.ts';

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

/** The revenue of twelve months, as JSON for the plots, and as CSV for a spreadsheet. */
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
