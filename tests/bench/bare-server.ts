/**
 * A minimal read: no check of the session, no limits, no log, no CORS headers, no timeouts. This is the best that any
 * handler over a pool can reach. It exists only for the comparison; never use it.
 */
import pg from 'pg';
import { writeLine } from '../../scripts/stack/process/child.ts';

const pool = new pg.Pool({ connectionString: Deno.env.get('DATABASE_POOL_URL') ?? '', max: 8 });

Deno.serve({
  hostname: '127.0.0.1',
  port: 0,
  onListen: ({ port }) => writeLine(JSON.stringify({ event: 'listening', port })),
}, async ({ headers }) => {
  const { sub } = JSON.parse(atob(headers.get('authorization')?.split('.')[1] ?? ''));
  const { rows } = await pool.query('select public.get_subscription($1) as result', [sub]);
  return Response.json(rows[0]?.result);
});
