import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import type { Log } from './log.ts';

/** What a request leaves for its log line. */
export type LogVariables = { requestId: string; outcome: string; route: string };

/** Gives each request an id, and writes one line when the answer is known. */
export function requestLog(log: Log) {
  return createMiddleware<{ Variables: LogVariables }>(async (c, next) => {
    const started = performance.now();
    const requestId = crypto.randomUUID();
    c.set('requestId', requestId);
    await next();
    log({
      level: c.res.status >= 500 ? 'error' : 'info',
      event: 'request',
      request_id: requestId,
      method: c.req.method,
      // The path as written in the route table: what a caller puts into a path is not ours to log.
      route: c.get('route') ?? routePath(c, -1),
      status: c.res.status,
      milliseconds: Math.round(performance.now() - started),
      outcome: c.get('outcome') ?? 'preflight',
    });
  });
}
