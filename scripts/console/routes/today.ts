import { Hono } from 'hono';
import type { SupportDatabase } from '../database.ts';
import { PAGE_ROWS } from '../paging.ts';
import type { Finding, ServiceState } from '../rows.ts';

/** `GET /today`: what needs a person, and whether the service works. `GET /clock`: the time and the time zone of all pages. */
export function todayRoutes(database: SupportDatabase): Hono {
  const routes = new Hono();
  routes.get('/today', async (c) => {
    const [findings, [state]] = await Promise.all([
      database.read<Finding>(
        `select finding, subject, user_id, email, since, detail, remedy
        from billing.findings
        order by since nulls first, finding, subject
        limit $1`,
        [PAGE_ROWS + 1],
      ),
      database.read<ServiceState>('select * from billing.service_state'),
    ]);
    return c.json({ findings: findings.slice(0, PAGE_ROWS), hasMore: findings.length > PAGE_ROWS, state });
  });
  routes.get('/clock', async (c) => {
    const [clock] = await database.read('select billing.clock() as now, billing.time_zone() as zone');
    return c.json(clock);
  });
  return routes;
}
