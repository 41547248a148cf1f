import type { z } from 'zod';
import { fail, type Outcome, warn } from './check.ts';
import type { Context } from './context.ts';

/** The answer of the Management API, or the outcome to report instead. */
export type ManagementAnswer<T> = { readonly value: T } | { readonly outcome: Outcome };

/**
 * Reads `/v1/projects/{ref}{path}`. A refused token and an unknown project are failures. Missing rights, a rate limit
 * and an outage are warnings: the project itself may be correct.
 */
export async function readManagementApi<T>(
  context: Context,
  path: string,
  schema: z.ZodType<T>,
): Promise<ManagementAnswer<T>> {
  const { status, body } = await context.request(`${context.managementUrl}/v1/projects/${context.ref}${path}`, {
    headers: { authorization: `Bearer ${context.accessToken}` },
  });
  if (status === 200) {
    const parsed = schema.safeParse(body);
    if (parsed.success) return { value: parsed.data };
    return refusal(warn(`the Management API answers ${path} in another form than documented`, byHand));
  }
  if (status === 401) {
    return refusal(
      fail('SUPABASE_ACCESS_TOKEN is refused', `Set a new token. ${howToGetToken}`),
    );
  }
  if (status === 403) {
    return refusal(warn(`the access token has no right to read ${path}`, `Use a token with more rights. ${byHand}`));
  }
  if (status === 404 && path === '/functions') {
    return refusal(fail(`the Management API has no project ${context.ref}`, 'Check --project-ref and the token.'));
  }
  if (status === 429) return refusal(warn('the Management API limits calls', 'Run the doctor again in a minute.'));
  return refusal(warn(`the Management API answers ${path} with ${status}`, byHand));
}

const byHand = 'Check it in the dashboard.';

/** Where a token for the Management API is. */
export const howToGetToken = 'Create SUPABASE_ACCESS_TOKEN in the dashboard under Access Tokens.';

function refusal(outcome: Outcome): { outcome: Outcome } {
  return { outcome };
}
