/** One request and the look at its answer. @throws when the answer is not the one that it must be. */
export type Shot = () => Promise<void>;

/** Times of single requests, in milliseconds, and how long all of them took together. */
export type Measurement = { readonly times: readonly number[]; readonly elapsed: number };

/**
 * Fires shots from so many shooters at once, each one after the other, until the time is over or no shot is left.
 * @param next the shot of a shooter; undefined: none is left
 */
export async function fire(
  shooters: number,
  milliseconds: number,
  next: (shooter: number) => Shot | undefined,
): Promise<Measurement> {
  const times: number[] = [];
  const started = performance.now();
  const until = started + milliseconds;
  await Promise.all(Array.from({ length: shooters }, async (_, shooter) => {
    for (let begun = performance.now(); begun < until;) {
      const shot = next(shooter);
      if (shot === undefined) return;
      await shot();
      const ended = performance.now();
      times.push(ended - begun);
      begun = ended;
    }
  }));
  return { times, elapsed: performance.now() - started };
}

/** Of all the times, the one that so many (0 to 1) are below. */
export function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? NaN;
}
