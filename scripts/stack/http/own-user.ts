/**
 * Whether this user, or root, opened a connection of this machine. Linux lists the owner of each socket. Other systems do
 * not, and every user of the machine passes there.
 * @param peerPort the port of the other end
 * @param port the port that it connected to
 */
export async function isOwnUser(peerPort: number | undefined, port: number): Promise<boolean> {
  const files = Deno.build.os === 'linux' ? ['/proc/net/tcp', '/proc/net/tcp6'] : [];
  const tables = (await Promise.all(files.map((file) => Deno.readTextFile(file).catch(() => '')))).join('');
  if (tables === '' || peerPort === undefined) return tables === '';
  // State 01, open: a socket that its process has closed is listed as root's.
  const owner = new RegExp(`:${hex(peerPort)} [0-9A-F]+:${hex(port)} 01 \\S+ \\S+ \\S+ +(\\d+)`).exec(tables)?.[1];
  return owner !== undefined && (Number(owner) === Deno.uid() || Number(owner) === 0);
}

const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');
