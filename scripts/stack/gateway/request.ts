import type { Context } from 'hono';
import type { z } from 'zod';
import { gatewayError } from './error.ts';

/** Reads the JSON body of a control. The answer to an invalid one is 400 with the path of the first invalid field. */
export async function readRequest<Data>(
  c: Context,
  schema: z.ZodType<Data>,
): Promise<{ data: Data } | { response: Response }> {
  const parsed = schema.safeParse(await c.req.json().catch(() => undefined));
  if (parsed.success) return { data: parsed.data };
  const issue = parsed.error.issues[0];
  return { response: gatewayError(issue?.message ?? 'Invalid request', { field: issue?.path.join('.') ?? '' }) };
}
