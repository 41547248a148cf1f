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

/** The proxy of the environment does not answer, so no request leaves this machine. */
export class DeadProxy extends Error {
  override readonly name = 'DeadProxy';

  /** @param variable the name of the variable that sets the proxy */
  constructor(readonly variable: string, proxy: URL) {
    super(`the proxy of ${variable} does not answer: ${proxy.host}`);
  }
}

/**
 * Sends a request and reads the answer. Redirects are not followed.
 * @throws Unreachable without an answer; DeadProxy where the proxy on the way is the reason
 */
export async function request(url: string, init: RequestInit = {}): Promise<Reply> {
  try {
    const response = await fetch(url, { redirect: 'manual', ...init });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parse(text) };
  } catch {
    // The message of `fetch` quotes the whole URL, which may contain a secret.
    throw await findDeadProxy(url) ?? new Unreachable(url);
  }
}

/** A nested field of a JSON object; undefined when it does not exist. */
export function field(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined,
    value,
  );
}

/** The proxy that `fetch` uses for this URL, if it does not answer. */
async function findDeadProxy(url: string): Promise<DeadProxy | undefined> {
  const { protocol, hostname } = new URL(url);
  const excluded = readVariable('NO_PROXY')?.value.split(',').map((entry) => entry.trim().replace(/^\*?\./, '')) ?? [];
  if (excluded.some((entry) => entry !== '' && `.${hostname}`.endsWith(`.${entry}`))) return undefined;
  const variable = readVariable(`${protocol.slice(0, -1).toUpperCase()}_PROXY`) ?? readVariable('ALL_PROXY');
  const proxy = URL.parse(variable?.value.replace(/^(?!\w+:\/\/)/, 'http://') ?? '');
  if (variable === undefined || proxy === null) return undefined;
  try {
    const port = Number(proxy.port || (proxy.protocol === 'https:' ? 443 : 80));
    (await Deno.connect({ hostname: proxy.hostname.replace(/^\[|\]$/g, ''), port })).close();
    return undefined;
  } catch {
    return new DeadProxy(variable.name, proxy);
  }
}

function readVariable(upper: string): { name: string; value: string } | undefined {
  const name = [upper, upper.toLowerCase()].find((name) => Deno.env.get(name));
  return name === undefined ? undefined : { name, value: Deno.env.get(name) ?? '' };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
