import { afterEach, beforeEach } from 'vitest';
import { createGatewaySimulator } from '../../scripts/stack/gateway/gateway-simulator.ts';
import { day, shortTime } from '../helpers/records/time.ts';

export const KEY_SECRET = 'key-secret';
export const WEBHOOK_SECRET = 'webhook-secret';
export const AUTHORIZATION = `Basic ${btoa(`key_local:${KEY_SECRET}`)}`;
/** The gateway's time of each test until it moves the clock, also in Unix seconds. */
export const START = '2026-01-10T00:00:00Z';
export const NOW = Date.parse(START) / 1000;
/** A control that makes no webhook. */
export const quiet = { deliver: { drop: true } };

export type Entity = Record<string, unknown>;
type Received = { body: string; eventId: string | null; signature: string | null; event: string };

/** The webhooks in the order of arrival; the answers to the next ones; and what releases the answers that wait. */
export const received: Received[] = [];
export const answers: (number | 'hang' | 'hang then 500')[] = [];
export const held: (() => void)[] = [];

let address = '';
/** Receives the webhooks of the running test, for all test files of this process. */
const receiver = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen() {} }, async (request) => {
  const body = await request.text();
  if (request.url !== address) return new Response();
  const { headers } = request;
  const { event } = body.startsWith('{') ? JSON.parse(body) : {};
  received.push({
    body,
    event,
    eventId: headers.get('x-gateway-event-id'),
    signature: headers.get('x-gateway-signature'),
  });
  const answer = answers.shift() ?? 200;
  if (typeof answer === 'number') return new Response(null, { status: answer });
  await new Promise<void>((resolve) => held.push(resolve));
  return new Response(null, { status: answer === 'hang' ? 200 : 500 });
});
receiver.unref();

const settings = {
  port: 0,
  keyId: 'key_local',
  keySecret: KEY_SECRET,
  webhookSecret: WEBHOOK_SECRET,
  firstRetryMs: 5,
  now: () => NOW * 1000,
};
/** The simulator of the running test. */
export let simulator = createGatewaySimulator({ ...settings, webhookUrl: '' });

/** A new simulator for each test of the file. Its clock stands, and retries follow after milliseconds. */
export function useSimulator(): void {
  beforeEach(() => startSimulator());
  afterEach(async () => {
    await simulator.stop();
    releaseAll();
  });
}

/** Replaces the simulator of the running test by one with other settings. */
export async function startSimulator(
  changes: Partial<Parameters<typeof createGatewaySimulator>[0]> = {},
): Promise<void> {
  await simulator.stop();
  releaseAll();
  answers.length = received.length = 0;
  address = `http://127.0.0.1:${receiver.addr.port}/${crypto.randomUUID()}`;
  simulator = createGatewaySimulator({ ...settings, webhookUrl: address, ...changes });
  await simulator.start();
}

export const releaseAll = () => held.splice(0).forEach((release) => release());

export async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: HeadersInit = { authorization: AUTHORIZATION },
) {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(simulator.url + path, { method, headers, body: text });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** Reads from the API: `orders/order_…`. */
export const read = async (path: string) => (await call('GET', `/v1/${path}`)).body;
/** Reads from, or posts to, a control, `/simulate/…`. */
export const look = async (control: string) => (await call('GET', `/simulate/${control}`)).body;
export const simulate = async (control: string, fields: Entity) =>
  (await call('POST', `/simulate/${control}`, fields)).body;

export const createOrder = async (fields: Entity = {}) =>
  (await call('POST', '/v1/orders', { amount: 49900, currency: 'INR', ...fields })).body;
export const pay = (order: { id: string }, fields: Entity = {}) =>
  simulate('pay', { order_id: order.id, outcome: 'captured', ...fields });
/** The id of a payment of a new order, without its webhooks. */
export const paid = async (outcome = 'captured'): Promise<string> =>
  (await pay(await createOrder(), { outcome, ...quiet })).gateway_payment_id;

export const subscribe = async (fields: Entity = {}) =>
  (await call('POST', '/v1/subscriptions', { plan_id: 'plan_Pro00000000001', total_count: 12, ...fields })).body;
/** The id of a subscription that the customer approved, without its webhooks. */
export async function approved(fields: Entity = {}, answer: Entity = {}): Promise<string> {
  const { id } = await subscribe(fields);
  await simulate('authorise', { subscription_id: id, outcome: 'approved', ...quiet, ...answer });
  return id;
}

/** The simulator's clock at a time, as `day` reads it. @returns the events of subscriptions: `charged 2026-02-10` */
export async function moveTo(time: string, fields: Entity = {}): Promise<string[]> {
  await simulate('clock', { shift_seconds: at(time) - NOW, ...fields });
  return (await webhooks()).filter(({ event }) => event.startsWith('subscription.')).map(({ event, created_at }) =>
    `${event.slice('subscription.'.length)} ${shown(created_at)}`
  );
}

/** Unix seconds of a time, as `day` reads it, and back. */
export const at = (time: string) => Date.parse(day(time)) / 1000;
export const shown = (seconds: number | null) => shortTime(seconds && new Date(seconds * 1000));

/** A subscription: `active 2026-01-10 to 2026-02-10, 1 paid, 11 left, next 2026-02-10`, with failures and end, if any. */
export async function stateOf(id: string): Promise<string> {
  const { status, current_start, current_end, paid_count, remaining_count, charge_at, auth_attempts, ended_at } =
    await read(`subscriptions/${id}`);
  const period = current_end === null ? '' : ` ${shown(current_start)} to ${shown(current_end)}`;
  return `${status}${period}, ${paid_count} paid, ${remaining_count} left, next ${shown(charge_at)}` +
    (auth_attempts > 0 ? `, ${auth_attempts} failed` : '') + (ended_at === null ? '' : `, ended ${shown(ended_at)}`);
}

/** The webhooks since the last call, parsed, after no delivery is on its way. */
export async function webhooks() {
  await until(async () => {
    const { items } = await look('deliveries');
    return items.every(({ state }: Entity) => state !== 'pending' && state !== 'retrying');
  });
  return received.splice(0).map((one) => ({ ...one, ...JSON.parse(one.body) }));
}
/** Their names. */
export const events = async (): Promise<string[]> => (await webhooks()).map(({ event }) => event);

/** Waits until a condition is not false, and returns its result. */
export async function until<Result>(condition: () => Result | false | Promise<Result | false>): Promise<Result> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const result = await condition();
    if (result !== false) return result;
    if (Date.now() > deadline) {
      throw new Error(`still waiting; received ${received.map(({ event }) => event).join()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
