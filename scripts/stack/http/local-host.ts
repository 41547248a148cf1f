const NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Whether `Host`, and `Origin` if a browser sent one, name this port of this machine. A foreign `Host` may be DNS
 * rebinding, a foreign `Origin` a request forged by another page. Never throws.
 * @param names more names of this machine that the service has
 */
export function isLocalRequest(request: Request, port: number, names: string[] = []): boolean {
  const origin = request.headers.get('origin')?.toLowerCase();
  if (!isLocalHost(request.headers.get('host'), port, names)) return false;
  return origin === undefined || origin.startsWith('http://') && isLocalHost(origin.slice(7), port, names);
}

/** Whether a `Host` names this port of this machine. */
export function isLocalHost(host: string | null | undefined, port: number, names: string[] = []): boolean {
  const given = host?.toLowerCase();
  // Clients omit the default port.
  return [...NAMES, ...names].some((name) => given === `${name}:${port}` || port === 80 && given === name);
}

/** Whether a URL names this machine. */
export function isLoopback(url: string): boolean {
  return /^(127(\.\d+){3}|localhost|\[::1\])$/.test(URL.parse(url)?.hostname ?? '');
}
