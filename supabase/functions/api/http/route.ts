import type { Answer } from './answer.ts';
import type { Config } from '../config.ts';
import type { Dispatcher } from '../outbox/dispatcher.ts';
import type { ErrorName } from './errors.ts';
import type { InternalAccess } from '../sessions/internal-access.ts';
import type { Ports } from '../ports.ts';
import type { Verifier } from '../gateway/signature.ts';

/** What a route gets to work with. */
export type RouteContext = Ports & {
  readonly request: Request;
  /** The raw bytes of the body, at most 1 MiB; empty where the route needs none or the headers refuse the request. */
  readonly body: Uint8Array;
  readonly config: Config;
  /** Null: the gateway is not configured. */
  readonly verifyPaymentSignature: Verifier | null;
  /** Null: webhooks are not configured. */
  readonly verifyWebhookSignature: Verifier | null;
  readonly mayCallInternally: InternalAccess;
  readonly dispatcher: Dispatcher;
  /** Delivers what is due once the answer is out, so many milliseconds later. */
  readonly dispatchLater: (milliseconds?: number) => void;
  /** Works on after the answer, and logs the work's outcome or fault. */
  readonly workLater: (work: () => Promise<Answer>) => void;
  /** Logs a fault that does not fail the request. */
  readonly logFault: (error: unknown) => void;
};

/** One endpoint. */
export type Route = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Whose body is read: of a request with the gateway's signature, or with a valid session. Without it none is read. */
  readonly bodyOf?: 'gateway' | 'session';
  /** The error to answer when `handle` throws. SPEC 7's "unexpected failure". */
  readonly failure: ErrorName;
  /** How long a caller may wait; default 4.5 s, less than the gateway does. */
  readonly deadlineMilliseconds?: number;
  readonly handle: (context: RouteContext) => Promise<Answer>;
};
