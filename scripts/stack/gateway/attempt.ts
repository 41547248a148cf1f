/** One POST of a webhook: `status` is null where no answer came, and `error` then says why. */
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

/** Posts a webhook once. No answer within `timeoutMs`, or the signal's abort, is an attempt without a status; never throws. */
export async function attemptDelivery({ url, body, headers, at, timeoutMs, signal }: Post): Promise<Attempt> {
  const begun = performance.now();
  const overdue = new AbortController();
  const timer = setTimeout(() => overdue.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  const finished = (status: number | null, error: string | null): Attempt => {
    return { at, status, error, duration_ms: Math.round(performance.now() - begun) };
  };
  try {
    // A redirect is an answer that is not 2xx, so it is not followed.
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
      redirect: 'manual',
      signal: AbortSignal.any([signal, overdue.signal]),
    });
    await response.body?.cancel();
    return finished(response.status, null);
  } catch (error) {
    return finished(null, error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
  }
}
