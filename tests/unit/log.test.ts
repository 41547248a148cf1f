import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createBufferedLog, type Log } from '../../supabase/functions/api/http/log.ts';

let written: string[];
let log: Log;
beforeEach(() => {
  vi.useFakeTimers();
  written = [];
  log = createBufferedLog((text) => written.push(text));
});
afterEach(() => {
  vi.useRealTimers();
});

test('lines are written together, in their order, 10 ms after the first', () => {
  log({ level: 'info', event: 'one' });
  vi.advanceTimersByTime(9);
  log({ level: 'info', event: 'two' });
  expect(written).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(written).toEqual(['{"level":"info","event":"one"}\n{"level":"info","event":"two"}']);
});

test('a fault is written at once, after the earlier lines, and no line twice', () => {
  log({ level: 'info', event: 'one' });
  log({ level: 'error', event: 'fault' });
  expect(written).toEqual(['{"level":"info","event":"one"}\n{"level":"error","event":"fault"}']);
  vi.advanceTimersByTime(1000);
  expect(written).toHaveLength(1);
  log({ level: 'info', event: 'two' });
  vi.advanceTimersByTime(10);
  expect(written).toHaveLength(2);
});
