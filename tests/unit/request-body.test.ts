import { expect, test } from 'vitest';
import { type Body, type BodyRefusal, createBodyReader } from '../../supabase/functions/api/http/request-body.ts';

const mebibyte = 1024 * 1024;

function post(body: BodyInit | null): Request {
  return new Request('http://127.0.0.1/', Object.assign({ method: 'POST', body }, { duplex: 'half' }));
}

/** A body in chunks. `pulled` counts the chunks that were read. */
function pieces(count: number, bytes: number) {
  const state = { pulled: 0 };
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (state.pulled++ < count) controller.enqueue(new Uint8Array(bytes).fill(state.pulled));
      else controller.close();
    },
  }, { highWaterMark: 0 });
  return { stream, state };
}

const bodies = createBodyReader();

async function readBytes(request: Request): Promise<Uint8Array | BodyRefusal> {
  const body = await bodies.read(request);
  return typeof body === 'string' ? body : new Uint8Array(await new Response(new Uint8Array(body.bytes)).arrayBuffer());
}

test('a request without a body has no bytes', async () => {
  expect(await readBytes(new Request('http://127.0.0.1/'))).toEqual(new Uint8Array());
  expect(await readBytes(post(''))).toEqual(new Uint8Array());
});

test('bytes are read unchanged, including a byte-order mark', async () => {
  const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0xff, 0x00, 0x7b]);
  expect(await readBytes(post(bytes))).toEqual(bytes);
});

test('chunks are joined in their order', async () => {
  const { stream } = pieces(3, 2);
  expect(await readBytes(post(stream))).toEqual(new Uint8Array([1, 1, 2, 2, 3, 3]));
});

test('1 MiB is read, one byte more is refused', async () => {
  expect(await readBytes(post(new Uint8Array(mebibyte)))).toHaveLength(mebibyte);
  expect(await readBytes(post(new Uint8Array(mebibyte + 1)))).toBe('payloadTooLarge');
});

test('1 MiB in chunks is read, one chunk more is refused', async () => {
  expect(await readBytes(post(pieces(16, 65536).stream))).toHaveLength(mebibyte);
  expect(await readBytes(post(pieces(17, 65536).stream))).toBe('payloadTooLarge');
});

test('an endless body is refused before its twelfth MiB', async () => {
  const { stream, state } = pieces(Infinity, mebibyte);
  expect(await readBytes(post(stream))).toBe('payloadTooLarge');
  expect(state.pulled).toBeLessThan(12);
});

test('a body that breaks off is an error, not a short body', async () => {
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.error(new Error('gone'));
    },
  });
  await expect(bodies.read(post(stream))).rejects.toThrow('gone');
});

/** A body that sends some bytes and does not end. */
function unfinished(bytes: number): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(bytes));
    },
  });
}

const small = { bodyBytes: 100, drainedBytes: 800, totalBytes: 250, milliseconds: 60_000, skippedMilliseconds: 20 };

const stated = (bytes: number, body: BodyInit) =>
  new Request(
    'http://127.0.0.1/',
    Object.assign({ method: 'POST', body, headers: { 'content-length': String(bytes) } }, { duplex: 'half' }),
  );

test('a body that does not end is refused after its time limit', async () => {
  const { read } = createBodyReader({ ...small, milliseconds: 20 });
  expect(await read(post(unfinished(10)))).toBe('bodyTimedOut');
});

test('above the total limit the largest unfinished body is refused, and a small one is read', async () => {
  const { read } = createBodyReader(small);
  const refused: string[] = [];
  const large = [90, 80, 70].map((bytes) =>
    read(post(unfinished(bytes))).then((body) => refused.push(`${bytes}: ${body}`))
  );
  expect(await read(post(new Uint8Array(60)))).toMatchObject({ bytes: { length: 60 } });
  await large[0];
  expect(refused).toEqual(['90: tooManyBodies']);
});

test('a body counts with its content-length, and is refused before it is read', async () => {
  const { read } = createBodyReader(small);
  void read(stated(100, unfinished(1)));
  void read(stated(100, unfinished(1)));
  expect(await read(stated(100, unfinished(1)))).toBe('tooManyBodies');
  expect(await read(stated(50, new Uint8Array(50)))).toMatchObject({ bytes: { length: 50 } });
});

test('a body counts until its request is answered', async () => {
  const { read } = createBodyReader(small);
  const held: (Body | BodyRefusal)[] = [];
  for (let count = 0; count < 2; count += 1) held.push(await read(post(new Uint8Array(100))));
  expect(await read(post(new Uint8Array(100)))).toBe('tooManyBodies');
  const [first] = held;
  if (typeof first === 'object') first.release();
  expect(await read(post(new Uint8Array(100)))).toMatchObject({ bytes: { length: 100 } });
});

test('a refused body does not count', async () => {
  const { read } = createBodyReader({ ...small, milliseconds: 20 });
  for (let count = 0; count < 5; count += 1) expect(await read(post(unfinished(90)))).toBe('bodyTimedOut');
  for (let count = 0; count < 5; count += 1) expect(await read(post(new Uint8Array(101)))).toBe('payloadTooLarge');
  for (let count = 0; count < 2; count += 1) expect(await read(post(new Uint8Array(100)))).toMatchObject({ bytes: {} });
});

test('a skipped body with a valid content-length is not read to its end; one without is, and is refused when too large', async () => {
  const { skip } = createBodyReader(small);
  expect(await skip(stated(100, unfinished(10)))).toBeNull();
  expect(await skip(stated(101, new Uint8Array(101)))).toBe('payloadTooLarge');
  expect(await skip(post(new Uint8Array(100)))).toBeNull();
  expect(await skip(post(new Uint8Array(101)))).toBe('payloadTooLarge');
});
