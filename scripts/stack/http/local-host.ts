const NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Tells whether a request was meant for this very port of this machine: `Host` must name it, and so must `Origin` where a
 * browser sent one. A foreign `Host` is how DNS rebinding looks, a foreign `Origin` how a request forged by another page
 * looks. Never throws.
 */
export function isLocalRequest(request: Request, port: number): boolean {
  const hosts = NAMES.map((name) => `${name}:${port}`);
  // Clients leave the default port out.
  if (port === 80) hosts.push(...NAMES);
  const host = request.headers.get('host')?.toLowerCase();
  const origin = request.headers.get('origin');
  if (host === undefined || !hosts.includes(host)) return false;
  return origin === null || hosts.some((local) => origin.toLowerCase() === `http://${local}`);
}
