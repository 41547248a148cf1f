import type { Context } from './context.ts';

/** `skip`: the check does not apply, or an input is missing. */
export type Status = 'pass' | 'warn' | 'fail' | 'skip';

/** A change that a check proposes and `--fix` applies. */
export type Fix = {
  /** What the fix changes, without secrets; shown before it is applied. */
  readonly title: string;
  /** @throws Error with the reason when the fix is not possible. */
  apply(context: Context): Promise<void>;
};

/** One result of a check. */
export type Outcome = {
  readonly status: Status;
  readonly message: string;
  /** What the admin can do. */
  readonly remedy?: string;
  readonly fix?: Fix;
};

/** An input of a check. If it is missing, the check is skipped and the report names it. */
export type Need = 'access token' | 'database' | 'gateway key';

/** One check. It changes nothing. */
export type Check = {
  readonly name: string;
  readonly needs?: readonly Need[];
  /** The later checks that are skipped if this one fails: they would fail for the same reason. */
  readonly gateOf?: 'all' | 'database';
  /** @returns at least one outcome; the report joins them into one line. */
  run(context: Context): Promise<Outcome[]>;
};

/** Nothing to do. */
export function pass(message: string): Outcome {
  return { status: 'pass', message };
}

/** It works but needs attention, or it can't be checked because a right is missing. */
export function warn(message: string, remedy: string, fix?: Fix): Outcome {
  return { status: 'warn', message, remedy, ...(fix && { fix }) };
}

/** It does not work. */
export function fail(message: string, remedy: string, fix?: Fix): Outcome {
  return { status: 'fail', message, remedy, ...(fix && { fix }) };
}

/** Not checked; `reason` says why, `remedy` what would allow the check or replaces it. */
export function skip(reason: string, remedy: string): Outcome {
  return { status: 'skip', message: reason, remedy };
}

/** Not checked, because variables of the function are not known here. */
export function notGiven(...names: string[]): Outcome {
  return skip(
    `${names.join(', ')} not given`,
    'Add it to supabase/functions/.env, to the file of --env-file, or to the environment.',
  );
}

/** The remedy of a check that only a hosted project has. */
export const checkHosted = '`npm run doctor -- --project-ref REF` checks it for a hosted project.';
