import { writeLine } from '../stack/process/child.ts';

/** Shows how far the work is. */
export type Progress = { step(): void; end(): void };

const width = 30;

/** A bar on stderr where it is a terminal, at most ten times a second. @param total how many steps there will be */
export function showProgress(total: number, isTerminal = Deno.stderr.isTerminal()): Progress {
  if (!isTerminal) return { step() {}, end() {} };
  let done = 0;
  let shownAt = 0;
  const show = () => {
    shownAt = Date.now();
    const part = total === 0 ? 1 : Math.min(1, done / total);
    const bar = '#'.repeat(Math.round(part * width)).padEnd(width, '.');
    Deno.stderr.writeSync(new TextEncoder().encode(`\r[${bar}] ${Math.floor(part * 100)} %`));
  };
  return {
    step() {
      done += 1;
      if (Date.now() - shownAt > 100) show();
    },
    end() {
      done = total;
      show();
      writeLine('');
    },
  };
}
