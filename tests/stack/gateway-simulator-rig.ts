import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { createGatewaySimulator } from '../../scripts/stack/gateway/gateway-simulator.ts';

export const KEY_SECRET = 'key-secret';
export const WEBHOOK_SECRET = 'webhook-secret';

type Received = { body: string; eventId: string | null; signature: string | null; event: string; entity: Entity };
export type Entity = Record<string, unknown>;

/**
 * The webhooks in the order of arrival; the answers to the next ones, a status or a response that waits; and the functions
 * that release the waiting responses.
 */
export const received: Received[] = [];
export const answers: (number | 'hang' | 'hang then 500')[] = [];
export const held: (() => void)[] = [];

/** Receives the webhooks, for all test files of this process. */
const receiver = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen() {} }, async (request) => {
  const body = await request.text();
  const json = body.startsWith('{') ? JSON.parse(body) : {};
  const first = Object.values<{ entity: Entity }>(json.payload ?? {})[0];
  received.push({
    body,
    eventId: request.headers.get('x-gateway-event-id'),
    signature: request.headers.get('x-gateway-signature'),
    event: json.event,
    entity: first?.entity ?? {},
  });
  const answer = answers.shift() ?? 200;
  if (typeof answer === 'number') return new Response(null, { status: answer });
  await new Promise<void>((resolve) => held.push(resolve));
  return new Response(null, { status: answer === 'hang' ? 200 : 500 });
});

receiver.unref();

export const options = {
  port: 0,
  keyId: 'key_local',
  keySecret: KEY_SECRET,
  webhookSecret: WEBHOOK_SECRET,
  webhookUrl: `http://127.0.0.1:${receiver.addr.port}/hook`,
  firstRetryMs: 5,
};
/** The simulator of the running test file. */
export let simulator = createGatewaySimulator(options);

/** Starts a new simulator for the tests of a file. Each of them begins without a webhook on its way. */
export function useSimulator(): void {
  beforeAll(async () => {
    simulator = createGatewaySimulator(options);
    await simulator.start();
    await simulator.ready();
  });
  afterAll(async () => {
    await simulator.stop();
    held.splice(0).forEach((release) => release());
  });
  beforeEach(async () => {
    held.splice(0).forEach((release) => release());
    answers.length = 0;
    await until(async () => {
      const { items } = (await call('GET', '/simulate/deliveries')).body;
      return items.every(({ state }: Entity) => state !== 'pending' && state !== 'retrying');
    });
    received.length = 0;
  });
}

export const AUTHORIZATION = `Basic ${btoa(`key_local:${KEY_SECRET}`)}`;

export async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: HeadersInit = { authorization: AUTHORIZATION },
) {
  return await callAt(simulator.url, method, path, body, headers);
}

async function callAt(url: string, method: string, path: string, body: unknown, headers: HeadersInit) {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url + path, { method, headers, body: text });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** A simulator for one test, by default with the real gateway's retry times and the machine's clock. */
export async function another(fields: { firstRetryMs?: number; timeoutMs?: number; now?: () => number } = {}) {
  const { firstRetryMs: _, ...paced } = options;
  const other = createGatewaySimulator({ ...paced, ...fields });
  await other.start();
  onTestFinished(() => other.stop());
  const headers = { authorization: AUTHORIZATION };
  const api = (method: string, path: string, body?: unknown) => callAt(other.url, method, path, body, headers);
  return Object.assign(api, { base: other.url });
}

export async function createOrder(fields: Record<string, unknown> = {}) {
  const { body } = await call('POST', '/v1/orders', { amount: 49900, currency: 'INR', ...fields });
  return body;
}

export const pay = (order: { id: string }, fields: Record<string, unknown> = {}) =>
  call('POST', '/simulate/pay', { order_id: order.id, outcome: 'captured', ...fields });

/** Waits until a condition is not false, and returns its result. */
export async function until<Result>(condition: () => Result | false | Promise<Result | false>): Promise<Result> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const result = await condition();
    if (result !== false) return result;
    if (Date.now() > deadline) throw new Error(`still waiting; received ${events()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Waits for these events. Events of two requests arrive in any order. */
export const arrived = (eventIds: string[]) =>
  until(() => eventIds.every((id) => received.some(({ eventId }) => eventId === id)));

export const delivery = async (eventId: string) => (await call('GET', `/simulate/deliveries/${eventId}`)).body;
/** Posts to a control, `/simulate/…`, and returns the body of the answer. */
export const simulate = async (control: string, fields: Record<string, unknown>) =>
  (await call('POST', `/simulate/${control}`, fields)).body;
export const deliver = async (fields: Record<string, unknown>) =>
  (await call('POST', '/simulate/deliver', fields)).body;
export const events = () => received.map(({ event }) => event);
