import { z } from 'zod';
import { gatewayError } from './error.ts';

const common = {
  /**
   * Which calls meet it: of this method and path; all of `/v1` without them. In a path `:id` stands for any id, and a path
   * that ends with `/` for all beneath it.
   */
  method: z.enum(['GET', 'POST']).optional(),
  path: z.string().startsWith('/v1/').refine(isPattern, 'The only placeholder is :id.').optional(),
  /** How many calls meet it; without it, all until it is lifted. */
  times: z.int().min(1).optional(),
  /** The work is done first and only the answer is lost. */
  applied: z.boolean().default(false),
};

/**
 * The body of `POST /simulate/fault`: an outage of the API. `close` ends the connection without an answer. `retry_after` is
 * in seconds and sent as the `retry-after` header.
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
  /** Takes the place of a fault of the same method and path. */
  set(fault: Fault): void;
  lift(): void;
  /** The faults in effect, with the number of calls they are still to meet. */
  current(): Fault[];
  /** Does the work of a call, or what the fault makes of it; a network error stands for a closed connection. */
  apply(request: Request, work: () => Response | Promise<Response>): Promise<Response>;
  /** Ends the answers that are being held back. */
  release(): void;
};

/** Makes the next calls of the API fail on demand. */
export function createGatewayFaults(): GatewayFaults {
  let faults: Fault[] = [];
  const held = new Set<() => void>();

  const take = ({ method, url }: Request) => {
    const { pathname } = new URL(url);
    const fault = faults.find((one) => (one.method ?? method) === method && matches(one.path ?? '/v1/', pathname));
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
  const met = pathname.split('/');
  if (isBranch ? met.length <= parts.length : met.length !== parts.length) return false;
  return parts.every((part, i) => part === ':id' || part === met[i]);
}

function refusal(status: number, retryAfter: number | undefined): Response {
  const outage = { source: 'internal', reason: 'server_error' };
  const details = status >= 500 ? outage : { reason: status === 429 ? 'rate_limit_exceeded' : 'NA' };
  const description = status === 429 ? 'Request failed. Please try after sometime.' : `Simulated ${status}.`;
  const response = gatewayError(description, { status, ...details });
  if (retryAfter !== undefined) response.headers.set('retry-after', `${retryAfter}`);
  return response;
}
