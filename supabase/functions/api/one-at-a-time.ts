/** Runs work, never twice at once: a call while it runs makes it run once more, and both get the last run's result. */
export function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  let again = false;

  async function run(): Promise<T> {
    try {
      for (;;) {
        again = false;
        const result = await work();
        if (!again) return result;
      }
    } finally {
      running = null;
    }
  }

  return () => {
    again = true;
    return running ??= run();
  };
}
