/** A request that a receiver of side effects got. */
export type Arrival = {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  /** The JSON of the body; null without one. */
  readonly body: unknown;
  /** The body as it was sent. */
  readonly text: string;
};

/** Answers a request of a receiver. A promise that never settles is a receiver that hangs. */
export type Answering = (arrival: Arrival) => Response | Promise<Response>;

/** Accepts a mail as Resend does. A revalidation accepts this answer, too. */
export const accept: Answering = () => Response.json({ id: crypto.randomUUID() });

/** An error answer in the mail provider's shape. */
export function providerError(statusCode: number, name: string, headers: Record<string, string> = {}): Response {
  return Response.json({ statusCode, name, message: 'told by the test' }, { status: statusCode, headers });
}

/** A minimal fake receiver of side effects on a free port. It records each request and answers as configured. */
export function startReceiver() {
  const arrivals: Arrival[] = [];
  /** How it answers from now on. */
  const receiver: { answer: Answering } = { answer: accept };
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, async (request) => {
    const text = await request.text();
    const arrival = {
      method: request.method,
      path: new URL(request.url).pathname,
      headers: request.headers,
      body: text === '' ? null : JSON.parse(text),
      text,
    };
    arrivals.push(arrival);
    return await receiver.answer(arrival);
  });
  const url = `http://127.0.0.1:${server.addr.port}`;
  return Object.assign(receiver, { url, arrivals, stop: () => server.shutdown() });
}
