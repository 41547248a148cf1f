/** How often the parent is looked at. */
const intervalMs = 100;

/**
 * Calls a function when the process that started a script of npm ends. npm sends SIGTERM to the shell of the script. A
 * shell that did not replace itself by the script passes no signal on, and ends. Outside of npm it does nothing: a program
 * that was started in the background outlives its shell.
 * @returns what ends the watch
 */
export function onParentEnd(end: () => void): () => void {
  if (Deno.env.get('npm_lifecycle_event') === undefined) return () => {};
  const parent = Deno.ppid;
  const timer = setInterval(() => {
    if (Deno.ppid === parent) return;
    clearInterval(timer);
    end();
  }, intervalMs);
  Deno.unrefTimer(timer);
  return () => clearInterval(timer);
}
