import type { StatusCode } from 'hono/utils/http-status';

/** What a route answers: status, body and, for the log, a word on what happened. */
export type Answer = {
  readonly status: StatusCode;
  readonly outcome: string;
  readonly headers?: Readonly<Record<string, string>>;
} & (AnyBody | JsonBody);

/** Sent as JSON; undefined: nothing is sent. */
type AnyBody = { readonly body: unknown; readonly json?: undefined };

/** Sent as it is: JSON that the database wrote to be sent. */
type JsonBody = { readonly json: string; readonly body?: undefined };
