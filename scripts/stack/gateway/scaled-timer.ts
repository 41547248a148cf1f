/** Pauses in the gateway's time, which may run faster than ours. */
export type ScaledTimer = {
  /** So many times faster than the real one; what is waiting now follows a change. */
  scale: number;
  /** Resolves after so many milliseconds of the gateway's time, at the signal, or when hurried. */
  pause(ms: number, signal: AbortSignal, name: string): Promise<void>;
  /** Ends the pauses of that name now, or all, and tells how many. */
  hurry(name?: string): number;
};

type Waiting = { name: string; plan(): void; end(): void };

/** Keeps the pauses; `scale` 1 is the real gateway's time. */
export function createScaledTimer(scale: number): ScaledTimer {
  const waiting = new Set<Waiting>();
  let current = scale;

  return {
    get scale() {
      return current;
    },
    set scale(next) {
      current = next;
      waiting.forEach(({ plan }) => plan());
    },
    pause(ms, signal, name) {
      if (ms === 0 || signal.aborted) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      let [left, since, speed] = [ms, performance.now(), current];
      let timer: ReturnType<typeof setTimeout> | undefined;
      const own: Waiting = {
        name,
        plan() {
          left -= (performance.now() - since) * speed;
          [since, speed] = [performance.now(), current];
          clearTimeout(timer);
          timer = setTimeout(own.end, Math.max(0, left / speed));
        },
        end() {
          clearTimeout(timer);
          signal.removeEventListener('abort', own.end);
          waiting.delete(own);
          resolve();
        },
      };
      waiting.add(own);
      signal.addEventListener('abort', own.end);
      own.plan();
      return promise;
    },
    hurry(name) {
      const chosen = [...waiting].filter((one) => name === undefined || one.name === name);
      chosen.forEach(({ end }) => end());
      return chosen.length;
    },
  };
}
