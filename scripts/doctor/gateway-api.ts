import { z } from 'zod';
import { fail, type Outcome, skip, warn } from './check.ts';
import type { Context } from './context.ts';
import { field, type Reply } from './request.ts';

const payment = z.object({
  id: z.string(),
  status: z.string(),
  order_id: z.string().nullish(),
  created_at: z.number(),
});
const collection = z.object({ items: z.array(payment) });

/** A payment in the gateway's list; `created_at` in Unix seconds. */
export type ListedPayment = z.infer<typeof payment>;

/** The gateway's maximum. */
const pageSize = 100;
const maxPages = 5;

/** Calls the gateway's API, `path` without `/v1`. */
export function callGateway(context: Context, method: string, path: string, body?: unknown): Promise<Reply> {
  const { GATEWAY_API_URL = '', GATEWAY_KEY_ID, GATEWAY_KEY_SECRET } = context.environment;
  const credentials = new TextEncoder().encode(`${GATEWAY_KEY_ID}:${GATEWAY_KEY_SECRET}`);
  return context.request(`${GATEWAY_API_URL.replace(/\/+$/, '')}/v1${path}`, {
    method,
    headers: {
      authorization: `Basic ${btoa(String.fromCharCode(...credentials))}`,
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/**
 * The newest 500 payments that are older than an hour and younger than seven days. Younger ones may be missing in the
 * gateway's lists, or their webhooks may still arrive.
 */
export async function listPayments(context: Context): Promise<{ payments: ListedPayment[] } | { outcome: Outcome }> {
  const now = Math.floor(Date.now() / 1000);
  const [from, to] = [now - 7 * 86_400, now - 3600];
  const payments: ListedPayment[] = [];
  for (let page = 0; page < maxPages; page += 1) {
    const query = `from=${from}&to=${to}&count=${pageSize}&skip=${page * pageSize}`;
    const reply = await callGateway(context, 'GET', `/payments?${query}`);
    const list = collection.safeParse(reply.body);
    if (reply.status !== 200 || !list.success) return { outcome: describeRefusal(context, reply, 'its payments') };
    payments.push(...list.data.items.filter(({ created_at }) => created_at >= from && created_at <= to));
    if (list.data.items.length < pageSize) break;
  }
  return { payments };
}

/** The outcome to report when the gateway refuses a read. */
export function describeRefusal({ hasSimulator }: Context, { status, body }: Reply, what: string): Outcome {
  if (hasSimulator && status === 404) {
    return skip(`the gateway simulator does not show ${what}`, 'Set GATEWAY_API_URL to the gateway, with a test key.');
  }
  if (status === 401) {
    return fail('the gateway refuses the key', 'Set GATEWAY_KEY_ID and GATEWAY_KEY_SECRET of one active key.');
  }
  const description = field(body, 'error', 'description');
  const reason = typeof description === 'string' ? `: ${description}` : '';
  return warn(`the gateway does not show ${what}: ${status}${reason}`, "Check it in the gateway's dashboard.");
}
