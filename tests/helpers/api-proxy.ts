/** What stands between the service and the project's API: answers itself, or passes the request on. */
export type Intercept = (request: Request, forwardRequest: () => Promise<Response>) => Response | Promise<Response>;

/** An address that behaves as the project's API but for what `intercept` does. */
export type ApiProxy = { readonly url: string; stop(): Promise<void> };

export function startApiProxy(apiUrl: () => string, intercept: Intercept): ApiProxy {
  const server = Deno.serve(
    { hostname: '127.0.0.1', port: 0, onListen: () => {} },
    (request) =>
      intercept(request, async () => {
        const { pathname, search } = new URL(request.url);
        return await fetch(apiUrl() + pathname + search, {
          method: request.method,
          headers: request.headers,
          body: request.body === null ? null : await request.arrayBuffer(),
        });
      }),
  );
  return { url: `http://127.0.0.1:${server.addr.port}`, stop: () => server.shutdown() };
}
