import { expect, test } from 'vitest';
import { readBody } from '../../supabase/functions/api/request-body.ts';

const mebibyte = 1024 * 1024;

function post(body: BodyInit | null): Request {
  return new Request('http://127.0.0.1/', Object.assign({ method: 'POST', body }, { duplex: 'half' }));
}

/** A body in pieces; `pulled` counts those that were asked for. */
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

async function readBytes(request: Request): Promise<Uint8Array | null> {
  const body = await readBody(request);
  return body === null ? null : new Uint8Array(await new Response(new Uint8Array(body)).arrayBuffer());
}

test('a request without a body has no bytes', async () => {
  expect(await readBytes(new Request('http://127.0.0.1/'))).toEqual(new Uint8Array());
  expect(await readBytes(post(''))).toEqual(new Uint8Array());
});

test('bytes come out as they went in, byte-order mark and all', async () => {
  const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0xff, 0x00, 0x7b]);
  expect(await readBytes(post(bytes))).toEqual(bytes);
});

test('pieces are joined in their order', async () => {
  const { stream } = pieces(3, 2);
  expect(await readBytes(post(stream))).toEqual(new Uint8Array([1, 1, 2, 2, 3, 3]));
});

test('1 MiB is read, a byte more is null', async () => {
  expect((await readBytes(post(new Uint8Array(mebibyte))))?.length).toBe(mebibyte);
  expect(await readBytes(post(new Uint8Array(mebibyte + 1)))).toBeNull();
});

test('1 MiB in pieces is read, a piece more is null', async () => {
  expect((await readBytes(post(pieces(16, 65536).stream)))?.length).toBe(mebibyte);
  expect(await readBytes(post(pieces(17, 65536).stream))).toBeNull();
});

test('a body without end is left after a few MiB', async () => {
  const { stream, state } = pieces(Infinity, mebibyte);
  expect(await readBytes(post(stream))).toBeNull();
  expect(state.pulled).toBeLessThan(12);
});

test('a sender who breaks off is an error, not a short body', async () => {
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.error(new Error('gone'));
    },
  });
  await expect(readBody(post(stream))).rejects.toThrow('gone');
});
