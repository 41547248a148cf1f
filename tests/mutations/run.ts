import { writeLine } from '../../scripts/stack/process/child.ts';
import { mutations } from './list.ts';
import { hasEnough, kindsOf } from './kinds.ts';
import { createScratch } from './run-mutation.ts';

/**
 * `npm run mutations [-- parts of files, of rules, of what is broken or of tests]`: applies each mutation to a copy of the project,
 * runs the tests that could see it, and prints a row of the table in tests/README.md. Exit code 1 when one is alive, or
 * when only one test sees a rule about money or access.
 */
const parts = Deno.args.length === 0 ? [''] : Deno.args;
const chosen = mutations.filter(({ file, rule, breaks, tests }) =>
  parts.some((part) => [file, rule, breaks, ...tests].join(' ').includes(part))
);
const scratch = await createScratch();
let failed = 0;
try {
  for (const mutation of chosen) {
    const { killers, broken } = await scratch.run(mutation);
    const isDead = hasEnough(mutation, killers);
    if (!isDead) failed++;
    const verdict = killers.length === 0 ? (broken === null ? 'ALIVE' : 'BROKEN') : `${killers.length}`;
    writeLine(`| ${mutation.rule} | ${mutation.breaks} | ${verdict} | ${kindsOf(killers).join(', ')} |`);
    if (broken !== null) writeLine(broken);
    if (!isDead) { for (const killer of killers) writeLine(`  ${killer}`); }
  }
} finally {
  await scratch.remove();
}
writeLine(`${chosen.length} mutations, ${failed} without enough tests`);
Deno.exit(failed > 0 ? 1 : 0);
