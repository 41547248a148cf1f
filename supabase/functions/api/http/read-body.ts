import type { MiddlewareHandler } from 'hono';
import type { Auth } from '../ports.ts';
import { errorAnswer } from './errors.ts';
import { mayBeForm } from './read-form.ts';
import { createBodyReader } from './request-body.ts';
import { type AppEnv, send } from './send.ts';
import { withDeadline } from './with-deadline.ts';

/** The fields of a route that decide whether its body is read, and for how long. */
export type BodyRoute = {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  /**
   * The body is read only from a request with a signature header, with a valid session, or with a small form. Undefined:
   * no body is needed.
   */
  readonly bodyOf?: 'gateway' | 'session' | 'form';
  /** Default 4.5 s, less than the gateway's timeout. */
  readonly deadlineMilliseconds?: number;
};

/**
 * Reads the body of a request within limits, if its route needs one and the headers alone do not refuse the request.
 * Then the route answers the refusal, in its order of checks. Any other body is skipped.
 */
export function readBody(routes: readonly BodyRoute[], auth: Auth, signatureHeader: string): MiddlewareHandler<AppEnv> {
  const bodies = createBodyReader();
  const routesWithBody = new Map(
    routes.filter(({ bodyOf }) => bodyOf).map((route) => [`${route.method} ${route.path}`, route]),
  );
  return async (c, next) => {
    const request = c.req.raw;
    if (request.body === null) return await next();
    const route = routesWithBody.get(`${c.req.method} ${c.req.path}`);
    const body = route !== undefined && await needsBody(route)
      ? await bodies.read(request)
      : await bodies.skip(request);
    if (body === null) return await next();
    if (typeof body === 'string') {
      return send(c, { ...errorAnswer(body), ...(body === 'tooManyBodies' && { headers: { 'retry-after': '1' } }) });
    }
    c.set('body', body.bytes);
    try {
      await next();
    } finally {
      body.release();
    }

    async function needsBody({ bodyOf, deadlineMilliseconds }: BodyRoute): Promise<boolean> {
      if (bodyOf === 'form') return mayBeForm(request);
      if (bodyOf === 'gateway') return Boolean(request.headers.get(signatureHeader));
      const started = performance.now();
      const session = auth.authenticate(request);
      c.set('auth', { authenticate: () => session });
      const userId = await withDeadline(session, deadlineMilliseconds).catch(() => null);
      c.set('spent', performance.now() - started);
      return userId !== null;
    }
  };
}
