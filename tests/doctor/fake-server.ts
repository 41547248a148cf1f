/** A request that a fake received. */
export type Call = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly text: string;
};

/** Answers a call; null means that the path is unknown. */
export type Handler = (call: Call) => Response | null | Promise<Response | null>;

/** A small HTTP server on a free loopback port. */
export type FakeServer = {
  readonly url: string;
  /** All calls, as `METHOD /path`. */
  readonly calls: string[];
  /** Resolves when a caller aborts a call that is not answered. */
  readonly hungUp: Promise<void>;
  stop(): Promise<void>;
};

/** Starts a fake server. `hang` never answers. */
export function startFake(handler: Handler | 'hang'): FakeServer {
  const calls: string[] = [];
  const hungUp = Promise.withResolvers<void>();
  const ended = new AbortController();
  const server = Deno.serve({
    hostname: '127.0.0.1',
    port: 0,
    signal: ended.signal,
    onListen: () => {},
  }, async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    calls.push(`${request.method} ${pathname}`);
    if (handler === 'hang') {
      request.signal.addEventListener('abort', () => hungUp.resolve());
      return await new Promise<Response>(() => {});
    }
    const call = {
      method: request.method,
      path: pathname,
      query: searchParams,
      headers: request.headers,
      text: await request.text(),
    };
    return await handler(call) ?? Response.json({ message: 'not found' }, { status: 404 });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    calls,
    hungUp: hungUp.promise,
    async stop() {
      ended.abort();
      await server.finished;
    },
  };
}

/** An address without a listener. */
export function deadAddress(): string {
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 });
  const { port } = listener.addr;
  listener.close();
  return `http://127.0.0.1:${port}`;
}
