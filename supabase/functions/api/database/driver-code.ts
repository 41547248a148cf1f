/** Codes for errors of the driver and the runtimes that have none, by the start of their message. */
const codesByMessage: readonly [start: string, code: string][] = [
  ['The server does not support SSL connections', 'TLS_REFUSED'],
  ['timeout exceeded when trying to connect', 'CONNECT_TIMEOUT'],
  ['Connection terminated due to connection timeout', 'CONNECT_TIMEOUT'],
  ['Connection terminated', 'CONNECTION_CLOSED'],
];

/**
 * Why a call over Postgres failed, as a code: the server's SQLSTATE, a code of the system or of TLS (`ECONNREFUSED`,
 * `UNABLE_TO_VERIFY_LEAF_SIGNATURE`), or a code defined here. Never the message: it may quote addresses, user names and
 * data.
 */
export function driverCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'TimeoutError') return 'CALL_TIMEOUT';
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'string') return code;
  // The hosted runtime's TLS: `invalid peer certificate: UnknownIssuer`.
  const [, reason] = /^invalid peer certificate(?:: ([A-Z][A-Za-z]{2,39})$)?/.exec(error.message) ?? [undefined, null];
  if (reason !== null) return `CERTIFICATE_${reason?.replace(/(?!^)[A-Z]/g, '_$&').toUpperCase() ?? 'INVALID'}`;
  return codesByMessage.find(([start]) => error.message.startsWith(start))?.[1];
}
