/** A request as a receiver of side effects got it. */
export type Arrival = {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  /** The JSON of the body; null without one. */
  readonly body: unknown;
};

/** What a receiver does with a request; a promise that stays open is a receiver that hangs. */
export type Answering = (arrival: Arrival) => Response | Promise<Response>;

/** A stand-in for whoever receives side effects, as cheap as can be: it notes each request and answers as told. */
export type Receiver = {
  readonly url: string;
  /** Everything that came, in the order of arrival. */
  readonly arrivals: Arrival[];
  /** How it answers from now on; at first it accepts. */
  answer: Answering;
  stop(): Promise<void>;
};

/** Says that a mail was taken, as Resend does; a hook's caller is content with it, too. */
export const accept: Answering = () => Response.json({ id: crypto.randomUUID() });

/** An answer of the mail provider that says what is wrong, in its own shape. */
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
