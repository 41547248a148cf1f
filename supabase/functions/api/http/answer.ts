import type { StatusCode } from 'hono/utils/http-status';

/** A route's answer. `outcome` is for the log. */
export type Answer = {
  readonly status: StatusCode;
  readonly outcome: string;
  readonly headers?: Readonly<Record<string, string>>;
} & (ValueBody | JsonBody | BytesBody);

/** Sent as JSON; undefined: no body. */
type ValueBody = { readonly body: unknown; readonly json?: undefined; readonly bytes?: undefined };

/** JSON text from the database, sent unchanged. */
type JsonBody = { readonly json: string; readonly body?: undefined; readonly bytes?: undefined };

/** A file; `headers` have its type. */
type BytesBody = { readonly bytes: Uint8Array; readonly body?: undefined; readonly json?: undefined };
