/** Sends one request and checks its answer. @throws when the answer is wrong */
export type Shot = () => Promise<void>;

/** Times of single requests and of all of them together, in milliseconds. */
export type Measurement = { readonly times: readonly number[]; readonly elapsed: number };

/**
 * Fires shots from several shooters in parallel, each one after the other, until the time is over or no shot is left.
 * @param next returns the next shot of a shooter, or undefined when none is left
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

/** The time below which a share (0 to 1) of all times lies. */
export function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? NaN;
}
