import { type Call, type FakeServer, startFake, type Tls } from './fake-server.ts';

/** A webhook endpoint as the account stores it. */
export type StoredEndpoint = {
  id: string;
  url: string;
  active: boolean;
  disabled_at: number;
  events: Record<string, boolean>;
  secret?: string;
};

/** The state of the fake account. Tests change it. */
export type GatewayAccount = {
  keyId: string;
  keySecret: string;
  /** False: the account has no subscriptions. */
  hasPlans: boolean;
  plans: Record<string, unknown>[];
  /** Newest first, as the gateway lists them. */
  payments: { id: string; status: string; order_id: string | null; created_at: number }[];
  /** `refused`: merchant keys may not list the endpoints. */
  endpoints: StoredEndpoint[] | 'refused';
  /** False: merchant keys may list the endpoints but not change them. */
  mayChangeEndpoints: boolean;
};

export const emptyAccount = (): GatewayAccount => ({
  keyId: 'rzp_live_AbCdEfGhIjKlMn',
  keySecret: 'the-key-secret',
  hasPlans: true,
  plans: [],
  payments: [],
  endpoints: [],
  mayChangeEndpoints: true,
});

/** A plan entity, with the fields of the gateway's documentation that matter. */
export function documentedPlan(
  id: string,
  { period = 'monthly', interval = 1, amount = 4900, currency = 'INR' } = {},
): Record<string, unknown> {
  return { id, entity: 'plan', interval, period, item: { active: true, amount, unit_amount: amount, currency } };
}

/** A fake of the gateway's API, by its documentation; its list of endpoints, as the gateway's plugins use it. */
export function startGateway(account: GatewayAccount, tls?: Tls): FakeServer {
  return startFake((call) => {
    const { method, path, query, headers } = call;
    const credentials = btoa(`${account.keyId}:${account.keySecret}`);
    if (headers.get('authorization') !== `Basic ${credentials}`) return refuse(401, 'Authentication failed');
    if (method === 'GET' && path === '/v1/payments') {
      const [from, to] = [Number(query.get('from') ?? 0), Number(query.get('to') ?? Infinity)];
      return list(account.payments.filter(({ created_at }) => created_at >= from && created_at <= to), query);
    }
    const planId = /^\/v1\/plans\/(\w+)$/.exec(path)?.[1];
    if (planId !== undefined) {
      if (!account.hasPlans) return refuse(400, 'The requested URL was not found on the server.');
      const plan = account.plans.find(({ id }) => id === planId);
      return plan === undefined ? refuse(400, 'The id provided does not exist') : Response.json(plan);
    }
    if (/^\/v1\/webhooks(\/|$)/.test(path)) return endpoints(account, call);
    return refuse(404, 'The requested URL was not found on the server.');
  }, tls);
}

function endpoints(account: GatewayAccount, { method, path, query, text }: Call): Response {
  if (account.endpoints === 'refused') return refuse(400, 'The requested URL was not found on the server.');
  if (method === 'GET') return list(account.endpoints.map(({ secret: _, ...shown }) => shown), query);
  if (!account.mayChangeEndpoints) return refuse(403, 'Access Denied');
  const { url, active, events, secret } = JSON.parse(text);
  if (!url || !events || Object.keys(events).length === 0) return refuse(400, 'The url field is required.');
  const id = /^\/v1\/webhooks\/(\w+)$/.exec(path)?.[1];
  const present = account.endpoints.find((endpoint) => endpoint.id === id);
  if (method === 'PUT' && present === undefined) return refuse(400, 'The id provided does not exist');
  const stored = { id: id ?? 'KbCFyQ0t9Lmi1n', url, active, disabled_at: 0, events, secret };
  account.endpoints = [...account.endpoints.filter((endpoint) => endpoint !== present), stored];
  const { secret: _, ...shown } = stored;
  return Response.json(shown);
}

function list(items: unknown[], query: URLSearchParams): Response {
  const [count, skip] = [Number(query.get('count') ?? 10), Number(query.get('skip') ?? 0)];
  const shown = items.slice(skip, skip + count);
  return Response.json({ entity: 'collection', count: shown.length, items: shown });
}

function refuse(status: number, description: string): Response {
  const error = { code: 'BAD_REQUEST_ERROR', description, source: 'NA', step: 'NA', reason: 'NA', metadata: {} };
  return Response.json({ error }, { status });
}
