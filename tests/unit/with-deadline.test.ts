import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withDeadline } from '../../supabase/functions/api/with-deadline.ts';

// The only timer in question is the deadline's own: nobody waits for it here.
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('work in time gives its result, and no timer is left', async () => {
  expect(await withDeadline(Promise.resolve('done'))).toBe('done');
  expect(vi.getTimerCount()).toBe(0);
});

test('work that fails in time gives its own error, and no timer is left', async () => {
  await expect(withDeadline(Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(vi.getTimerCount()).toBe(0);
});

test('work without end is given up between 4 and 5 s', async () => {
  let error: unknown;
  const waiting = withDeadline(new Promise<never>(() => {})).catch((reason: unknown) => {
    error = reason;
  });
  await vi.advanceTimersByTimeAsync(4100);
  expect(error).toBeUndefined();
  await vi.advanceTimersByTimeAsync(700);
  await waiting;
  expect(error).toMatchObject({ name: 'TimeoutError' });
  expect(vi.getTimerCount()).toBe(0);
});

test('work that fails after it was given up disturbs nobody', async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  const waiting = expect(withDeadline(promise)).rejects.toMatchObject({ name: 'TimeoutError' });
  await vi.advanceTimersByTimeAsync(5000);
  await waiting;
  reject(new Error('late'));
  await vi.advanceTimersByTimeAsync(0);
});
