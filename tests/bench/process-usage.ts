/** Clock ticks a second, as Linux has them on every machine of ours. */
const ticksPerSecond = 100;

/** CPU seconds that a process used so far, its ended children included. */
export function cpuSeconds(pid: number): number {
  return ticks(pid) / ticksPerSecond;
}

/** CPU seconds of a process and of all that run under it. */
export function treeCpuSeconds(pid: number): number {
  const children = Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean);
  return cpuSeconds(pid) + children.reduce((sum, child) => sum + cpuSecondsIfThere(Number(child)), 0);
}

/** The most memory that a process ever held, in megabytes. */
export function peakMegabytes(pid: number): number {
  return kilobytes(pid, 'VmHWM') / 1024;
}

/** The memory that a process holds now, in megabytes. */
export function residentMegabytes(pid: number): number {
  return kilobytes(pid, 'VmRSS') / 1024;
}

function kilobytes(pid: number, name: string): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? NaN);
}

function ticks(pid: number): number {
  // The name, in parentheses, may hold anything; what follows is numbers: utime, stime, cutime, cstime are 14 to 17.
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

function cpuSecondsIfThere(pid: number): number {
  try {
    return cpuSeconds(pid);
  } catch {
    return 0; // it ended just now, and its parent counts it
  }
}
