import type { Service } from '../service.ts';
import { isLocalRequest } from './local-host.ts';
import { isOwnUser } from './own-user.ts';

/** An HTTP service on 127.0.0.1. `url` has no trailing slash; with port 0 it throws before `start`. */
export type LocalHostService = Service & { readonly url: string };

type Answer = (request: Request) => Response | Promise<Response>;

/** Answers a connection from a port of this machine. */
type AnswerPeer = (request: Request, peerPort: number | undefined) => Promise<Response>;

/** Listens on a port of 127.0.0.1. `close` drops open connections. @throws Deno.errors.AddrInUse */
export type Listen = (port: number, answer: AnswerPeer) => Promise<{ port: number; close(): Promise<void> }>;

/** How a service on 127.0.0.1 is made. */
export type LocalHostOptions = {
  name: string;
  /** 0 chooses any free port, known after `start`. */
  port: number;
  fetch: Answer;
  /** The first step of `stop`: ends timers and held answers. */
  release(): void;
  /** Headers with which `/` answers 200. Default: none. */
  probe?: Record<string, string>;
  /** Names below `localhost` that `Host` and `Origin` may have, too. */
  names?: string[];
  /** Default: Deno's server. */
  listen?: Listen;
  /** Whether a peer is answered. Default: this user and root. */
  isOwn?: typeof isOwnUser | undefined;
};

/**
 * Serves a handler on 127.0.0.1. It has no accounts, so that it answers 403 to other users of this machine, and to requests
 * that `isLocalRequest` refuses. `start` throws `Deno.errors.AddrInUse` when the port is in use.
 */
export function createLocalHostService(options: LocalHostOptions): LocalHostService {
  const { name, port, fetch: answer, release, probe = {}, names, listen = listenOnDeno, isOwn = isOwnUser } = options;
  let servers: Awaited<ReturnType<Listen>>[] = [];

  const boundPort = () => {
    const bound = servers[0]?.port ?? port;
    if (bound === 0) throw new Error(`${name} has no address before it is started`);
    return bound;
  };
  const guarded: AnswerPeer = async (request, peerPort) =>
    isLocalRequest(request, boundPort(), names) && await isOwn(peerPort, boundPort())
      ? await answer(request)
      : Response.json({ error: notOwn }, { status: 403 });

  const service: LocalHostService = {
    name,
    get url() {
      return `http://127.0.0.1:${boundPort()}`;
    },
    async start() {
      if (servers.length > 0) return;
      try {
        servers.push(await listen(port, guarded));
        // Browsers look for a name below `localhost` there first, where otherwise another user could listen.
        if (names !== undefined && hasIpv6()) servers.push(await listenOnDeno(boundPort(), guarded, '::1'));
      } catch (error) {
        await service.stop();
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
      const running = servers;
      servers = [];
      await Promise.all(running.map((server) => server.close()));
    },
  };
  return service;
}

/** Why a request is refused. */
export const notOwn = 'This service answers its own machine and user only';

/** Whether this machine has the loopback address of IPv6. */
export function hasIpv6(): boolean {
  return Deno.networkInterfaces().some(({ address }) => address === '::1');
}

function listenOnDeno(port: number, answer: AnswerPeer, hostname = '127.0.0.1'): ReturnType<Listen> {
  const stopping = new AbortController();
  // Without onListen Deno prints to stdout, which is only for the stack's own lines.
  const options = { hostname, port, signal: stopping.signal, onListen: () => {} };
  return new Promise((resolve) => {
    const server = Deno.serve(options, (request, { remoteAddr }) => answer(request, remoteAddr.port));
    const close = () => {
      stopping.abort();
      return server.finished;
    };
    resolve({ port: server.addr.port, close });
  });
}
