/**
 * Repeats an action until it returns true.
 *
 * @throws Error that names what it waited for, after that many tries
 */
export async function repeatUntil(
  what: string,
  tries: number,
  action: () => boolean | Promise<boolean>,
): Promise<void> {
  for (let count = 0; count < tries; count++) if (await action()) return;
  throw new Error(`${what}: not after ${tries} tries`);
}
