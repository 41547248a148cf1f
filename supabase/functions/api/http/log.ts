/** Writes one JSON object a line. Callers must not pass a secret, token, signature or address. */
export type Log = (entry: Readonly<Record<string, unknown>>) => void;

/** Logs to the console. The platform records each call as one event. */
export const consoleLog: Log = (entry) => {
  writeLine(JSON.stringify(entry));
};

export function writeLine(line: string): void {
  // deno-lint-ignore no-console
  console.log(line);
}

/** One write per line would cost more than the rest of a request. */
const bufferMilliseconds = 10;

/** Logs to a pipe or a terminal, several lines in one write. Errors are written at once. */
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
    else timer ??= setTimeout(flush, bufferMilliseconds);
  };
}
