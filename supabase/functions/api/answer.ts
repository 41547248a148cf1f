import type { StatusCode } from 'hono/utils/http-status';

/** What a route answers: status, JSON body and, for the log, a word on what happened. */
export type Answer = {
  readonly status: StatusCode;
  readonly body: unknown;
  readonly outcome: string;
  readonly headers?: Readonly<Record<string, string>>;
};
