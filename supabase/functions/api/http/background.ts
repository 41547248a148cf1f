/**
 * Keeps the isolate alive after the answer until the work ends, where the platform supports it. The work must not
 * reject.
 */
export function runInBackground(work: Promise<void>): void {
  const runtime: unknown = Reflect.get(globalThis, 'EdgeRuntime');
  if (typeof runtime !== 'object' || runtime === null) return;
  const waitUntil: unknown = Reflect.get(runtime, 'waitUntil');
  if (typeof waitUntil === 'function') Reflect.apply(waitUntil, runtime, [work]);
}
