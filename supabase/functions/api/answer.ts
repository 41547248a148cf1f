import type { StatusCode } from 'hono/utils/http-status';

/** What a route answers: status, body and, for the log, a word on what happened. */
export type Answer = {
  readonly status: StatusCode;
  /** Sent as JSON; undefined: nothing is sent. */
  readonly body?: unknown;
  /** Sent as it is, in the place of a body: JSON that the database wrote to be sent. */
  readonly json?: string;
  readonly outcome: string;
  readonly headers?: Readonly<Record<string, string>>;
};
