import type { Service } from './service.ts';
import { isLocalRequest } from './local-host.ts';

/** A service that answers HTTP on 127.0.0.1. `url` has no trailing slash and throws while port 0 is not yet resolved. */
export type LocalHostService = Service & { readonly url: string };

type Options = {
  name: string;
  /** 0 takes any free port, known after `start`. */
  port: number;
  fetch(request: Request): Response | Promise<Response>;
  /** Called by `stop` first: let go of timers and of answers held back. */
  release(): void;
};

/**
 * Serves a handler on 127.0.0.1 and refuses with 403 whatever `isLocalRequest` does not vouch for: there are no accounts
 * here, so the local machine is the only border. `start` throws `Deno.errors.AddrInUse` on a taken port.
 */
export function createLocalHostService({ name, port, fetch: answer, release }: Options): LocalHostService {
  let server: Deno.HttpServer<Deno.NetAddr> | undefined;
  let stopping = new AbortController();

  const boundPort = () => {
    const bound = server?.addr.port ?? port;
    if (bound === 0) throw new Error(`${name} has no address before it is started`);
    return bound;
  };
  const guarded = (request: Request) =>
    isLocalRequest(request, boundPort())
      ? answer(request)
      : Response.json({ error: 'This service answers its own machine only' }, { status: 403 });

  return {
    name,
    get url() {
      return `http://127.0.0.1:${boundPort()}`;
    },
    start() {
      if (server !== undefined) return Promise.resolve();
      stopping = new AbortController();
      // Without onListen Deno prints to stdout, where only the stack's own lines belong.
      const options = { hostname: '127.0.0.1', port, signal: stopping.signal, onListen: () => {} };
      return new Promise((resolve, reject) => {
        try {
          server = Deno.serve(options, guarded);
          resolve();
        } catch (error) {
          const taken = error instanceof Deno.errors.AddrInUse;
          reject(taken ? new Deno.errors.AddrInUse(`${name}: port ${port} is taken`) : error);
        }
      });
    },
    async ready() {
      const response = await fetch(`http://127.0.0.1:${boundPort()}/`);
      await response.body?.cancel();
      if (!response.ok) throw new Error(`${name} answered ${response.status}`);
    },
    async stop() {
      release();
      const running = server;
      server = undefined;
      stopping.abort();
      await running?.finished;
    },
  };
}
