/** Deeper than any real event. The limit protects recursive code from a stack overflow. */
const maxDepth = 64;

class NestedTooDeep extends Error {}

/**
 * Rewrites JSON so that jsonb accepts it: U+0000 and lone surrogates become U+FFFD, numbers beyond a double become
 * null. Contract: "Text that Postgres refuses".
 * @returns the JSON text, or null when it is nested deeper than 64.
 * @throws SyntaxError when the text is not JSON.
 */
export function toStorableJson(text: string): string | null {
  const value: unknown = JSON.parse(text);
  if (isStorable(text)) return text;
  try {
    return JSON.stringify(clean(value, 0));
  } catch (error) {
    if (error instanceof NestedTooDeep) return null;
    throw error;
  }
}

/**
 * Whether JSON can stay as it is: no escape of a code unit and no lone surrogate, no number that may be beyond a double, and
 * too few brackets to be nested too deep. Most bodies are so, and to write them anew costs as much as to parse them.
 */
function isStorable(text: string): boolean {
  return !/\\u|\d{17}|\d[eE]/.test(text) && text.isWellFormed() && (text.match(/[[{]/g)?.length ?? 0) <= maxDepth;
}

function clean(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === maxDepth) throw new NestedTooDeep();
  if (Array.isArray(value)) return value.map((item) => clean(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map((
      [key, item],
    ) => [cleanText(key), clean(item, depth + 1)]),
  );
}

function cleanText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}

/** Whether Postgres can store a text. No stored id can equal one that it can't. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
