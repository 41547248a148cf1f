/** What a server answered. */
export type HttpAnswer = { readonly status: number; readonly body: string };

/** One kept-alive connection. It reads answers with a `content-length` and spends little on them: a load generator must not be the load. */
export type HttpConnection = {
  /** Sends a whole request, head and body. @throws when the server hangs up. */
  send(request: Uint8Array): Promise<HttpAnswer>;
  close(): void;
};

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** The bytes of a request. */
export function httpRequest(
  method: string,
  path: string,
  headers: Record<string, string>,
  body = '',
): Uint8Array {
  const bytes = encoder.encode(body);
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`).join(
    '',
  );
  const head = encoder.encode(`${method} ${path} HTTP/1.1\r\n${lines}content-length: ${bytes.length}\r\n\r\n`);
  const request = new Uint8Array(head.length + bytes.length);
  request.set(head);
  request.set(bytes, head.length);
  return request;
}

/** Connects to a server on 127.0.0.1. */
export async function openHttpConnection(port: number): Promise<HttpConnection> {
  const connection = await Deno.connect({ hostname: '127.0.0.1', port });
  connection.setNoDelay(true);
  const chunk = new Uint8Array(65_536);

  async function read(): Promise<HttpAnswer> {
    let text = '';
    for (;;) {
      const count = await connection.read(chunk);
      if (count === null) throw new Error(`hung up after: ${text}`);
      text += decoder.decode(chunk.subarray(0, count), { stream: true });
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) continue;
      const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end));
      if (length === null) throw new Error(`no content-length: ${text.slice(0, end)}`);
      const body = text.slice(end + 4);
      // Fewer characters than bytes only where some are not ASCII: then the bytes are counted.
      if (body.length >= Number(length[1]) || encoder.encode(body).length >= Number(length[1])) {
        return { status: Number(text.slice(9, 12)), body };
      }
    }
  }

  return {
    async send(request) {
      for (let sent = 0; sent < request.length;) sent += await connection.write(request.subarray(sent));
      return await read();
    },
    close: () => connection.close(),
  };
}
