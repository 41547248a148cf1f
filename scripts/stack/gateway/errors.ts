import { z } from 'zod';

/** The script is below `/v1`, but at the real gateway it comes from another host than the API. */
export const CHECKOUT_SCRIPT = '/v1/checkout.js';

type Details = { status?: number; field?: string; reason?: string; step?: string; source?: string };

/** An error answer in the gateway's format; default status 400, which the gateway also uses for an unknown id. */
export function gatewayError(description: string, details: Details = {}): Response {
  const { status = 400, field = null, source = 'business', step = 'NA', reason = 'input_validation_failed' } = details;
  const code = status >= 500 ? 'SERVER_ERROR' : 'BAD_REQUEST_ERROR';
  return Response.json({ error: { code, description, field, source, step, reason, metadata: {} } }, { status });
}

export function unknownId(field?: string): Response {
  return gatewayError('The id provided does not exist', { field });
}

export function unknownUrl(): Response {
  return gatewayError('The requested URL was not found on the server.', { status: 404, reason: 'NA' });
}

const common = {
  /**
   * The calls that fail, by method and path; default: the whole API, without the script of the checkout. `:id` in a path
   * matches any id; a path that ends with `/` matches all paths below it.
   */
  method: z.enum(['GET', 'POST', 'PATCH']).optional(),
  path: z.string().startsWith('/v1/').refine(isPattern, 'The only placeholder is :id.').optional(),
  /** How many calls fail; default: all until the fault is removed. */
  times: z.int().min(1).optional(),
  /** The call takes effect and only its answer is lost. */
  applied: z.boolean().default(false),
};

/**
 * The body of `POST /simulate/fault`: an outage of the API. `close` closes the connection without an answer.
 * `retry_after`: seconds, sent as the header `retry-after`.
 */
export const faultRequest = z.discriminatedUnion('mode', [
  z.strictObject({
    ...common,
    mode: z.literal('status'),
    status: z.int().min(400).max(599),
    retry_after: z.int().min(0).optional(),
  }),
  z.strictObject({ ...common, mode: z.literal('hang') }),
  z.strictObject({ ...common, mode: z.literal('close') }),
  z.strictObject({ ...common, mode: z.literal('garbage') }),
]);

export type Fault = z.infer<typeof faultRequest>;

export type GatewayFaults = {
  /** Replaces a fault of the same method and path. */
  set(fault: Fault): void;
  lift(): void;
  /** The active faults, with the number of calls that will still fail. */
  current(): Fault[];
  /** Answers a call: by its work, or by the active fault. `Response.error()` means a closed connection. */
  apply(request: Request, work: () => Response | Promise<Response>): Promise<Response>;
  /** Sends the held answers. */
  release(): void;
};

/** Makes the next calls of the API fail on demand. */
export function createGatewayFaults(): GatewayFaults {
  let faults: Fault[] = [];
  const held = new Set<() => void>();

  const take = ({ method, url }: Request) => {
    const { pathname } = new URL(url);
    const isHit = ({ path }: Fault) => path === undefined ? pathname !== CHECKOUT_SCRIPT : matches(path, pathname);
    const fault = faults.find((one) => (one.method ?? method) === method && isHit(one));
    if (fault?.times === undefined) return fault;
    const left = { ...fault, times: fault.times - 1 };
    faults = faults.flatMap((one) => one !== fault ? [one] : left.times > 0 ? [left] : []);
    return fault;
  };
  const release = () => {
    held.forEach((end) => end());
    held.clear();
  };

  return {
    set(fault) {
      const others = faults.filter(({ method, path }) => method !== fault.method || path !== fault.path);
      faults = [...others, fault];
    },
    lift() {
      faults = [];
      release();
    },
    current: () => faults,
    async apply(request, work) {
      const fault = take(request);
      if (fault === undefined) return await work();
      if (fault.applied) await work();
      switch (fault.mode) {
        case 'status':
          return refusal(fault.status, fault.retry_after);
        case 'hang':
          await new Promise<void>((resolve) => void held.add(resolve));
          return gatewayError('Simulated hang, ended.', { status: 503, source: 'internal', reason: 'server_error' });
        case 'close':
          return Response.error();
        case 'garbage':
          return new Response('<!doctype html>not { JSON', { headers: { 'content-type': 'application/json' } });
      }
    },
    release,
  };
}

function isPattern(path: string): boolean {
  return path.split('/').every((part) => !part.startsWith(':') || part === ':id');
}

function matches(pattern: string, pathname: string): boolean {
  const isBranch = pattern.endsWith('/');
  const parts = (isBranch ? pattern.slice(0, -1) : pattern).split('/');
  const given = pathname.split('/');
  if (isBranch ? given.length <= parts.length : given.length !== parts.length) return false;
  return parts.every((part, i) => part === ':id' || part === given[i]);
}

function refusal(status: number, retryAfter: number | undefined): Response {
  const outage = { source: 'internal', reason: 'server_error' };
  const details = status >= 500 ? outage : { reason: status === 429 ? 'rate_limit_exceeded' : 'NA' };
  const description = status === 429 ? 'Request failed. Please try after sometime.' : `Simulated ${status}.`;
  const response = gatewayError(description, { status, ...details });
  if (retryAfter !== undefined) response.headers.set('retry-after', `${retryAfter}`);
  return response;
}
