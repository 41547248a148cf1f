/** Pauses in the gateway's time, which may be faster than real time. */
export type ScaledTimer = {
  /** How many times faster than real time. A change affects running pauses, too. */
  scale: number;
  /** Resolves after some milliseconds of the gateway's time, when the signal aborts, or at `skip`. */
  pause(ms: number, signal: AbortSignal, name: string): Promise<void>;
  /** Ends the pauses with a name, or all, now. @returns how many */
  skip(name?: string): number;
};

type Waiting = { name: string; plan(): void; end(): void };

/** @param scale 1 is real time */
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
    skip(name) {
      const chosen = [...waiting].filter((one) => name === undefined || one.name === name);
      chosen.forEach(({ end }) => end());
      return chosen.length;
    },
  };
}
