import type { Context, Handler } from 'hono';
import type { z } from 'zod';
import { gatewayError } from './errors.ts';

/**
 * Handles a request with a JSON body: answers its result, or a response as it is. The answer to an invalid body is 400
 * with the path of the first invalid field.
 */
export function control<Data>(schema: z.ZodType<Data>, handle: (data: Data, c: Context) => unknown): Handler {
  return async (c) => {
    const parsed = schema.safeParse(await c.req.json().catch(() => undefined));
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      return gatewayError(issue?.message ?? 'Invalid request', { field: issue?.path.join('.') ?? '' });
    }
    const result = await handle(parsed.data, c);
    return result instanceof Response ? result : Response.json(result);
  };
}
