import { releasableTimer } from './with-deadline.ts';

const mebibyte = 1024 * 1024;

/** How much of requests' bodies is held and awaited. */
export type BodyLimits = {
  /** Bytes of one body. */
  readonly bodyBytes: number;
  /** A body that is too large is read up to this many bytes: closing while it is still being sent loses the answer. */
  readonly drainedBytes: number;
  /** Bytes of all bodies at once, until their requests are answered. */
  readonly totalBytes: number;
  /** How long a body may take. */
  readonly milliseconds: number;
  /** How long an answer waits for a body that is not needed: closing while it is still being sent loses the answer. */
  readonly skippedMilliseconds: number;
};

const defaultLimits: BodyLimits = {
  bodyBytes: mebibyte,
  drainedBytes: 8 * mebibyte,
  totalBytes: 24 * mebibyte,
  milliseconds: 10_000,
  skippedMilliseconds: 500,
};

/** Why a body was not read: too large, too slow, or too much of all requests' bodies at once. */
export type BodyRefusal = 'payloadTooLarge' | 'bodyTimedOut' | 'tooManyBodies';

/** A body that was read; `release` when its request is answered. */
export type Body = { readonly bytes: Uint8Array; release(): void };

export type BodyReader = {
  /** Reads a request's body. */
  read(request: Request): Promise<Body | BodyRefusal>;
  /**
   * Holds nothing of a body that is not needed. Waits for its end where it may be too large, else for a moment.
   * @returns null when the request may be answered
   */
  skip(request: Request): Promise<BodyRefusal | null>;
};

/** A body that is being read. `size` counts towards the total: the stated length, or the bytes received so far. */
type Reading = { chunks: Uint8Array[]; length: number; size: number; stop(refusal: BodyRefusal): void };

/**
 * Reads bodies within limits. A body counts with its stated length from the start. When the total is exceeded, the largest
 * body that is still being read is refused, of equal ones the newest, before any of it is read: small ones, as webhooks
 * are, pass whatever large ones are being sent.
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

  /** Reads to the end, or until a limit is reached. What is not kept counts all the same: reading it takes memory. */
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
    count(reading, Math.min(statedLength(request) || 0, limits.bodyBytes));
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
      return reading;
    } catch (error) {
      forget(reading);
      throw error;
    } finally {
      stopTimer();
    }
  }

  /** Reads a body whose request is refused in any case, for so long at most. */
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

/** NaN: not stated. */
function statedLength({ headers }: Request): number {
  return Number(headers.get('content-length') ?? NaN);
}

/** The chunks in one piece. */
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
