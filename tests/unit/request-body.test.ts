import { describe, expect, test } from 'vitest';
import { readForm } from '../../supabase/functions/api/http/read-form.ts';
import { type Body, type BodyRefusal, createBodyReader } from '../../supabase/functions/api/http/request-body.ts';

const mebibyte = 1024 * 1024;

const post = (body: BodyInit | null, headers: Record<string, string> = {}) =>
  new Request('http://127.0.0.1/', Object.assign({ method: 'POST', body, headers }, { duplex: 'half' }));
const stated = (bytes: number, body: BodyInit) => post(body, { 'content-length': String(bytes) });

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

/** A body that sends some bytes and does not end. */
const unfinished = (bytes: number) =>
  new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(bytes)) });

describe('a body', () => {
  const bodies = createBodyReader();
  const readBytes = async (request: Request) => {
    const body = await bodies.read(request);
    return typeof body === 'string' ? body : body.bytes;
  };
  const bytes = [0xef, 0xbb, 0xbf, 0xff, 0x00, 0x7b];

  test.each<[string, () => Request, number[]]>([
    ['that is missing has no bytes', () => new Request('http://127.0.0.1/'), []],
    ['with a byte-order mark is read unchanged', () => post(new Uint8Array(bytes)), bytes],
    ['in chunks is joined in their order', () => post(pieces(3, 2).stream), [1, 1, 2, 2, 3, 3]],
  ])('%s', async (_, request, expected) => {
    expect([...await readBytes(request())]).toEqual(expected);
  });

  test('of 1 MiB is read, a larger one is refused, an endless one before its twelfth MiB', async () => {
    expect(await readBytes(post(pieces(16, 65536).stream))).toHaveLength(mebibyte);
    expect(await readBytes(post(new Uint8Array(mebibyte + 1)))).toBe('payloadTooLarge');
    expect(await readBytes(post(pieces(17, 65536).stream))).toBe('payloadTooLarge');
    const { stream, state } = pieces(Infinity, mebibyte);
    expect(await readBytes(post(stream))).toBe('payloadTooLarge');
    expect(state.pulled).toBeLessThan(12);
  });

  test('that breaks off is an error, not a short body', async () => {
    const stream = new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) });
    await expect(bodies.read(post(stream))).rejects.toThrow('gone');
  });
});

describe('under limits', () => {
  const small = { bodyBytes: 100, drainedBytes: 800, totalBytes: 250, milliseconds: 60_000, skippedMilliseconds: 20 };
  const isRead = (length: number) => ({ bytes: { length } });

  test('a body that does not end is refused after its time limit, and a refused body does not count', async () => {
    const { read } = createBodyReader({ ...small, milliseconds: 20 });
    for (let count = 0; count < 5; count += 1) {
      expect(await read(post(unfinished(90)))).toBe('bodyTimedOut');
      expect(await read(post(new Uint8Array(101)))).toBe('payloadTooLarge');
    }
    for (let count = 0; count < 2; count += 1) expect(await read(post(new Uint8Array(100)))).toMatchObject(isRead(100));
  });

  test('above the total limit the largest unfinished body is refused, and a small one is read', async () => {
    const { read } = createBodyReader(small);
    const refused: string[] = [];
    const large = [90, 80, 70].map((bytes) =>
      read(stated(bytes, unfinished(bytes))).then((body) => refused.push(`${bytes}: ${body}`))
    );
    expect(await read(stated(60, new Uint8Array(60)))).toMatchObject(isRead(60));
    await large[0];
    expect(refused).toEqual(['90: tooManyBodies']);
  });

  test('a body counts with its content-length, and is refused before it is read', async () => {
    const { read } = createBodyReader(small);
    for (let count = 0; count < 2; count += 1) void read(stated(100, unfinished(1)));
    expect(await read(stated(100, unfinished(1)))).toBe('tooManyBodies');
    expect(await read(stated(50, new Uint8Array(50)))).toMatchObject(isRead(50));
  });

  test('a body without a content-length counts as the largest until it ends', async () => {
    const { read } = createBodyReader({ ...small, milliseconds: 50 });
    for (let count = 0; count < 5; count += 1) expect(await read(post(pieces(1, 10).stream))).toMatchObject(isRead(10));
    for (let count = 0; count < 2; count += 1) void read(post(unfinished(1)));
    expect(await read(post(unfinished(1)))).toBe('tooManyBodies');
  });

  test('a body counts until its request is answered', async () => {
    const { read } = createBodyReader(small);
    const held: (Body | BodyRefusal)[] = [];
    for (let count = 0; count < 2; count += 1) held.push(await read(post(new Uint8Array(100))));
    expect(await read(post(new Uint8Array(100)))).toBe('tooManyBodies');
    const [first] = held;
    if (typeof first === 'object') first.release();
    expect(await read(post(new Uint8Array(100)))).toMatchObject(isRead(100));
  });

  test.each<[string, () => Request, refusal: string | null]>([
    ['with a valid content-length is not read to its end', () => stated(100, unfinished(10)), null],
    ['with a larger one is refused', () => stated(101, new Uint8Array(101)), 'payloadTooLarge'],
    ['without one that is too large is refused', () => post(new Uint8Array(101)), 'payloadTooLarge'],
  ])('a skipped body %s', async (_, request, refusal) => {
    expect(await createBodyReader(small).skip(request())).toBe(refusal);
  });
});

test.each([
  ['a=1&b=2', 'a', '1'],
  ['a', 'a', ''],
  ['a=%E2%82%B9+x', 'a', '₹ x'],
  ['a=%FF', 'a', '\ufffd'],
  ['a=1&b=2', 'c', undefined],
  ['a=1&a=2', 'a', undefined],
  ['a=1&%61=1', 'a', undefined],
  ['a=1', '__proto__', undefined],
])('the form %j has in field %j: %j', (text, name, value) => {
  expect(readForm(new TextEncoder().encode(text))(name)).toBe(value);
});
