/** A wrong version of the product: one text of one file is replaced. Some test must fail then. */
export type Mutation = {
  /** What is broken, as a claim about the wrong product. */
  readonly breaks: string;
  /** The section of the contract or the row of a rule in supabase/README.md. */
  readonly rule: string;
  /** Below `supabase/`: `schemas/…` or `functions/api/…`. */
  readonly file: string;
  /** Stands once in the file. */
  readonly text: string;
  readonly by: string;
  /** The tests that could see it, as `npm test` selects files: parts of paths. */
  readonly tests: readonly string[];
  /** A rule about money or access, which two tests must see. */
  readonly isMoney: boolean;
};
