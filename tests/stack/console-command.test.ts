import { expect, test } from 'vitest';
import { readLines } from '../../scripts/stack/process/read-lines.ts';
import { root } from '../../scripts/stack/root.ts';
import { useConsole } from './console-rig.ts';

const support = useConsole();

/** Runs `npm run console`. Its output is complete when it has ended. */
function run(args: string[], env: Record<string, string>) {
  const npm = new Deno.Command('npm', {
    args: ['run', '--silent', 'console', '--', ...args],
    ...{ cwd: root, env, stdin: 'null', stdout: 'piped', stderr: 'piped' },
  }).spawn();
  const stdout: string[] = [];
  const stderr: string[] = [];
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  const read = Promise.all([
    readLines(npm.stdout, (line) => {
      stdout.push(line);
      if (line === 'ready') resolve();
    }),
    readLines(npm.stderr, (line) => stderr.push(line)),
  ]);
  const ended = npm.status.then(async ({ code }) => {
    await read;
    resolve();
    return code;
  });
  return { stdout, stderr, ready, ended, stop: () => npm.kill('SIGTERM') };
}

test('npm run console serves the database of SUPPORT_DB_URL, and ends with SIGTERM', async () => {
  const command = run([], { SUPPORT_DB_URL: support.supportUrl });
  await command.ready;
  const [, url = ''] =
    /^CONSOLE_URL="(http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{48})"$/.exec(command.stdout[0] ?? '') ?? [];
  const entered = await fetch(url, { redirect: 'manual' });
  await entered.body?.cancel();
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  const answer = await fetch(new URL('/api/tiers', url), { headers: { cookie } });
  expect([entered.status, await answer.json()]).toEqual([303, ['basic', 'pro', 'premium']]);
  command.stop();
  await command.ended;
  expect(command.stdout).toEqual([`CONSOLE_URL="${url}"`, 'ready']);
});

test('a wrong password ends the command with 1, and is not shown', async () => {
  const url = new URL(support.supportUrl);
  url.password = '';
  const command = run(['--db-url', url.href], { SUPPORT_DB_PASSWORD: 'not-the-password' });
  expect(await command.ended).toBe(1);
  expect(command.stderr.join('\n')).toContain('the login is refused (28P01)');
  expect(command.stderr.join('\n')).not.toContain('not-the-password');
});

test.each([['--prot 1'], ['--port http'], ['--db-url postgresql://asha:s3cret@127.0.0.1/postgres']])(
  'npm run console -- %s ends at once, without a secret in its output',
  async (options) => {
    const command = run(options.split(' '), {});
    expect(await command.ended).toBeGreaterThan(0);
    expect(command.stderr.join('\n')).not.toContain('s3cret');
    expect(command.stdout).toEqual([]);
  },
);
