import { afterAll, beforeAll, expect, test } from 'vitest';
import { mutations } from '../mutations/list.ts';
import { createScratch, hasEnough, type Scratch } from '../mutations/run-mutation.ts';

let scratch: Scratch;
beforeAll(async () => {
  scratch = await createScratch();
});
afterAll(() => scratch.remove());

// `npm run mutations` runs all. Each day has another sample.
const day = Math.floor(Date.now() / 86_400_000);
const size = 10;
const step = Math.floor(mutations.length / size);
const sample = mutations.filter((_, index) => index % step === day % step).slice(0, size);

test.each(sample)('$file, in which $breaks, fails enough tests', async (mutation) => {
  const outcome = await scratch.run(mutation);
  expect(hasEnough(mutation, outcome.killers) || outcome).toBe(true);
});
