import { z } from 'zod';
import type { Context } from './context.ts';
import { callGateway } from './gateway-api.ts';
import { handledEvents } from './handled-events.ts';
import { field } from './request.ts';

const list = z.object({
  items: z.array(z.looseObject({
    id: z.string(),
    url: z.string(),
    active: z.union([z.boolean(), z.number()]).optional(),
    disabled_at: z.number().nullish(),
    /** A list of names, or an object of names and flags. */
    events: z.union([z.array(z.string()), z.record(z.string(), z.unknown())]).optional(),
  })),
});

/** A registered webhook endpoint of the gateway. */
export type Endpoint = {
  readonly id: string;
  readonly url: string;
  readonly active: boolean;
  /** The names of the enabled events. */
  readonly events: readonly string[];
};

const pageSize = 10;
const maxPages = 10;

/** The endpoints of the account. The gateway's public documentation lacks this call, so a refusal is not a failure. */
export async function listEndpoints(
  context: Context,
): Promise<{ readonly endpoints: Endpoint[] } | { readonly refusal: number }> {
  const endpoints: Endpoint[] = [];
  for (let page = 0; page < maxPages; page += 1) {
    const { status, body } = await callGateway(
      context,
      'GET',
      `/webhooks?count=${pageSize}&skip=${page * pageSize}`,
    );
    const parsed = list.safeParse(body);
    if (status !== 200 || !parsed.success) return { refusal: status };
    endpoints.push(...parsed.data.items.map(({ id, url, active, disabled_at, events = [] }) => ({
      id,
      url,
      active: Boolean(active ?? true) && !disabled_at,
      events: Array.isArray(events) ? events : Object.keys(events).filter((name) => isOn(events[name])),
    })));
    if (parsed.data.items.length < pageSize) break;
  }
  return { endpoints };
}

/**
 * Registers the endpoint, or enables the existing one and adds the missing events to it.
 * @throws Error with the status when the gateway refuses, or without the secret.
 */
export async function registerEndpoint(context: Context, url: string, present: Endpoint | undefined): Promise<void> {
  const secret = context.environment.GATEWAY_WEBHOOK_SECRET;
  if (!secret) throw new Error('GATEWAY_WEBHOOK_SECRET not given');
  const events = Object.fromEntries([...present?.events ?? [], ...handledEvents].map((event) => [event, true]));
  const { status, body } = await callGateway(
    context,
    present === undefined ? 'POST' : 'PUT',
    present === undefined ? '/webhooks' : `/webhooks/${encodeURIComponent(present.id)}`,
    { url, active: true, secret, events },
  );
  if (status >= 200 && status < 300) return;
  const description = field(body, 'error', 'description');
  throw new Error(`the gateway refuses it: ${status}${typeof description === 'string' ? ` ${description}` : ''}`);
}

function isOn(value: unknown): boolean {
  return value === true || value === 1 || value === '1';
}
