import { releasableTimer } from './with-deadline.ts';

const mebibyte = 1024 * 1024;

/** Limits of memory and time for request bodies. */
export type BodyLimits = {
  /** The size of one body. */
  readonly bodyBytes: number;
  /**
   * A body that is too large is read up to this size: if the connection closes earlier, the client misses the answer.
   */
  readonly drainedBytes: number;
  /** The size of all bodies whose requests are not answered yet. */
  readonly totalBytes: number;
  /** The time to read one body. */
  readonly milliseconds: number;
  /** The time to read a body that is not needed: if the connection closes earlier, the client misses the answer. */
  readonly skippedMilliseconds: number;
};

const defaultLimits: BodyLimits = {
  bodyBytes: mebibyte,
  drainedBytes: 8 * mebibyte,
  totalBytes: 24 * mebibyte,
  milliseconds: 10_000,
  skippedMilliseconds: 500,
};

/** Why a body was refused: too large, too slow, or the bodies of all requests exceed the total. */
export type BodyRefusal = 'payloadTooLarge' | 'bodyTimedOut' | 'tooManyBodies';

/** A complete body. Call `release` when its request is answered. */
export type Body = { readonly bytes: Uint8Array; release(): void };

export type BodyReader = {
  read(request: Request): Promise<Body | BodyRefusal>;
  /**
   * Reads a body that is not needed, and keeps nothing of it. Waits for its end if it may be too large, else 500 ms.
   * @returns null when the request may be answered
   */
  skip(request: Request): Promise<BodyRefusal | null>;
};

/** A body that is being read. `size` is what counts towards the total. */
type Reading = { chunks: Uint8Array[]; length: number; size: number; stop(refusal: BodyRefusal): void };

/**
 * Reads bodies within limits. A body counts with its content-length from the start, one without it as the largest until
 * it ends. When the total is exceeded, the largest unfinished body is refused (the newest of equal ones). So small
 * bodies, such as webhooks, pass while large ones are being sent.
 */
export function createBodyReader(limits: BodyLimits = defaultLimits): BodyReader {
  const readings = new Set<Reading>();
  let total = 0;

  function count(reading: Reading, size: number): void {
    total += size - reading.size;
    reading.size = size;
    while (total > limits.totalBytes && readings.size > 0) {
      const largest = [...readings].reduce((one, other) => other.size >= one.size ? other : one);
      largest.stop('tooManyBodies');
    }
  }

  function forget(reading: Reading): void {
    readings.delete(reading);
    reading.chunks = [];
    total -= reading.size;
    reading.size = 0;
  }

  /** Reads to the end or to a limit. Bytes that are not kept count, too: reading them takes memory. */
  async function readChunks(
    request: Request,
    isKept: boolean,
    milliseconds = limits.milliseconds,
  ): Promise<Reading | BodyRefusal> {
    const reader = request.body?.getReader();
    let refusal: BodyRefusal | undefined;
    const reading: Reading = {
      chunks: [],
      length: 0,
      size: 0,
      stop(why) {
        refusal ??= why;
        forget(reading);
        void reader?.cancel().catch(() => {});
      },
    };
    if (reader === undefined) return reading;
    readings.add(reading);
    count(reading, Math.min(statedLength(request) || limits.bodyBytes, limits.bodyBytes));
    if (refusal !== undefined) return refusal;
    const stopTimer = releasableTimer(milliseconds, () => reading.stop('bodyTimedOut'));
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (refusal !== undefined) return refusal;
        if (done) break;
        reading.length += value.length;
        if (reading.length > limits.drainedBytes) break;
        if (reading.length > limits.bodyBytes) reading.chunks = [];
        else if (isKept) reading.chunks.push(value);
        count(reading, Math.min(Math.max(reading.size, reading.length), limits.bodyBytes));
        if (refusal !== undefined) return refusal;
      }
      if (reading.length > limits.bodyBytes) {
        reading.stop('payloadTooLarge');
        return 'payloadTooLarge';
      }
      readings.delete(reading);
      count(reading, reading.length);
      return reading;
    } catch (error) {
      forget(reading);
      throw error;
    } finally {
      stopTimer();
    }
  }

  /** Reads and drops a body whose request is refused in any case. */
  async function skipFor(request: Request, milliseconds: number): Promise<void> {
    const reading = await readChunks(request, false, milliseconds);
    if (typeof reading === 'object') forget(reading);
  }

  return {
    async read(request) {
      if (statedLength(request) > limits.bodyBytes) {
        await skipFor(request, limits.milliseconds);
        return 'payloadTooLarge';
      }
      const reading = await readChunks(request, true);
      if (typeof reading === 'string') return reading;
      return { bytes: join(reading), release: () => forget(reading) };
    },

    async skip(request) {
      if (request.body === null) return null;
      const length = statedLength(request);
      if (length <= limits.bodyBytes) {
        await skipFor(request, limits.skippedMilliseconds);
        return null;
      }
      if (length > limits.bodyBytes) {
        await skipFor(request, limits.milliseconds);
        return 'payloadTooLarge';
      }
      const reading = await readChunks(request, false);
      if (typeof reading === 'string') return reading;
      forget(reading);
      return null;
    },
  };
}

/** NaN without a content-length. */
function statedLength({ headers }: Request): number {
  return Number(headers.get('content-length') ?? NaN);
}

function join(reading: Reading): Uint8Array {
  const [only] = reading.chunks;
  if (reading.chunks.length === 1 && only) return only;
  const bytes = new Uint8Array(reading.length);
  let offset = 0;
  for (const chunk of reading.chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  reading.chunks = [bytes];
  return bytes;
}
