import type { Service } from '../service.ts';
import { isLocalRequest } from './local-host.ts';

/** An HTTP service on 127.0.0.1. `url` has no trailing slash; with port 0 it throws before `start`. */
export type LocalHostService = Service & { readonly url: string };

type Answer = (request: Request) => Response | Promise<Response>;

/** Listens on a port of 127.0.0.1. `close` drops open connections. @throws Deno.errors.AddrInUse */
export type Listen = (port: number, answer: Answer) => Promise<{ port: number; close(): Promise<void> }>;

type Options = {
  name: string;
  /** 0 chooses any free port, known after `start`. */
  port: number;
  fetch: Answer;
  /** The first step of `stop`: ends timers and held answers. */
  release(): void;
  /** Headers with which `/` answers 200. Default: none. */
  probe?: Record<string, string>;
  /** Default: Deno's server. */
  listen?: Listen;
};

/**
 * Serves a handler on 127.0.0.1 and answers 403 to requests that `isLocalRequest` refuses: without accounts, only
 * requests of this machine are allowed. `start` throws `Deno.errors.AddrInUse` when the port is in use.
 */
export function createLocalHostService(options: Options): LocalHostService {
  const { name, port, fetch: answer, release, probe = {}, listen = listenOnDeno } = options;
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
      const response = await fetch(`http://127.0.0.1:${boundPort()}/`, { headers: probe });
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
  // Without onListen Deno prints to stdout, which is only for the stack's own lines.
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
