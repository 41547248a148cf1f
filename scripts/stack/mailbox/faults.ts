import { z } from 'zod';
import { mailError } from './error.ts';

const target = z.enum(['emails', 'revalidate', 'events']).default('emails');
const common = {
  target,
  /** How many requests fail; default: all until the fault is removed. */
  times: z.int().min(1).optional(),
  /** The request takes effect and only its answer is lost. */
  applied: z.boolean().default(false),
};

/** The body of `POST /simulate/fault`. `retry_after`: seconds, sent as the header `retry-after`. */
export const faultRequest = z.discriminatedUnion('mode', [
  z.strictObject({
    ...common,
    mode: z.literal('status'),
    status: z.int().min(400).max(599),
    retry_after: z.int().min(0).optional(),
  }),
  z.strictObject({ ...common, mode: z.literal('hang') }),
  z.strictObject({ ...common, mode: z.literal('garbage') }),
]);

export type Fault = z.infer<typeof faultRequest>;

export type FaultSwitch = {
  set(fault: Fault): void;
  lift(): void;
  /** The active faults, with the number of requests that will still fail. */
  current(): Fault[];
  /** Answers a request to `target`: by its work, or by the active fault. */
  apply(target: Fault['target'], work: () => Response | Promise<Response>): Promise<Response>;
  /** Sends the held answers. */
  release(): void;
};

/** Makes the next requests fail on demand, with at most one active fault for each target. */
export function createFaultSwitch(): FaultSwitch {
  const faults = new Map<Fault['target'], Fault>();
  const held = new Set<() => void>();

  const take = (target: Fault['target']) => {
    const fault = faults.get(target);
    if (fault?.times === 1) faults.delete(target);
    else if (fault?.times !== undefined) faults.set(target, { ...fault, times: fault.times - 1 });
    return fault;
  };
  // Held also after the client has disconnected: reading `request.signal` makes Deno print a warning.
  const hold = () => new Promise<void>((resolve) => void held.add(resolve));
  const release = () => {
    held.forEach((end) => end());
    held.clear();
  };

  return {
    set: (fault) => void faults.set(fault.target, fault),
    lift() {
      faults.clear();
      release();
    },
    current: () => [...faults.values()],
    async apply(target, work) {
      const fault = take(target);
      if (fault === undefined) return await work();
      if (fault.applied) await work();
      switch (fault.mode) {
        case 'status': {
          const headers: Record<string, string> = {};
          if (fault.retry_after !== undefined) headers['retry-after'] = `${fault.retry_after}`;
          const name = fault.status === 429 ? 'rate_limit_exceeded' : 'application_error';
          return mailError(fault.status, name, `Simulated ${fault.status}.`, headers);
        }
        case 'hang':
          await hold();
          return mailError(503, 'application_error', 'Simulated hang, ended.');
        case 'garbage':
          return new Response('<!doctype html>not { JSON', { headers: { 'content-type': 'application/json' } });
      }
    },
    release,
  };
}
