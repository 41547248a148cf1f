/** One POST of a webhook. Without an answer `status` is null and `error` is the reason. */
export type Attempt = { at: string; status: number | null; error: string | null; duration_ms: number };

type Post = {
  url: string;
  body: string;
  headers: Record<string, string>;
  /** When the attempt is made, in the gateway's time. */
  at: string;
  timeoutMs: number;
  signal: AbortSignal;
};

/** Posts a webhook once. After `timeoutMs`, or when the signal aborts, the status is null. Never throws. */
export async function attemptDelivery({ url, body, headers, at, timeoutMs, signal }: Post): Promise<Attempt> {
  const begun = performance.now();
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  const finished = (status: number | null, error: string | null): Attempt => {
    return { at, status, error, duration_ms: Math.round(performance.now() - begun) };
  };
  try {
    // A redirect counts as an answer other than 2xx and is not followed.
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout.signal]),
    });
    await response.body?.cancel();
    return finished(response.status, null);
  } catch (error) {
    return finished(null, error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
  }
}
