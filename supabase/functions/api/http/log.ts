/** One JSON object a line. Callers pass no secret, token, signature or address. */
export type Log = (entry: Readonly<Record<string, unknown>>) => void;

/** Logs to the console, which the platform collects: each call is one event there. */
export const consoleLog: Log = (entry) => {
  writeLine(JSON.stringify(entry));
};

/** Writes a line to the console. */
export function writeLine(line: string): void {
  // deno-lint-ignore no-console
  console.log(line);
}

/** Lines of a busy moment are written together: one write costs more than all else that a request does in here. */
const togetherMilliseconds = 10;

/** Logs to a console that is a pipe or a terminal, where lines are told apart by their ends; faults at once. */
export function createBufferedLog(write: (text: string) => void): Log {
  let lines: string[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    write(lines.join('\n'));
    lines = [];
  }

  return (entry) => {
    lines.push(JSON.stringify(entry));
    if (entry.level === 'error') flush();
    else timer ??= setTimeout(flush, togetherMilliseconds);
  };
}
