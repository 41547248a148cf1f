/**
 * Runs work, never twice at once. A call while it runs is answered by the next run, one for all that come meanwhile: it
 * sees what they want seen, and under steady calls nobody waits for more than two runs.
 */
export function oneAtATime<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  let next: Promise<T> | null = null;

  function start(): Promise<T> {
    const run = work();
    const end = () => {
      if (running === run) running = null;
    };
    run.then(end, end);
    running = run;
    return run;
  }

  function startNext(): Promise<T> {
    next = null;
    return start();
  }

  return () => {
    if (next !== null) return next;
    if (running === null) return start();
    next = running.then(startNext, startNext);
    return next;
  };
}
