import type { Context } from 'hono';
import type { z } from 'zod';
import { gatewayError } from './error.ts';

/** Reads the JSON body of a control, or answers with what is wrong about it first: 400 with the field's path. */
export async function readRequest<Data>(
  c: Context,
  schema: z.ZodType<Data>,
): Promise<{ data: Data } | { response: Response }> {
  const parsed = schema.safeParse(await c.req.json().catch(() => undefined));
  if (parsed.success) return { data: parsed.data };
  const issue = parsed.error.issues[0];
  return { response: gatewayError(issue?.message ?? 'Invalid request', { field: issue?.path.join('.') ?? '' }) };
}
