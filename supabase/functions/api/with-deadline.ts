/** Less than the 5 s after which the gateway gives a delivery up. */
const deadlineMilliseconds = 4500;

/** Waits for work, but no longer than a caller does. @throws Error when the time is over; the work itself goes on. */
export function withDeadline<T>(work: Promise<T>, milliseconds: number = deadlineMilliseconds): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = startTimer(milliseconds, reject);
    work.finally(stop).then(resolve, reject);
  });
}

/**
 * The runtime chains its timers, also those that were stopped: whatever one of them holds is held by all that come after it,
 * until the next full collection. So this one lets go of its caller, and with it of the work's result, when it is stopped.
 */
function startTimer(milliseconds: number, reject: (reason: unknown) => void): () => void {
  let caller: typeof reject | undefined = reject;
  const timer = setTimeout(() => caller?.(new DOMException('Deadline exceeded', 'TimeoutError')), milliseconds);
  return () => {
    clearTimeout(timer);
    caller = undefined;
  };
}
