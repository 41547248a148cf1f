/** Clock ticks per second on Linux. */
const ticksPerSecond = 100;

/** CPU seconds that a process and its ended children used so far. */
export function cpuSeconds(pid: number): number {
  return ticks(pid) / ticksPerSecond;
}

/** CPU seconds of a process and of all its descendants. */
export function treeCpuSeconds(pid: number): number {
  const children = Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean);
  return cpuSeconds(pid) + children.reduce((sum, child) => sum + cpuSecondsIfThere(Number(child)), 0);
}

/** The peak memory of a process, in megabytes. */
export function peakMegabytes(pid: number): number {
  return kilobytes(pid, 'VmHWM') / 1024;
}

/** The current memory of a process, in megabytes. */
export function residentMegabytes(pid: number): number {
  return kilobytes(pid, 'VmRSS') / 1024;
}

function kilobytes(pid: number, name: string): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? NaN);
}

function ticks(pid: number): number {
  // The name, in parentheses, can contain spaces. The fields after it are numbers: utime, stime, cutime, cstime are 14
  // to 17.
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}

function cpuSecondsIfThere(pid: number): number {
  try {
    return cpuSeconds(pid);
  } catch {
    return 0; // it has ended, and its parent counts it
  }
}
