import { writeLine } from '../../scripts/stack/process/child.ts';
import { mutations } from './list.ts';
import { createScratch, hasEnough } from './run-mutation.ts';

/**
 * `npm run mutations [-- --list, parts of files, of rules, of what is broken or of tests]`: applies each mutation to a copy of the project,
 * runs the tests that could see it, and prints by how many it was killed. Exit code 1 when one is alive, or
 * when only one test sees a rule about money or access. With `--list` it runs nothing, and prints the rules with what is broken.
 */
const isList = Deno.args.includes('--list');
const given = Deno.args.filter((arg) => arg !== '--list');
const parts = given.length === 0 ? [''] : given;
const chosen = mutations.filter(({ file, rule, breaks, tests }) =>
  parts.some((part) => [file, rule, breaks, ...tests].join(' ').includes(part))
);
if (isList) {
  for (const { rule, breaks } of chosen.toSorted((a, b) => a.rule.localeCompare(b.rule))) {
    writeLine(`${rule}: ${breaks}`);
  }
  writeLine(`${chosen.length} mutations`);
  Deno.exit(0);
}
const scratch = await createScratch();
let failed = 0;
/** For each rule: the mutations, those about money or access, and the fewest tests that killed one. */
const byRule = new Map<string, { count: number; money: number; least: number }>();
try {
  for (const mutation of chosen) {
    const { killers, broken } = await scratch.run(mutation);
    const isDead = hasEnough(mutation, killers);
    if (!isDead) failed++;
    const row = byRule.get(mutation.rule) ?? { count: 0, money: 0, least: Infinity };
    row.count += 1;
    row.money += mutation.isMoney ? 1 : 0;
    row.least = Math.min(row.least, killers.length);
    byRule.set(mutation.rule, row);
    const verdict = killers.length === 0 ? (broken === null ? 'ALIVE' : 'BROKEN') : `${killers.length}`;
    writeLine(`| ${mutation.rule} | ${mutation.breaks} | ${verdict} |`);
    if (broken !== null) writeLine(broken);
    if (!isDead) { for (const killer of killers) writeLine(`  ${killer}`); }
  }
} finally {
  await scratch.remove();
}
writeLine('\n| rule | mutations | about money or access | killed by at least |\n| --- | --- | --- | --- |');
for (const [rule, { count, money, least }] of [...byRule].sort()) {
  writeLine(`| ${rule} | ${count} | ${money} | ${least} |`);
}
writeLine(`${chosen.length} mutations, ${failed} without enough tests`);
Deno.exit(failed > 0 ? 1 : 0);
