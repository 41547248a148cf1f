import { Buffer } from 'node:buffer';

/** The requests of a client to Postgres. */
export type Recorded = {
  /** The called functions of schema public. */
  readonly calls: string[];
  /** Names of prepared statements. An unnamed statement ends with its transaction, as a transaction pooler needs it. */
  readonly statementNames: string[];
  /** How often the client waited for the server, without the login. */
  roundTrips: number;
};

/** A proxy in front of a Postgres that records the requests. */
export type PostgresProxy = ReturnType<typeof startPostgresProxy>;

/** @param onCall is called with the name of every called function. */
export function startPostgresProxy(
  databaseUrl: () => string,
  onCall: (name: string) => void = () => {},
) {
  const recorded: Recorded = { calls: [], statementNames: [], roundTrips: 0 };
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
      // One of the connections was closed.
    }
    for (const conn of [from, to]) if (open.delete(conn)) conn.close();
  }

  async function accept(): Promise<void> {
    for await (const client of listener) {
      const { hostname, port } = new URL(databaseUrl());
      const server = await Deno.connect({ hostname, port: Number(port) });
      open.add(client).add(server);
      void pipe(client, server, readRequests(recorded, onCall));
      void pipe(server, client, () => {});
    }
  }
  accept().catch(() => {}); // ends with the listener

  return {
    /** The URL of the proxy, with the user and database of the Postgres behind it. */
    get url() {
      const url = new URL(databaseUrl());
      url.host = `127.0.0.1:${listener.addr.port}`;
      return url.href;
    },
    recorded,
    /** From now on the proxy accepts bytes and answers nothing. */
    hang() {
      hanging = true;
    },
    stop() {
      listener.close();
      for (const conn of open) conn.close();
      open.clear();
    },
  };
}

async function writeAll(to: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.length > 0;) rest = rest.subarray(await to.write(rest));
}

/** Parses the messages of one client: a start-up message without a type, then messages of type, length and body. */
function readRequests(recorded: Recorded, onCall: (name: string) => void): (bytes: Uint8Array) => void {
  let text = '';
  let started = false;
  const length = (at: number) => [0, 1, 2, 3].reduce((sum, offset) => sum * 256 + text.charCodeAt(at + offset), 0);

  return (bytes) => {
    // Not TextDecoder: its latin1 is windows-1252, which changes bytes from 128 to 159, also those of a length.
    text += Buffer.from(bytes).toString('latin1');
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
        recorded.statementNames.push(name);
        const call = /^select public\.(\w+)\(/.exec(statement)?.[1] ?? statement;
        recorded.calls.push(call);
        onCall(call);
      }
      if (type === 'S' || type === 'Q') recorded.roundTrips += 1;
    }
  };
}
