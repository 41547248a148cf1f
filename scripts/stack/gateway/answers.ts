import type { Context, Handler } from 'hono';
import { z } from 'zod';
import { gatewayError, unknownId } from './errors.ts';

/** Answers an entity, or that its id does not exist. */
export function found(c: Context, entity: object | undefined): Response {
  return entity === undefined ? unknownId() : c.json(entity);
}

/** A list in the gateway's format. */
export function collection<Item>(items: Item[]) {
  return { entity: 'collection', count: items.length, items };
}

const pageRequest = z.object({
  count: z.coerce.number().int().min(1).max(100).default(10),
  skip: z.coerce.number().int().min(0).default(0),
});

/** A part of a list: the next `count` items, 10 by default and at most 100, after the first `skip`. */
export function page<Item>(items: Item[], query: Record<string, string>): Item[] | undefined {
  const { success, data } = pageRequest.safeParse(query);
  return success ? items.slice(data.skip, data.skip + data.count) : undefined;
}

const time = z.coerce.number().int().min(0).optional();
const createdRequest = z.object({ from: time, to: time });

/** A part of a list, as `page`, of what was created between `from` and `to`, Unix seconds, both included. */
export function createdBetween<Item extends { created_at: number }>(
  items: Item[],
  query: Record<string, string>,
): Item[] | undefined {
  const { success, data } = createdRequest.safeParse(query);
  if (!success) return undefined;
  const { from = 0, to = Infinity } = data;
  return page(items.filter(({ created_at: at }) => at >= from && at <= to), query);
}

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
