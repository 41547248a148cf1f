import { Socket } from 'node:net';
import pg from 'pg';

/** A connection to Postgres that can be closed at any time, also while it is being established. */
export type Connection = {
  readonly client: pg.Client;
  /** Closes the connection cleanly; without an answer closes the socket after a second. */
  end(): Promise<void>;
  /** Closes the socket at once. */
  cut(): void;
};

const endMilliseconds = 1000;

/** Creates a connection; `client.connect()` establishes it. @param ssl undefined: the URL decides */
export function createConnection(url: string, ssl?: pg.ClientConfig['ssl']): Connection {
  const socket = new Socket();
  const client = new pg.Client({ connectionString: url, stream: () => socket, ...(ssl !== undefined && { ssl }) });
  // The running statement rejects. Without a listener the error event would crash the process.
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

/** Why connecting failed: a code of Postgres or of the system, without the message, which may quote the URL. */
export function connectionError(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === '28P01' || code === '28000') return `the login is refused (${code})`;
  return typeof code === 'string' ? code : 'no connection';
}

/** Whether a URL names this machine. */
export function isLoopback(url: string): boolean {
  return /^(127(\.\d+){3}|localhost|\[::1\])$/.test(URL.parse(url)?.hostname ?? '');
}

/** A certificate (PEM), whose line breaks may be written as `\n`, as in the function's `config.ts`. */
export function readCertificate(value: string | undefined): string | null {
  return value ? value.replaceAll('\\n', '\n') : null;
}

/** TLS for another machine, verified if the CA certificate is known. `sslmode` in the URL overrides this. */
export function tlsOptions(url: string, certificate: string | undefined): pg.ClientConfig['ssl'] {
  if (isLoopback(url)) return undefined;
  const authority = readCertificate(certificate);
  return authority === null ? { rejectUnauthorized: false } : { ca: authority };
}
