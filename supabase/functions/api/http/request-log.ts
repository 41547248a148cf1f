import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import type { Log } from './log.ts';

/** What a request's log line needs. `level`: where the status does not say it. */
export type LogVariables = { requestId: string; outcome: string; route: string; level?: string };

/** Gives each request an id and logs one line when it is answered. */
export function requestLog(log: Log) {
  return createMiddleware<{ Variables: LogVariables }>(async (c, next) => {
    const started = performance.now();
    const requestId = crypto.randomUUID();
    c.set('requestId', requestId);
    await next();
    log({
      level: c.get('level') ?? (c.res.status >= 500 ? 'error' : 'info'),
      event: 'request',
      request_id: requestId,
      method: c.req.method,
      // The path of the route table: the caller's path may contain secrets.
      route: c.get('route') ?? routePath(c, -1),
      status: c.res.status,
      milliseconds: Math.round(performance.now() - started),
      outcome: c.get('outcome') ?? 'preflight',
    });
  });
}
