/** `npm test`, `npm run test:apps` or `npm run test:long`; none where files are named, of which those of `apps` run, too. */
export const suite = Deno.env.get('SUITE') ?? '';

/** Whether this is `npm run test:long`, in which some tests of `npm test` run on more data. */
export const isLong = suite === 'long';

/**
 * What random tests draw with, another number each day: a part of a test adds its own number, below ten. A failed test prints
 * it; `SEED=207840 npm test -- …` draws the same on another day.
 */
export const seedOfDay = Number(Deno.env.get('SEED') ?? Math.floor(Date.now() / 86_400_000) * 10);
