/** Serves webhooks on a free port of 127.0.0.1 and prints the port. Runs on Deno, like ours, and on Node. */
import { Buffer } from 'node:buffer';
import { createServer } from 'node:http';
import process from 'node:process';

/**
 * @param {(request: Request) => Promise<Response>} handle answers a request
 */
export function serve(handle) {
  const onListen = ({ port }) => process.stderr.write(`${JSON.stringify({ event: 'listening', port })}\n`);
  if (globalThis.Deno) {
    Deno.serve({ hostname: '127.0.0.1', port: 0, onListen }, handle);
    return;
  }
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    const answer = await handle(
      new Request(`http://127.0.0.1${url}`, { method, headers, body: Buffer.concat(chunks) }),
    );
    const body = await answer.text();
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  });
  server.listen(0, '127.0.0.1', () => onListen(server.address()));
}
