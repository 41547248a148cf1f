import { expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { blocksOf } from '../helpers/documents.ts';

/** The subcommands of the Supabase CLI that the documents use. */
const subcommands = ['link', 'db push', 'secrets set', 'functions deploy', 'functions serve', 'start'];
/** Commands whose own options are not checked. */
const programs = ['curl', 'cp', 'deno', 'sleep'];

const manifest = JSON.parse(await Deno.readTextFile(`${root}/package.json`)) as { scripts: Record<string, string> };

/** What is wrong with a command of a document; undefined: nothing. */
async function problemOf(command: string): Promise<string | undefined> {
  const [, program = '', rest = ''] = /^(?:[A-Z_]+=(?:'[^']*'|\S*)\s+)*(\S*)\s*(.*)$/.exec(command) ?? [];
  if (program === 'npx') {
    const isKnown = subcommands.some((known) => `${rest} `.startsWith(`supabase ${known} `));
    return isKnown ? undefined : `no known subcommand: ${command}`;
  }
  if (program !== 'npm') return program === '' || programs.includes(program) ? undefined : `unknown: ${command}`;
  const [call = '', given = ''] = rest.split(/\s--\s/);
  const [name = ''] = call.replace(/^run (?:--silent )?/, '').split(' ');
  if (name === 'ci') return undefined;
  const source = /scripts\/\S+\.ts|tests\/\S+\.ts/.exec(manifest.scripts[name] ?? '')?.[0];
  if (manifest.scripts[name] === undefined) return `no script ${name}: ${command}`;
  // Vitest knows the options of the tests.
  if (source === undefined || source === 'tests/run.ts') return undefined;
  const code = await Deno.readTextFile(`${root}/${source}`);
  const unknown = (given.match(/(?<=^|\s)--[a-z-]+/g) ?? []).filter((option) =>
    option !== '--help' && !code.includes(option.slice(2))
  );
  return unknown.length === 0 ? undefined : `${source} does not know ${unknown.join(', ')}`;
}

/** The commands of a block: without comments, continued lines joined, `&&` and assignments split. */
function commandsOf(code: string): string[] {
  const lines = code.replaceAll('\\\n', ' ').split('\n').map((line) => line.replace(/(?:^|\s)#(?: .*|$)/, '').trim());
  return lines.flatMap((line) => line.split(/\s&&\s/)).filter((line) => line !== '');
}

test('each command of the documents exists, with its options, or says why it is not checked', async () => {
  const commands = (await blocksOf('sh')).filter(({ mark }) => mark === undefined)
    .flatMap(({ document, code }) => commandsOf(code).map((command) => ({ document, command })));
  const problems = commands.map(async ({ document, command }) => {
    const problem = await problemOf(command);
    return problem === undefined ? [] : [`${document}: ${problem}`];
  });
  expect((await Promise.all(problems)).flat()).toEqual([]);
});

test.each([
  ['npm run no-such-script', 'no script no-such-script: npm run no-such-script'],
  ['npm run doctor -- --no-such-option', 'scripts/doctor.ts does not know --no-such-option'],
  ['npx supabase no-such-command', 'no known subcommand: npx supabase no-such-command'],
  ['PORT=1 no-such-program --port 1', 'unknown: PORT=1 no-such-program --port 1'],
  ['NAME=value npm start -- --port 56000', undefined],
])('of the command %s is found: %s', async (command, problem) => {
  expect(await problemOf(command)).toBe(problem);
});
