/** The URL of a database of a server on this machine, as `postgres`. */
export function databaseUrlAt(port: number, password: string, database = 'postgres'): string {
  return `postgresql://postgres:${password}@127.0.0.1:${port}/${database}`;
}

/** The same database as another role. Every role of a local server that logs in has the password of `postgres`. */
export function asRole(databaseUrl: string, role: string): string {
  const url = new URL(databaseUrl);
  url.username = role;
  return url.href;
}

/** The URL and its password apart. A program gets the password as PGPASSWORD: other users can read its arguments. */
export function splitPassword(databaseUrl: string): { url: string; password: string } {
  const url = new URL(databaseUrl);
  const password = decodeURIComponent(url.password);
  url.password = '';
  return { url: url.href, password };
}
