/** Less than the gateway's timeout of 5 s for a delivery. */
export const deadlineMilliseconds = 4500;

/** Waits for work until a deadline. The work is not cancelled. @throws DOMException TimeoutError at the deadline */
export function withDeadline<T>(work: Promise<T>, milliseconds: number = deadlineMilliseconds): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = releasableTimer(milliseconds, () => reject(new DOMException('Deadline exceeded', 'TimeoutError')));
    work.finally(stop).then(resolve, reject);
  });
}

/**
 * A timer that frees its callback when it is stopped. The runtime links its timers, also the stopped ones, so
 * everything that a callback references stays in memory until the next full garbage collection. @returns a function
 * that stops it
 */
export function releasableTimer(milliseconds: number, call: () => void): () => void {
  let callback: typeof call | undefined = call;
  const timer = setTimeout(() => callback?.(), milliseconds);
  return () => {
    clearTimeout(timer);
    callback = undefined;
  };
}
