import type { Answer } from './answer.ts';
import type { Config } from './config.ts';
import type { ErrorName } from './errors.ts';
import type { Ports } from './ports.ts';
import type { Verifier } from './signature.ts';

/** What a route gets to work with. */
export type RouteContext = Ports & {
  readonly request: Request;
  /** The raw bytes of the body, at most 1 MiB. */
  readonly body: BufferSource;
  readonly config: Config;
  /** Null: the gateway is not configured. */
  readonly verifyPaymentSignature: Verifier | null;
  /** Null: webhooks are not configured. */
  readonly verifyWebhookSignature: Verifier | null;
};

/** One endpoint. */
export type Route = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** The error to answer when `handle` throws. SPEC 7's "unexpected failure". */
  readonly failure: ErrorName;
  readonly handle: (context: RouteContext) => Promise<Answer>;
};
