/** The values that differ between two runs of the sample: random ids, and times of the machine's clock. */
export type UnstableValues = {
  readonly randomIds: ReadonlySet<string>;
  /** Start and end of the run. The sample's own times lie before it. */
  readonly from: Date;
  readonly until: Date;
};

const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)/;
/** The key of a revalidation contains a time of the machine and the number of a transaction. */
const revalidation = /revalidation\/\d+(?:\.\d+)?-\d+/;
const anyValue = new RegExp([id, time, revalidation].map(({ source }) => source).join('|'), 'g');

/**
 * Replaces these values in JSON text: an id by its number of appearance, a time of the machine by `sampleEnd`. The same
 * id gets the same number in every text that the returned functions are called with.
 */
export function createStabilizer(
  { randomIds, from, until }: UnstableValues,
  sampleEnd: string,
): { stabilize: (text: string) => string; blank: (text: string) => string } {
  const numbers = new Map<string, string>();
  const numberOf = (value: string, prefix: string, digits: number) => {
    const known = numbers.get(value) ?? prefix + String(numbers.size + 1).padStart(digits, '0');
    numbers.set(value, known);
    return known;
  };
  const isOfMachine = (value: string) => {
    const at = Date.parse(value);
    return at >= from.getTime() && at <= until.getTime();
  };
  const replace = (text: string, replacement: (value: string) => string) =>
    text.replace(anyValue, (value) => {
      if (randomIds.has(value) || value.startsWith('revalidation/')) return replacement(value);
      return time.test(value) && isOfMachine(value) ? sampleEnd : value;
    });
  return {
    stabilize: (text) =>
      replace(
        text,
        (value) =>
          value.startsWith('revalidation/')
            ? numberOf(value, 'revalidation/sample-', 1)
            : numberOf(value, 'bbbbbbbb-0000-4000-8000-', 12),
      ),
    /** For sorting: without the values that differ. */
    blank: (text) => replace(text, () => ''),
  };
}
