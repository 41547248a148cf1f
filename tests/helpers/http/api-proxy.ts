/** Handles a request of the service to the project's API: answers it, or forwards it. */
export type Intercept = (request: Request, forwardRequest: () => Promise<Response>) => Response | Promise<Response>;

/** A proxy in front of the project's API, with a handler for each request. */
export function startApiProxy(apiUrl: () => string | Promise<string>, intercept: Intercept) {
  const server = Deno.serve(
    { hostname: '127.0.0.1', port: 0, onListen: () => {} },
    (request) =>
      intercept(request, async () => {
        const { pathname, search } = new URL(request.url);
        return await fetch(await apiUrl() + pathname + search, {
          method: request.method,
          headers: request.headers,
          body: request.body === null ? null : await request.arrayBuffer(),
        });
      }),
  );
  return { url: `http://127.0.0.1:${server.addr.port}`, stop: () => server.shutdown(), unref: () => server.unref() };
}
