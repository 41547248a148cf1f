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

/** @returns a port that is free now. */
export function freePort(): number {
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
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
