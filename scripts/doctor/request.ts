/** An HTTP answer. */
export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; null when it is not JSON. */
  readonly body: unknown;
};

/** No server answers at an address. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';

  constructor(url: string) {
    super(`${URL.parse(url)?.origin ?? 'the address'} can't be reached`);
  }
}

/** Sends a request and reads the answer. Redirects are not followed. @throws Unreachable without an answer. */
export async function request(url: string, init: RequestInit = {}): Promise<Reply> {
  try {
    const response = await fetch(url, { redirect: 'manual', ...init });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parse(text) };
  } catch {
    // The message of `fetch` quotes the whole URL, which may contain a secret.
    throw new Unreachable(url);
  }
}

/** A nested field of a JSON object; undefined when it does not exist. */
export function field(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined,
    value,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
