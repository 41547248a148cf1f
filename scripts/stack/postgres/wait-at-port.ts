/** A port in front of a database that is not ready yet. */
export type WaitingPort = {
  /** URL of the database at this port. A client that connects waits for the database, two minutes at most. */
  url: string;
  /** Takes no further connection. */
  close(): void;
};

/**
 * Passes connections on to a database when it is ready: a client that loads slowly can be started before.
 * @param ready resolves when the database takes connections; when it is rejected, the waiting connections end
 */
export function waitAtPort(databaseUrl: string, ready: Promise<void>): WaitingPort {
  const url = new URL(databaseUrl);
  const target = { hostname: url.hostname, port: Number(url.port) };
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 });
  const passOn = async (client: Deno.TcpConn) => {
    const database = await ready.then(() => Deno.connect(target)).catch(() => undefined);
    if (database === undefined) return client.close(); // the client reports the lost connection
    await Promise.all([client.readable.pipeTo(database.writable), database.readable.pipeTo(client.writable)]);
  };
  const listen = async () => {
    for await (const client of listener) passOn(client).catch(() => {});
  };
  void listen();
  url.port = String(listener.addr.port);
  url.searchParams.set('connect_timeout', '120');
  return { url: url.href, close: () => listener.close() };
}
