import type { MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { isSameSecret } from '../stack/http/local-host-secret.ts';

const REFUSED = 'Open the address that the command printed as CONSOLE_URL. It holds the key to this console.\n';

/** Who may use the console. */
export type Access = {
  /** The path of the first visit, with the token. */
  readonly entryPath: string;
  /** The header of an admitted browser, for the console's own check of readiness. */
  readonly admitted: Record<string, string>;
  /** Answers 403 to a request without the cookie, and to a write without an origin. */
  readonly check: MiddlewareHandler;
};

/**
 * Admits the browser that opens the address with the token: it gets a cookie, and is redirected to the address without
 * the token, so that neither history nor a screenshot shows it. Token and cookie are random, and end with the process.
 * `createLocalHostService` has checked `Host` and `Origin` before.
 */
export function createAccess(): Access {
  const token = randomSecret();
  const session = randomSecret();
  // Browsers send a cookie to every port of a host, so a second console needs another name.
  const name = `console_${randomSecret().slice(0, 8)}`;
  return {
    entryPath: `/?token=${token}`,
    admitted: { cookie: `${name}=${session}` },
    async check(c, next) {
      const given = c.req.method === 'GET' ? c.req.query('token') : undefined;
      if (given !== undefined) {
        if (!await isSameSecret(given, token)) return c.text(REFUSED, 403);
        setCookie(c, name, session, { httpOnly: true, sameSite: 'Strict', path: '/' });
        return c.redirect(c.req.path, 303);
      }
      if (!await isSameSecret(getCookie(c, name) ?? '', session)) return c.text(REFUSED, 403);
      const { method } = c.req;
      const isRead = method === 'GET' || method === 'HEAD';
      // The cookie is valid for every port of this machine. A browser names the page that sends the request.
      const site = c.req.header('sec-fetch-site') ?? 'same-origin';
      const isForeign = site !== 'same-origin' && !(site === 'none' && isRead);
      if (isForeign && c.req.header('sec-fetch-mode') !== 'navigate') return c.text(REFUSED, 403);
      if (!isRead && (isForeign || c.req.header('origin') === undefined)) return c.text(REFUSED, 403);
      await next();
    },
  };
}

function randomSecret(): string {
  return crypto.getRandomValues(new Uint8Array(24)).toHex();
}
