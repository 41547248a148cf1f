const NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Whether `Host`, and `Origin` if a browser sent one, name this port of this machine. A foreign `Host` may be DNS
 * rebinding, a foreign `Origin` a request forged by another page. Never throws.
 */
export function isLocalRequest(request: Request, port: number): boolean {
  const hosts = NAMES.map((name) => `${name}:${port}`);
  // Clients omit the default port.
  if (port === 80) hosts.push(...NAMES);
  const host = request.headers.get('host')?.toLowerCase();
  const origin = request.headers.get('origin');
  if (host === undefined || !hosts.includes(host)) return false;
  return origin === null || hosts.some((local) => origin.toLowerCase() === `http://${local}`);
}
