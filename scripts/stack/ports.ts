/** What the stack's ports are for, in order from the base port. */
export const portNames = [
  'API',
  'Postgres',
  'Studio',
  'mailbox',
  'gateway simulator',
  'function',
  'demo shop',
  'console',
] as const;

/** @returns one line for each of the stack's ports that another program uses. */
export function takenPorts(base: number): string[] {
  return portNames.flatMap((name, index) =>
    isFree(base + index) ? [] : [`port ${base + index} (${name}) is taken by another program`]
  );
}

// Below the ports that systems pick for connections and for port 0, and apart for each process: the port is still free when
// its server starts.
const portsOfProcess = 100;
const firstOfProcess = 10_000 + Deno.pid % 220 * portsOfProcess;
let offset = 0;

/** @returns the first of `count` ports in a row that are free now and that this process did not get lately. */
export function freePort(count = 1): number {
  for (;;) {
    if (offset + count > portsOfProcess) offset = 0;
    const port = firstOfProcess + offset;
    offset += count;
    if (Array.from({ length: count }, (_, index) => port + index).every(isFree)) return port;
  }
}

function isFree(port: number): boolean {
  try {
    Deno.listen({ hostname: '127.0.0.1', port }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return false;
    throw error;
  }
}
