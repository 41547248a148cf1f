import type { Fix } from './check.ts';
import { withContext } from './context.ts';
import type { Project } from './project.ts';
import type { Result } from './run-checks.ts';

/** A fix that a check proposed. */
export type Proposal = { readonly check: string; readonly fix: Fix };

/** Longer than for a check: creating an extension is slow. */
const deadlineMilliseconds = 30_000;

/** @returns the proposed fixes of these results, without duplicates. */
export function proposals(results: readonly Result[]): Proposal[] {
  const all = results.flatMap(({ check, outcomes }) => outcomes.flatMap(({ fix }) => fix ? [{ check, fix }] : []));
  return all.filter(({ fix }, index) => all.findIndex((other) => other.fix.title === fix.title) === index);
}

/** Applies fixes one after the other. @returns one line for each that failed. */
export async function applyFixes(project: Project, fixes: readonly Proposal[]): Promise<string[]> {
  const failures: string[] = [];
  for (const { fix } of fixes) {
    try {
      await withContext(project, deadlineMilliseconds, (context) => fix.apply(context));
    } catch (error) {
      failures.push(`${fix.title}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return failures;
}
