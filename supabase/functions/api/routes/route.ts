import type { Answer } from '../http/answer.ts';
import type { Config } from '../config.ts';
import type { Dispatcher } from '../outbox/dispatcher.ts';
import type { ErrorName } from '../http/errors.ts';
import type { InternalAccess } from '../sessions/internal-access.ts';
import type { BodyRoute } from '../http/read-body.ts';
import type { Ports } from '../ports.ts';
import type { ReadDueOrder } from '../gateway/due-orders.ts';
import type { GatewayReads } from '../gateway/rate-limit.ts';
import type { Verifier } from '../gateway/signature.ts';

/** The input of a route. */
export type RouteContext = Ports & {
  readonly request: Request;
  /** The parameters of the path, decoded: `order_id` of `/orders/:order_id`. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The raw bytes of the body, at most 1 MiB; empty where the route needs none or the headers refuse the request. */
  readonly body: Uint8Array;
  readonly config: Config;
  /** Null: the gateway is not configured. */
  readonly verifyPaymentSignature: Verifier | null;
  /** Null: webhooks are not configured. */
  readonly verifyWebhookSignature: Verifier | null;
  readonly mayCallInternally: InternalAccess;
  /** The gateway's reads, at the rate of reconciliation; null: the gateway's API is not configured. */
  readonly gatewayReads: GatewayReads | null;
  readonly readDueOrder: ReadDueOrder;
  readonly dispatcher: Dispatcher;
  /** Dispatches the outbox in the background, after a delay. */
  readonly dispatchLater: (milliseconds?: number) => void;
  /** Runs work in the background and logs its outcome or fault. */
  readonly workLater: (work: () => Promise<Answer>) => void;
  /** Logs a fault that does not fail the request. */
  readonly logFault: (error: unknown) => void;
};

/** One endpoint. */
export type Route = BodyRoute & {
  /** The name of its description in GET /api/openapi.json. */
  readonly operation: string;
  /** The error to answer when `handle` throws: "Every other failure" in the contract. */
  readonly failure: ErrorName;
  readonly handle: (context: RouteContext) => Promise<Answer>;
};
