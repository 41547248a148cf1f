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
  /** Resolves when a caller aborts a call that is not answered. */
  readonly hungUp: Promise<void>;
  stop(): Promise<void>;
};

/** Certificate and key of a server with TLS (PEM). */
export type Tls = { readonly cert: string; readonly key: string };

/** Starts a fake server, on https with `tls`. `hang` never answers. */
export function startFake(handler: Handler | 'hang', tls?: Tls): FakeServer {
  const hungUp = Promise.withResolvers<void>();
  const ended = new AbortController();
  const options = { hostname: '127.0.0.1', port: 0, signal: ended.signal, onListen: () => {}, ...tls };
  const server = Deno.serve(options, async (request) => {
    const { method, headers } = request;
    const { pathname: path, searchParams: query } = new URL(request.url);
    if (handler === 'hang') {
      request.signal.addEventListener('abort', () => hungUp.resolve());
      return await new Promise<Response>(() => {});
    }
    const answer = await handler({ method, path, query, headers, text: await request.text() });
    return answer ?? Response.json({ message: 'not found' }, { status: 404 });
  });
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${server.addr.port}`,
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
