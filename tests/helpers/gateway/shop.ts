import { afterAll, beforeAll, beforeEach, vi } from 'vitest';
import { anyUser } from './any-user.ts';
import { secrets } from './sign.ts';
import type { DeliverOptions } from '../../../scripts/stack/gateway/events.ts';
import type { Delivery } from '../../../scripts/stack/gateway/delivery.ts';
import { createGatewaySimulator } from '../../../scripts/stack/gateway/gateway-simulator.ts';
import type { LocalHostService } from '../../../scripts/stack/http/local-host-service.ts';
import { type PostgresProxy, startPostgresProxy } from '../database/postgres-proxy.ts';
import { startApiProxy } from '../http/api-proxy.ts';
import type { Authorisation, Checkout } from '../http/requests.ts';
import { type Addresses, type RunningService, startService, type Target } from '../project/targets.ts';

/** A request that the service sent to the gateway's API. */
export type GatewayCall = { method: string; path: string; body: unknown };

/** Handles a call to the gateway's API: answers it, or forwards it to the simulator. */
type StandIn = (call: GatewayCall, forwardRequest: () => Promise<Response>) => Response | Promise<Response>;

/** For the tests of the surrounding block: the service with a simulated gateway, which delivers its webhooks. */
export function useShop(target: Target, project: Addresses, environment: Record<string, string> = {}) {
  const calls: GatewayCall[] = [];
  const rpcs: string[] = [];
  let pool: PostgresProxy | undefined;
  let standIn: StandIn | null = null;
  let service: RunningService | undefined;
  let simulator: LocalHostService | undefined;
  let receiver: Deno.HttpServer<Deno.NetAddr> | undefined;
  let gateway: Deno.HttpServer<Deno.NetAddr> | undefined;
  let api: ReturnType<typeof startApiProxy> | undefined;
  const record = (rpc: string) => {
    // The start's own call may still run when a test begins.
    if (rpc !== 'get_schema_version') rpcs.push(rpc);
  };
  const running = () => service ?? fail();
  const simulatorUrl = () => (simulator ?? fail()).url;

  const serve = (handle: (request: Request) => Promise<Response>) =>
    Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, handle);
  const urlOf = (server: Deno.HttpServer<Deno.NetAddr>) => `http://127.0.0.1:${server.addr.port}`;

  beforeAll(async () => {
    receiver = serve(async (request) => {
      const body = await request.arrayBuffer();
      return await running().request('/api/webhooks/gateway', { method: 'POST', headers: request.headers, body });
    });
    simulator = createGatewaySimulator({
      port: 0,
      keyId: secrets.GATEWAY_KEY_ID,
      keySecret: secrets.GATEWAY_KEY_SECRET,
      webhookSecret: secrets.GATEWAY_WEBHOOK_SECRET,
      webhookUrl: urlOf(receiver),
      firstRetryMs: 50,
      isOwn: anyUser,
    });
    await simulator.start();
    api = startApiProxy(() => project.apiUrl, async (request, forwardRequest) => {
      const [, rpc] = /\/rpc\/(\w+)$/.exec(new URL(request.url).pathname) ?? [];
      if (rpc !== undefined) record(rpc);
      return await forwardRequest();
    });
    gateway = serve(async (request) => {
      const { method, url, headers } = request;
      const text = await request.text();
      const { pathname: path } = new URL(url);
      const call = { method, path, body: text === '' ? null : JSON.parse(text) };
      calls.push(call);
      const forwardRequest = () => fetch(simulatorUrl() + path, { method, headers, body: text || null });
      return await (standIn === null ? forwardRequest() : standIn(call, forwardRequest));
    });
    pool = startPostgresProxy(() => project.poolUrl, record);
    const addresses = { apiUrl: api.url, poolUrl: pool.url };
    service = await startService(target, addresses, { GATEWAY_API_URL: urlOf(gateway), ...environment });
  });
  beforeEach(() => {
    calls.length = 0;
    rpcs.length = 0;
    standIn = null;
  });
  afterAll(async () => {
    await simulator?.stop();
    await receiver?.shutdown();
    await service?.stop();
    await gateway?.shutdown();
    await api?.stop();
    pool?.stop();
  });

  const simulate = async (path: string, body?: unknown) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(simulatorUrl() + path, init);
    const answer = await response.json();
    if (!response.ok) throw new Error(`the simulator answered ${response.status}: ${JSON.stringify(answer)}`);
    return answer;
  };
  return {
    request: (...request: Parameters<RunningService['request']>) => running().request(...request),
    get output() {
      return running().output;
    },
    /** The service's calls to the gateway since the test began. */
    calls,
    /** The SQL functions that the service called since the test began, in order; without the call of its start. */
    rpcs,
    /** Answers the service's calls to the gateway instead of the simulator, until the test ends. */
    onGatewayCall(instead: StandIn): void {
      standIn = instead;
    },
    /** Pays an order, or fails to. `deliver` selects the webhooks that follow, and how they are delivered. */
    pay: (orderId: string, outcome = 'captured', deliver: DeliverOptions = {}): Promise<Checkout> =>
      simulate('/simulate/pay', { order_id: orderId, outcome, deliver }),
    /** Uses a control of the simulator, `/simulate/…`. */
    simulate: (control: string, fields: unknown) => simulate(`/simulate/${control}`, fields),
    /** Sets what a plan of the gateway costs: minor units of INR, each month or year. */
    price: (id: string, amount: number, period: 'monthly' | 'yearly' = 'monthly'): Promise<unknown> =>
      simulate('/simulate/plan', { id, amount, period }),
    /** Authorises a subscription as the customer does on the gateway's page. */
    authorise: (subscriptionId: string, deliver: DeliverOptions = {}): Promise<Authorisation> =>
      simulate('/simulate/authorise', { subscription_id: subscriptionId, outcome: 'approved', deliver }),
    /** Delivers a body as the gateway does, with its signature. */
    deliver: (body: string): Promise<void> => simulate('/simulate/deliver', { body }),
    /** The gateway's webhooks about an order, newest first, also dropped ones. Waits until `posts` POSTs are answered. */
    deliveries: (orderId: string, posts: number): Promise<Delivery[]> =>
      vi.waitFor(async () => {
        const { items }: { items: Delivery[] } = await simulate('/simulate/deliveries');
        const about = items.filter(({ body }) => body.includes(orderId));
        const answered = about.flatMap(({ attempts }) => attempts).length;
        if (answered < posts) throw new Error(`${answered} of ${posts} POSTs were answered`);
        return about;
      }, { timeout: 20_000, interval: 20 }),
  };
}

function fail(): never {
  throw new Error('the shop is open only while tests run');
}
