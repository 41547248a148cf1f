/** A request that a receiver of side effects got. */
export type Arrival = {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  /** The JSON of the body; null without one. */
  readonly body: unknown;
};

/** Answers a request of a receiver. A promise that never settles is a receiver that hangs. */
export type Answering = (arrival: Arrival) => Response | Promise<Response>;

/** A minimal fake receiver of side effects. It records each request and answers as configured. */
export type Receiver = {
  readonly url: string;
  /** All requests, in the order of arrival. */
  readonly arrivals: Arrival[];
  /** How it answers from now on. By default it accepts. */
  answer: Answering;
  stop(): Promise<void>;
};

/** Accepts a mail as Resend does. A revalidation accepts this answer, too. */
export const accept: Answering = () => Response.json({ id: crypto.randomUUID() });

/** An error answer in the mail provider's shape. */
export function providerError(statusCode: number, name: string, headers: Record<string, string> = {}): Response {
  return Response.json({ statusCode, name, message: 'told by the test' }, { status: statusCode, headers });
}

/** Starts a receiver on a free port. */
export function startReceiver(): Receiver {
  const arrivals: Arrival[] = [];
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, async (request) => {
    const text = await request.text();
    const arrival = {
      method: request.method,
      path: new URL(request.url).pathname,
      headers: request.headers,
      body: text === '' ? null : JSON.parse(text),
    };
    arrivals.push(arrival);
    return await receiver.answer(arrival);
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${server.addr.port}`,
    arrivals,
    answer: accept,
    stop: () => server.shutdown(),
  };
  return receiver;
}
