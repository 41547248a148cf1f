import { Socket } from 'node:net';
import pg from 'pg';
import { isPoolWithoutCa } from '../../supabase/functions/api/database/transport.ts';

/** A connection to Postgres that can be closed at any time, also while it is being established. */
export type Connection = {
  readonly client: pg.Client;
  /** Closes the connection cleanly; without an answer closes the socket after a second. */
  end(): Promise<void>;
  /** Closes the socket at once. */
  cut(): void;
};

const endMilliseconds = 1000;

/** Creates a connection; `client.connect()` establishes it. */
export function createConnection(config: pg.ClientConfig): Connection {
  const socket = new Socket();
  const client = new pg.Client({ ...config, stream: () => socket });
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
  if (error instanceof Unverified) return "its server can't be verified";
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === '28P01' || code === '28000') return `the login is refused (${code})`;
  return typeof code === 'string' ? code : 'no connection';
}

/** A certificate (PEM), whose line breaks may be written as `\n`, as in the function's `config.ts`. */
export function readCertificate(value: string | undefined): string | null {
  return value ? value.replaceAll('\\n', '\n') : null;
}

/** How the server of a database on another machine is verified. */
export type Verification = {
  /** The CA of the database (PEM), if it is known. */
  readonly certificate?: string | undefined;
  /** Whether to connect without it: then any server on the way can read the password. */
  readonly withoutCa?: boolean;
};

/** What to do about a server that can't be verified. */
export const howToVerify =
  'Set DATABASE_POOL_CA="$(cat prod-ca-2021.crt)", the certificate that the dashboard offers ' +
  'under database settings. With --without-ca any server on the way can read the password.';

/** Where the URL of the database is. */
export const howToConnect =
  'Take DATABASE_URL from the "Connect" dialog of the project, with the password of `postgres`.';

/** Whether a connection would trust any server. @throws TypeError for an invalid URL */
export function isUnverified(url: string, { certificate, withoutCa = false }: Verification): boolean {
  return !withoutCa && isPoolWithoutCa({ databasePoolUrl: url, databasePoolCa: readCertificate(certificate) });
}

/**
 * How to connect: to another machine over TLS. Without a CA `sslmode` in the URL overrides this.
 * @throws Unverified for a server that can't be verified, so that no password is sent to it
 */
export function connectionConfig(url: string, verification: Verification): pg.ClientConfig {
  if (isUnverified(url, verification)) throw new Unverified();
  if (!isPoolWithoutCa({ databasePoolUrl: url, databasePoolCa: null })) return { connectionString: url };
  const ca = readCertificate(verification.certificate);
  return ca === null ? { connectionString: url, ssl: { rejectUnauthorized: false } } : verifiedConfig(url, ca);
}

/** Over TLS, verified with a CA. TLS settings in the URL have no effect. */
export function verifiedConfig(url: string, ca: string): pg.ClientConfig {
  const verified = new URL(url);
  for (const name of [...verified.searchParams.keys()]) if (name.startsWith('ssl')) verified.searchParams.delete(name);
  return { connectionString: verified.href, ssl: { ca } };
}

/** The server of a database can't be verified. */
export class Unverified extends Error {
  override readonly name = 'Unverified';

  constructor() {
    super(`The server of the database can't be verified. ${howToVerify}`);
  }
}
