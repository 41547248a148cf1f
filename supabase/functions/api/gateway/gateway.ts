import { z } from 'zod';
import type { GatewayConfig } from '../config.ts';
import type { Gateway, GatewayEntity, GatewayReply, Reading } from '../ports.ts';
import { isStorableText, toStorableJson } from '../database/storable-json.ts';

const timeoutMilliseconds = 5000;

const createdOrder = z.object({ id: z.string().min(1).refine(isStorableText) });
const subscription = z.looseObject({ status: z.string() });
const collection = z.object({ items: z.array(z.looseObject({})) });

/** The most that the gateway lists at once; it lists ten unless asked for more. */
const listedRefunds = 100;

/** The gateway's REST API, over HTTP Basic with key id and key secret; null when it is not configured. */
export function createGateway(config: GatewayConfig | null): Gateway | null {
  if (config === null || config.apiUrl === null) return null;
  const base = `${config.apiUrl.replace(/\/+$/, '')}/v1`;
  const authorization = `Basic ${base64(`${config.keyId}:${config.keySecret}`)}`;

  /** Never throws: no answer, and one that makes no sense, are replies with status 0. */
  async function call(method: string, path: string, body?: unknown): Promise<GatewayReply & { body: unknown }> {
    try {
      const response = await fetch(base + path, {
        method,
        headers: { authorization, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMilliseconds),
      });
      return {
        status: response.status,
        retryAfter: response.headers.get('retry-after'),
        body: await response.json(),
      };
    } catch {
      return { status: 0, retryAfter: null, body: null };
    }
  }

  async function list(path: string): Promise<Reading<readonly GatewayEntity[]>> {
    const reading = read(await call('GET', path), collection);
    return reading.status === 'found' ? { status: 'found', value: reading.value.items } : reading;
  }

  return {
    async createOrder({ amount, currency, receipt }) {
      // Without automatic capture the money goes back by itself after some days.
      const { status, body } = await call('POST', '/orders', { amount, currency, receipt, payment_capture: 1 });
      const order = createdOrder.safeParse(body);
      return status >= 200 && status < 300 && order.success ? order.data.id : null;
    },

    cancelSubscription: (id, atCycleEnd) =>
      call('POST', `/subscriptions/${encodeURIComponent(id)}/cancel`, { cancel_at_cycle_end: atCycleEnd ? 1 : 0 }),

    readSubscription: async (id) => read(await call('GET', `/subscriptions/${encodeURIComponent(id)}`), subscription),

    listOrderPayments: (orderId) => list(`/orders/${encodeURIComponent(orderId)}/payments`),

    listRefunds: (paymentId) => list(`/payments/${encodeURIComponent(paymentId)}/refunds?count=${listedRefunds}`),
  };
}

/** What was read, if the answer says it; a refusal that is not about the key or the pace says that there is no such thing. */
function read<T>({ status, body }: { status: number; body: unknown }, schema: z.ZodType<T>): Reading<T> {
  // What is read goes into the database.
  const parsed = schema.safeParse(JSON.parse(toStorableJson(JSON.stringify(body)) ?? 'null'));
  if (status === 200 && parsed.success) return { status: 'found', value: parsed.data };
  return { status: status === 400 || status === 404 ? 'unknown' : 'unanswered' };
}

/** Of the UTF-8 bytes: btoa alone throws on what is not Latin-1, and that would stop the whole function. */
function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
