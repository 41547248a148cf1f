import { checkAmounts } from './check/amounts.ts';
import { readArguments, refusePositionals } from './command-line.ts';
import { checkDependencies } from './check/dependencies.ts';
import { checkDocuments } from './check/documents.ts';
import { checkEmails } from './check/emails.ts';
import { checkFileLength } from './check/file-length.ts';
import { checkLockTimeouts, checkMigrations, checkSchemaFiles } from './check/migrations.ts';
import { checkOpenapi } from './check/openapi.ts';
import { checkReceiptFonts } from './check/receipt-fonts.ts';
import { checkReleases } from './check/releases.ts';
import { checkRuleMap } from './check/rule-map.ts';
import { checkSchema } from './check/schema.ts';
import { checkSchemaVersion } from './check/schema-version.ts';
import { checkSize } from './check/size.ts';
import { checkVersions } from './check/versions.ts';
import { checkWords } from './check/words.ts';
import { checkPostgresProgram } from './stack/postgres/postgres-program.ts';
import { writeLine } from './stack/process/child.ts';
import { unprivilegedUser } from './stack/process/unprivileged-user.ts';
import { root } from './stack/root.ts';

readArguments(
  `Usage: npm run check
  runs all checks that do not run the service: format, lint, types, sizes, documents, generated files, migrations`,
  {},
  (_, positionals) => refusePositionals(positionals),
);

/** With the packages of `npm ci`. To convert `deno.lock`, today's Deno would ask the registry. */
const functionCheck = [
  ...['check', '--no-lock', '--node-modules-dir=manual'],
  ...['--config', 'supabase/functions/api/deno.json'],
];

/** `npm run check`: all checks that do not run the service. Exit code 1 when one fails. */
const checks: readonly [name: string, check: () => Promise<string[]>][] = [
  ['format', () => deno('fmt', '--check')],
  ['lint', () => deno('lint')],
  ['types of the function', () => deno(...functionCheck, 'supabase/functions/api')],
  ["types of the function on the hosted runtime's Deno", hostedTypes],
  ['types of client, mails, scripts and tests', () => deno('check', 'supabase/client', 'emails', 'scripts', 'tests')],
  ['versions', checkVersions],
  ['hashes and licences of packages', checkDependencies],
  ['size of what is deployed', checkSize],
  ['length of files', checkFileLength],
  ['documents', checkDocuments],
  ['which rule lives where', () => checkRuleMap()],
  ['words', checkWords],
  ['decimals of amounts', checkAmounts],
  ['mails', checkEmails],
  ['fonts of receipts', checkReceiptFonts],
  ['API description', checkOpenapi],
  ['released files', () => checkReleases()],
  ['schema files define each object once', () => checkSchemaFiles()],
  ['migrations make the schema of the schema files', () => checkMigrations()],
  ['migrations limit their wait for locks', () => checkLockTimeouts()],
  ['schema version', () => checkSchemaVersion()],
  ['schema', checkSchema],
];

try {
  await checkPostgresProgram(await unprivilegedUser());
} catch (error) {
  // Before the other checks, which take minutes.
  writeLine(error instanceof Error ? error.message : String(error));
  Deno.exit(1);
}
let failed = false;
for (const [name, check] of checks) {
  const problems = await check();
  failed ||= problems.length > 0;
  writeLine(`${problems.length === 0 ? 'ok    ' : 'FAILED'} ${name}`);
  for (const problem of problems) writeLine(problem);
}
Deno.exit(failed ? 1 : 0);

/** The hosted runtime is an older Deno and lacks newer APIs. */
function hostedTypes(): Promise<string[]> {
  return run(`${root}/node_modules/deno-hosted/deno`, ...functionCheck, 'supabase/functions/api/index.ts');
}

function deno(...args: string[]): Promise<string[]> {
  return run(Deno.execPath(), ...args);
}

async function run(command: string, ...args: string[]): Promise<string[]> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args, cwd: root }).output();
  return success ? [] : [new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)];
}
