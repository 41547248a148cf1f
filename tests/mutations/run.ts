import { readArguments } from '../../scripts/command-line.ts';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { mutations } from './list.ts';
import { createScratch, hasEnough } from './run-mutation.ts';

const usage = `Usage: npm run mutations -- [--list] [PART...]
  applies each mutation to a copy of the project, runs the tests that could see it, and prints by how many it was killed
  PART     only those with this part of their file, rule, text or tests; default: all, for an hour
  --list   run nothing: print the rules with what is broken
Exit code 1: one is alive, or only one test sees a rule about money or access.`;

const { isList, chosen } = readArguments(usage, { list: { type: 'boolean', default: false } }, ({ list }, given) => {
  const parts = given.length === 0 ? [''] : given;
  const texts = mutations.map(({ file, rule, breaks, tests }) => [file, rule, breaks, ...tests].join(' '));
  const unknown = parts.find((part) => !texts.some((text) => text.includes(part)));
  if (unknown !== undefined) throw new Error(`No mutation has '${unknown}'`);
  return { isList: list, chosen: mutations.filter((_, n) => parts.some((part) => texts[n]?.includes(part))) };
});
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
