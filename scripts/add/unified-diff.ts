/** How many lines around a difference are shown. */
const context = 3;
/** Lines of a diff that are printed. The rest is counted. */
const most = 200;
/** Above so many pairs of lines, all lines between the first and the last difference count as replaced. */
const mostPairs = 4_000_000;

type Line = { readonly mark: ' ' | '-' | '+'; readonly text: string };

/** The difference between two texts, as `diff -u` prints it; an undefined one does not exist. */
export function unifiedDiff(path: string, before: string | undefined, after: string | undefined): string {
  const lines = compare(linesOf(before), linesOf(after));
  const printed = hunks(lines);
  const rest = printed.length - most;
  return [
    `--- ${before === undefined ? '/dev/null' : `a/${path}`}`,
    `+++ ${after === undefined ? '/dev/null' : `b/${path}`}`,
    ...printed.slice(0, most),
    ...(rest > 0 ? [`... ${rest} more lines`] : []),
  ].join('\n');
}

function linesOf(text = ''): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function compare(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (end < shorter && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const mark = (mark: Line['mark'], texts: readonly string[]): Line[] => texts.map((text) => ({ mark, text }));
  return [
    ...mark(' ', before.slice(0, start)),
    ...compareMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end), mark),
    ...mark(' ', before.slice(before.length - end)),
  ];
}

/** By the longest common subsequence. */
function compareMiddle(
  before: readonly string[],
  after: readonly string[],
  mark: (mark: Line['mark'], texts: readonly string[]) => Line[],
): Line[] {
  const width = after.length + 1;
  if (before.length * after.length > mostPairs) return [...mark('-', before), ...mark('+', after)];
  const common = new Uint32Array((before.length + 1) * width);
  const at = (one: number, other: number) => common[one * width + other] ?? 0;
  for (let one = before.length - 1; one >= 0; one -= 1) {
    for (let other = after.length - 1; other >= 0; other -= 1) {
      common[one * width + other] = before[one] === after[other]
        ? at(one + 1, other + 1) + 1
        : Math.max(at(one + 1, other), at(one, other + 1));
    }
  }
  const lines: Line[] = [];
  let [one, other] = [0, 0];
  while (one < before.length || other < after.length) {
    if (one < before.length && other < after.length && before[one] === after[other]) {
      lines.push({ mark: ' ', text: before[one] ?? '' });
      [one, other] = [one + 1, other + 1];
    } else if (other === after.length || one < before.length && at(one + 1, other) >= at(one, other + 1)) {
      lines.push({ mark: '-', text: before[one] ?? '' });
      one += 1;
    } else {
      lines.push({ mark: '+', text: after[other] ?? '' });
      other += 1;
    }
  }
  return lines;
}

function hunks(lines: readonly Line[]): string[] {
  const changed = lines.flatMap(({ mark }, index) => mark === ' ' ? [] : [index]);
  const ranges: [from: number, to: number][] = [];
  for (const index of changed) {
    const last = ranges.at(-1);
    const [from, to] = [Math.max(index - context, 0), Math.min(index + context + 1, lines.length)];
    if (last !== undefined && from <= last[1]) last[1] = to;
    else ranges.push([from, to]);
  }
  return ranges.flatMap(([from, to]) => {
    const range = (other: Line['mark']) => {
      const count = (part: readonly Line[]) => part.filter(({ mark }) => mark !== other).length;
      const length = count(lines.slice(from, to));
      return `${count(lines.slice(0, from)) + (length === 0 ? 0 : 1)},${length}`;
    };
    const body = lines.slice(from, to).map(({ mark, text }) => mark + text);
    return [`@@ -${range('+')} +${range('-')} @@`, ...body];
  });
}
