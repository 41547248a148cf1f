import type { Reading } from '../ports.ts';

/** What a reading found; null: the gateway does not know it. Check before that there was an answer. */
export function valueOf<T>(reading: Reading<T>): T | null {
  return reading.status === 'found' ? reading.value : null;
}
