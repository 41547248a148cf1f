import { afterEach, expect, test } from 'vitest';
import { readLines } from '../../scripts/stack/process/read-lines.ts';
import { root } from '../../scripts/stack/root.ts';
import { freeBasePort } from '../stack/running-stack.ts';

const port = freeBasePort();
let terminal: Deno.ChildProcess | undefined;
afterEach(async () => {
  await terminal?.stdin.close(); // ends `script`, whose end closes the terminal
  terminal?.kill('SIGTERM');
  await terminal?.status;
});

/** `script` of Linux runs a command in a terminal. */
test.skipIf(Deno.build.os !== 'linux')(
  'npm start at a terminal shows the pages to open, then the values, and no line about a migration',
  async () => {
    const command = `${Deno.execPath()} run -A scripts/start.ts --ephemeral --port ${port}`;
    const piped = { stdin: 'piped', stdout: 'piped', stderr: 'null' } as const;
    terminal = new Deno.Command('script', { args: ['-qec', command, '/dev/null'], cwd: root, ...piped }).spawn();
    const lines: string[] = [];
    const ready = Promise.withResolvers<void>();
    const read = readLines(terminal.stdout, (line) => {
      lines.push(line.trimEnd());
      if (line.trimEnd() === 'ready') ready.resolve();
    });
    await Promise.race([ready.promise, read]);
    const at = (offset: number) => `http://127.0.0.1:${port + offset}`;
    const page = (address: string, name: string) =>
      expect.stringMatching(new RegExp(`^  ${name} +\\S.*  ${RegExp.escape(address)}\\S*$`));
    const first = lines.indexOf('Open in a browser:');
    expect(lines.slice(first, first + 8)).toEqual([
      'Open in a browser:',
      page(at(6), 'shop'),
      page(at(3), 'mailbox'),
      page(at(4), 'gateway'),
      page(at(2), 'Studio'),
      page(`${at(7)}/?token=`, 'console'),
      '',
      `API_URL="${at(0)}"`,
    ]);
    expect(lines.at(-1)).toBe('ready');
    expect(lines.join('\n')).not.toContain('migrat');
  },
);
