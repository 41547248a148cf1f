/** Less than the 5 s after which the gateway gives a delivery up. */
export const deadlineMilliseconds = 4500;

/** Waits for work, but no longer than a caller does. @throws Error when the time is over; the work itself goes on. */
export function withDeadline<T>(work: Promise<T>, milliseconds: number = deadlineMilliseconds): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = releasableTimer(milliseconds, () => reject(new DOMException('Deadline exceeded', 'TimeoutError')));
    work.finally(stop).then(resolve, reject);
  });
}

/**
 * Calls back after a time, unless it is stopped. The runtime chains its timers, also those that were stopped: whatever one
 * of them holds is held by all that come after it, until the next full collection. So this one lets go of its callback,
 * and with it of the work's result, when it is stopped. @returns what stops it
 */
export function releasableTimer(milliseconds: number, call: () => void): () => void {
  let callback: typeof call | undefined = call;
  const timer = setTimeout(() => callback?.(), milliseconds);
  return () => {
    clearTimeout(timer);
    callback = undefined;
  };
}
