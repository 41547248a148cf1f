import { expect, test } from 'vitest';
import { oneAtATime } from '../../supabase/functions/api/outbox/dispatcher.ts';

/** Work whose runs end when the test settles them; `runs[n]` is the n-th run. */
function controlled() {
  const runs: PromiseWithResolvers<number>[] = [];
  let running = 0;
  let most = 0;
  const call = oneAtATime(async () => {
    const run = Promise.withResolvers<number>();
    runs.push(run);
    most = Math.max(most, ++running);
    try {
      return await run.promise;
    } finally {
      running -= 1;
    }
  });
  return { call, runs, most: () => most };
}

/** Waits for all settled promises. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

test('a call runs the work at once and returns its result', async () => {
  const { call, runs } = controlled();
  const result = call();
  expect(runs).toHaveLength(1);
  runs[0]?.resolve(7);
  expect(await result).toBe(7);
});

test('consecutive calls each run the work', async () => {
  const { call, runs } = controlled();
  for (const value of [1, 2, 3]) {
    const result = call();
    runs[value - 1]?.resolve(value);
    expect(await result).toBe(value);
  }
  expect(runs).toHaveLength(3);
});

test('calls during a run share one second run, and no two runs overlap', async () => {
  const { call, runs, most } = controlled();
  const results = Promise.all([call(), call(), call(), call()]);
  expect(runs).toHaveLength(1);
  runs[0]?.resolve(1);
  await settle();
  expect(runs).toHaveLength(2);
  runs[1]?.resolve(2);
  expect(await results).toEqual([1, 2, 2, 2]);
  await settle();
  expect(runs).toHaveLength(2);
  expect(most()).toBe(1);
});

test('a call during the second run starts a third one', async () => {
  const { call, runs } = controlled();
  const first = [call(), call()];
  runs[0]?.resolve(1);
  await settle();
  const last = call();
  runs[1]?.resolve(2);
  await settle();
  runs[2]?.resolve(3);
  expect(await Promise.all([...first, last])).toEqual([1, 2, 3]);
  expect(runs).toHaveLength(3);
});

test('under continuous calls the first caller gets the result of the first run', async () => {
  const { call, runs } = controlled();
  const first = call();
  for (let run = 0; run < 3; run++) {
    void call();
    runs[run]?.resolve(run);
    await settle();
  }
  expect(await first).toBe(0);
  runs[3]?.resolve(3);
});

test('a failed run rejects the calls that waited for it, and the next call starts a new run', async () => {
  const { call, runs } = controlled();
  const waiting = Promise.allSettled([call(), call()]);
  runs[0]?.reject(new Error('broken'));
  await settle();
  runs[1]?.resolve(2);
  expect(await waiting).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled', value: 2 }]);
  const after = call();
  runs[2]?.resolve(3);
  expect(await after).toBe(3);
});

test('a call right after a result starts a new run', async () => {
  const { call, runs } = controlled();
  const chained = call().then(() => call());
  runs[0]?.resolve(1);
  await settle();
  runs[1]?.resolve(2);
  expect(await chained).toBe(2);
});
