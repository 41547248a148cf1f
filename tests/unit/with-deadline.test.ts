import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withDeadline } from '../../supabase/functions/api/http/with-deadline.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('work that ends or fails in time does the same, and no timer is left', async () => {
  expect(await withDeadline(Promise.resolve('done'))).toBe('done');
  await expect(withDeadline(Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(vi.getTimerCount()).toBe(0);
});

test('work that does not end is rejected between 4.1 and 4.8 s; its later failure is not unhandled', async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  let error: unknown;
  const waiting = withDeadline(promise).catch((reason: unknown) => {
    error = reason;
  });
  await vi.advanceTimersByTimeAsync(4100);
  expect(error).toBeUndefined();
  await vi.advanceTimersByTimeAsync(700);
  await waiting;
  expect(error).toMatchObject({ name: 'TimeoutError' });
  expect(vi.getTimerCount()).toBe(0);
  reject(new Error('late'));
  await vi.advanceTimersByTimeAsync(0);
});

test('a stopped timer does not keep the result in memory', async () => {
  const module = new URL('../../supabase/functions/api/http/with-deadline.ts', import.meta.url);
  const script = `
    const { withDeadline } = await import(${JSON.stringify(module.href)});
    const held = [];
    const setTimer = globalThis.setTimeout;
    globalThis.setTimeout = (callback) => held.push(callback);
    async function run() {
      const result = { rows: [] };
      await withDeadline(Promise.resolve(result));
      return new WeakRef(result);
    }
    const reference = await run();
    await new Promise((resolve) => setTimer(resolve));
    gc();
    console.log(JSON.stringify({ timers: held.length, result: reference.deref() ?? null }));
  `;
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ['eval', '--v8-flags=--expose-gc', script] })
    .output();
  expect(JSON.parse(new TextDecoder().decode(stdout))).toEqual({ timers: 1, result: null });
});
