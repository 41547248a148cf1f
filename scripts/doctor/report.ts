import type { Mask } from './mask.ts';
import type { Result } from './run-checks.ts';

/** One line: status, check, message, and after the arrow the remedy. */
export function resultLine({ check, status, message, remedy }: Result, mask: Mask): string {
  const text = remedy === undefined ? message : `${message} -> ${remedy}`;
  return `${status}  ${check.padEnd(19)}  ${oneLine(mask(text))}`;
}

/** All results as a JSON array of `{check, status, message, remedy?}`. */
export function resultsJson(results: readonly Result[], mask: Mask): string {
  const shown = results.map(({ check, status, message, remedy }) => ({
    check,
    status,
    message: mask(message),
    ...(remedy !== undefined && { remedy: mask(remedy) }),
  }));
  return JSON.stringify(shown, null, 2);
}

/** The number of checks for each status. */
export function summaryLine(results: readonly Result[]): string {
  const counts = Map.groupBy(results, ({ status }) => status);
  return (['pass', 'warn', 'fail', 'skip'] as const)
    .flatMap((status) => counts.has(status) ? [`${counts.get(status)?.length} ${status}`] : [])
    .join(', ');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}
