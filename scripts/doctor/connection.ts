import { Socket } from 'node:net';
import pg from 'pg';

/** One connection to Postgres that can always be ended, also while it is being made. */
export type Connection = {
  readonly client: pg.Client;
  /** Ends it in order; cuts it after a second without an answer. */
  end(): Promise<void>;
  /** At once. */
  cut(): void;
};

/** How long the server may take to end it. */
const endMilliseconds = 1000;

/** Prepares a connection; `client.connect()` makes it. @param ssl undefined: as the address says */
export function createConnection(url: string, ssl?: pg.ClientConfig['ssl']): Connection {
  const socket = new Socket();
  const client = new pg.Client({ connectionString: url, stream: () => socket, ...(ssl !== undefined && { ssl }) });
  // The statement that waits rejects; an error event without a listener would end the process.
  client.on('error', () => {});
  socket.on('error', () => {});
  return {
    client,
    async end() {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => timer = setTimeout(resolve, endMilliseconds));
      if (!socket.destroyed) await Promise.race([client.end().catch(() => {}), late]);
      clearTimeout(timer);
      socket.destroy();
    },
    cut: () => void socket.destroy(),
  };
}

/** Why a connection was not made: the code of Postgres or of the system; a message may quote the address. */
export function connectionError(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === '28P01' || code === '28000') return `the login is refused (${code})`;
  return typeof code === 'string' ? code : 'no connection';
}

/** Whether an address is one of this machine. */
export function isLoopback(url: string): boolean {
  return /^(127(\.\d+){3}|localhost|\[::1\])$/.test(URL.parse(url)?.hostname ?? '');
}

/** PEM; its lines may have been written as `\n`, as the function takes it. */
export function readCertificate(value: string | undefined): string | null {
  return value ? value.replaceAll('\\n', '\n') : null;
}
