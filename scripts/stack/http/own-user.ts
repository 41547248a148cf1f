/**
 * Whether this user, or root, opened a connection of this machine. Linux lists the owner of each socket. Other systems do
 * not, and every user of the machine passes there.
 * @param peerPort the port of the other end
 * @param port the port that it connected to
 */
export async function isOwnUser(peerPort: number | undefined, port: number): Promise<boolean> {
  if (Deno.build.os !== 'linux') return true;
  // State 01, open: a socket that its process has closed is listed as root's.
  const row = new RegExp(`:${hex(peerPort ?? 0)} [0-9A-F]+:${hex(port)} 01 \\S+ \\S+ \\S+ +(\\d+)`);
  let isListed = false;
  // To write a list takes Linux milliseconds; nearly each connection to 127.0.0.1 is in the first.
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const table = await Deno.readTextFile(file).catch(() => '');
    const owner = row.exec(table)?.[1];
    if (owner !== undefined) return Number(owner) === Deno.uid() || Number(owner) === 0;
    isListed ||= table !== '';
  }
  return !isListed;
}

const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');
