import { AUTHORIZATION, received, simulator, until } from './gateway-simulator-rig.ts';

export type Entity = Record<string, unknown>;

/** A control that makes no webhook. */
export const quiet = { deliver: { drop: true } };

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
