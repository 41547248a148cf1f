/** Less than the 5 s after which the gateway gives a delivery up. */
const deadlineMilliseconds = 4500;

/** Waits for work, but no longer than a caller does. @throws Error when the time is over; the work itself goes on. */
export async function withDeadline<T>(work: Promise<T>, milliseconds: number = deadlineMilliseconds): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new DOMException('Deadline exceeded', 'TimeoutError')),
      milliseconds,
    );
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
