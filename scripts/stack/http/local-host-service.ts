import type { Service } from '../service.ts';
import { isLocalRequest } from './local-host.ts';

/** A service that answers HTTP on 127.0.0.1. `url` has no trailing slash and throws while port 0 is not yet resolved. */
export type LocalHostService = Service & { readonly url: string };

type Answer = (request: Request) => Response | Promise<Response>;

/** Answers requests on a port of 127.0.0.1; throws `Deno.errors.AddrInUse` on a taken one. `close` drops what is under way. */
export type Listen = (port: number, answer: Answer) => Promise<{ port: number; close(): Promise<void> }>;

type Options = {
  name: string;
  /** 0 takes any free port, known after `start`. */
  port: number;
  fetch: Answer;
  /** Called by `stop` first: let go of timers and of answers held back. */
  release(): void;
  /** Another way to listen than Deno's own. */
  listen?: Listen;
};

/**
 * Serves a handler on 127.0.0.1 and refuses with 403 whatever `isLocalRequest` does not vouch for: there are no accounts
 * here, so the local machine is the only border. `start` throws `Deno.errors.AddrInUse` on a taken port.
 */
export function createLocalHostService(options: Options): LocalHostService {
  const { name, port, fetch: answer, release, listen = listenOnDeno } = options;
  let server: Awaited<ReturnType<Listen>> | undefined;

  const boundPort = () => {
    const bound = server?.port ?? port;
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
    async start() {
      if (server !== undefined) return;
      try {
        server = await listen(port, guarded);
      } catch (error) {
        const taken = error instanceof Deno.errors.AddrInUse;
        throw taken ? new Deno.errors.AddrInUse(`${name}: port ${port} is taken`) : error;
      }
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
      await running?.close();
    },
  };
}

const listenOnDeno: Listen = (port, answer) => {
  const stopping = new AbortController();
  // Without onListen Deno prints to stdout, where only the stack's own lines belong.
  const options = { hostname: '127.0.0.1', port, signal: stopping.signal, onListen: () => {} };
  return new Promise((resolve) => {
    const server = Deno.serve(options, answer);
    const close = () => {
      stopping.abort();
      return server.finished;
    };
    resolve({ port: server.addr.port, close });
  });
};
