import { fail, type Outcome } from './check.ts';
import type { Project } from './project.ts';

/** The outcome of a successful answer that the function can't have given, such as the page of a proxy. */
export function otherServer({ functionsUrl }: Project, status: number): Outcome {
  return fail(
    `another server than the function answers at ${functionsUrl}/api, with ${status}`,
    'Check that address, SUPABASE_URL, and whether a proxy answers.',
  );
}
