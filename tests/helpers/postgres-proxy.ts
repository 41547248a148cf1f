/** What a client asked of Postgres, in the order of its protocol. */
export type Asked = {
  /** Functions of schema public that were called. */
  readonly calls: string[];
  /** Names of prepared statements: empty ones are gone with their transaction, as a transaction pooler needs it. */
  readonly statementNames: string[];
  /** How often the client waited for the server, logging in aside. */
  roundTrips: number;
};

/** An address that behaves as a Postgres, and tells what it is asked. */
export type PostgresProxy = {
  /** As the other one's, with the same user and database. */
  readonly url: string;
  readonly asked: Asked;
  /** From now on takes everything and answers nothing. */
  hang(): void;
  stop(): void;
};

/** @param onCall is told the name of every function as it is called. */
export function startPostgresProxy(
  databaseUrl: () => string,
  onCall: (name: string) => void = () => {},
): PostgresProxy {
  const asked: Asked = { calls: [], statementNames: [], roundTrips: 0 };
  const open = new Set<Deno.Conn>();
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 });
  let hanging = false;

  async function pipe(from: Deno.Conn, to: Deno.Conn, look: (bytes: Uint8Array) => void): Promise<void> {
    const buffer = new Uint8Array(65536);
    try {
      for (;;) {
        const length = await from.read(buffer);
        if (length === null) break;
        if (hanging) continue;
        look(buffer.subarray(0, length));
        await writeAll(to, buffer.subarray(0, length));
      }
    } catch {
      // Either end went away.
    }
    for (const conn of [from, to]) if (open.delete(conn)) conn.close();
  }

  async function accept(): Promise<void> {
    for await (const client of listener) {
      const { hostname, port } = new URL(databaseUrl());
      const server = await Deno.connect({ hostname, port: Number(port) });
      open.add(client).add(server);
      void pipe(client, server, readRequests(asked, onCall));
      void pipe(server, client, () => {});
    }
  }
  const accepting = accept().catch(() => {}); // ends with the listener

  return {
    get url() {
      const url = new URL(databaseUrl());
      url.host = `127.0.0.1:${listener.addr.port}`;
      return url.href;
    },
    asked,
    hang() {
      hanging = true;
    },
    stop() {
      listener.close();
      for (const conn of open) conn.close();
      open.clear();
      void accepting;
    },
  };
}

async function writeAll(to: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await to.write(rest));
}

/** Follows what one client sends: a start-up message without a type, then messages of type, length and body. */
function readRequests(asked: Asked, onCall: (name: string) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder('latin1');
  let text = '';
  let started = false;
  const length = (at: number) => [0, 1, 2, 3].reduce((sum, offset) => sum * 256 + text.charCodeAt(at + offset), 0);

  return (bytes) => {
    text += decoder.decode(bytes);
    for (;;) {
      const header = started ? 5 : 4;
      if (text.length < header) return;
      const end = header - 4 + length(header - 4);
      if (text.length < end) return;
      const [type, body] = [started ? text[0] : 'start-up', text.slice(header, end)];
      text = text.slice(end);
      started = true;
      if (type === 'P') {
        const [name = '', statement = ''] = body.split('\0');
        asked.statementNames.push(name);
        const call = /^select public\.(\w+)\(/.exec(statement)?.[1] ?? statement;
        asked.calls.push(call);
        onCall(call);
      }
      if (type === 'S' || type === 'Q') asked.roundTrips += 1;
    }
  };
}
