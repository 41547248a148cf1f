import type { MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { isSameSecret } from '../stack/http/local-host-secret.ts';

const REFUSED = 'Open the address that the command printed as CONSOLE_URL. It works once: `npm run console` ' +
  'prints another one.\n';

const COOKIE = 'console';

/** Who may use the console. */
export type Access = {
  /** The path of the first visit, with a token that was not used. */
  readonly entryPath: string;
  /** The host name of the pages. */
  readonly host: string;
  /** The header of an admitted browser, for the console's own check of readiness. */
  readonly admitted: Record<string, string>;
  /** Answers 403 to a request without the cookie, and to a write without an origin. */
  readonly check: MiddlewareHandler;
};

/**
 * Admits the browser that opens the address with the token: it gets a cookie, and is redirected to the address without
 * the token, so that neither history nor a screenshot shows it. The token is valid once. It and the cookie are random, and
 * end with the process. Browsers send a cookie to every port of its host, where other programs listen, so that the pages
 * have a random host name that no one else knows; browsers resolve `*.localhost` to this machine.
 * `createLocalHostService` has checked `Host` and `Origin` before.
 */
export function createAccess(): Access {
  let token = randomSecret();
  const used = new Set<string>();
  const session = randomSecret();
  const host = `console-${randomSecret().slice(0, 16)}.localhost`;
  return {
    host,
    get entryPath() {
      return `/?token=${token}`;
    },
    admitted: { cookie: `${COOKIE}=${session}` },
    async check(c, next) {
      const isAdmitted = await isSameSecret(getCookie(c, COOKIE) ?? '', session);
      const given = c.req.method === 'GET' ? c.req.query('token') : undefined;
      if (given !== undefined) {
        const expected = token;
        const url = new URL(c.req.url);
        // Of two requests at once the second one finds another token.
        const isValid = await isSameSecret(given, expected) && token === expected;
        // A used token leads to the pages, too: an admitted browser may open the printed address again.
        if (url.hostname !== host && (isValid || used.has(given))) {
          return c.redirect(Object.assign(url, { hostname: host, pathname: '/' }).href, 303);
        }
        if (!isAdmitted && !isValid) return c.text(REFUSED, 403);
        if (isValid) {
          used.add(token);
          token = randomSecret();
        }
        setCookie(c, COOKIE, session, { httpOnly: true, sameSite: 'Strict', path: '/' });
        return c.redirect('/', 303);
      }
      if (!isAdmitted) return c.text(REFUSED, 403);
      const { method } = c.req;
      const isRead = method === 'GET' || method === 'HEAD';
      // A browser names the page that sends the request.
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
