import type { Context } from 'hono';
import type { Auth } from '../ports.ts';
import type { Answer } from './answer.ts';
import type { LogVariables } from './request-log.ts';

/** What is known of a request while it is handled. */
export type AppEnv = {
  Variables: LogVariables & {
    body?: Uint8Array;
    /** The session, if it was checked before the body was read. */
    auth?: Auth;
    /** Milliseconds of the route's deadline that checking the session took. */
    spent?: number;
  };
};

/** Sets all headers in one place: Hono copies the Response for each header that is set later. */
export function send(c: Context<AppEnv>, { status, body, json, bytes, outcome, headers }: Answer): Response {
  const text = json ?? (body === undefined ? null : JSON.stringify(body));
  c.set('outcome', outcome);
  return new Response(bytes ? new Uint8Array(bytes) : text, {
    status,
    headers: {
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'x-request-id,retry-after',
      'x-request-id': c.get('requestId'),
      'cache-control': 'private, no-store',
      ...(text !== null && { 'content-type': 'application/json; charset=utf-8' }),
      ...headers,
    },
  });
}
