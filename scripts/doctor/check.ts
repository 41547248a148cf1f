import type { Context } from './context.ts';

/** `skip`: the check has no meaning here, or lacks an input that was not given. */
export type Status = 'pass' | 'warn' | 'fail' | 'skip';

/** A repair that a check proposes and `--fix` applies. */
export type Fix = {
  /** What it changes, without secrets; shown before it happens. */
  readonly title: string;
  /** Applies the change. @throws Error saying why it was not possible. */
  apply(context: Context): Promise<void>;
};

/** One thing that a check found. */
export type Outcome = {
  readonly status: Status;
  /** What is so. */
  readonly message: string;
  /** What to do about it. */
  readonly remedy?: string;
  readonly fix?: Fix;
};

/** What a check reads. Without one of them it is skipped, and the report says which one was not given. */
export type Need = 'access token' | 'database' | 'gateway key';

/** One check: it reads and changes nothing. */
export type Check = {
  readonly name: string;
  readonly needs?: readonly Need[];
  /** The checks after it are skipped when it fails: they would only repeat it. */
  readonly isGate?: boolean;
  /** @returns everything found, at least one outcome; the report joins them to one line. */
  run(context: Context): Promise<Outcome[]>;
};

/** Nothing to do. */
export function pass(message: string): Outcome {
  return { status: 'pass', message };
}

/** It works, but needs attention, or the rights to look are missing. */
export function warn(message: string, remedy: string, fix?: Fix): Outcome {
  return { status: 'warn', message, remedy, ...(fix && { fix }) };
}

/** It does not work. */
export function fail(message: string, remedy: string, fix?: Fix): Outcome {
  return { status: 'fail', message, remedy, ...(fix && { fix }) };
}

/** Not checked, with the reason. */
export function skip(reason: string): Outcome {
  return { status: 'skip', message: reason };
}
