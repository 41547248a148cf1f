import { z } from 'zod';
import type { GatewayConfig } from '../config.ts';
import type { Gateway, GatewayEntity, GatewayReply, Making, Reading } from '../ports.ts';
import { withoutPersonalData } from './gateway-refusal.ts';
import { isStorableText, toStorableJson } from '../database/storable-json.ts';

const timeoutMilliseconds = 5000;

const createdOrder = z.object({ id: z.string().min(1).refine(isStorableText) }).transform(({ id }) => id);
const createdSubscription = z.object({
  id: z.string().min(1).refine(isStorableText),
  status: z.string(),
  short_url: z.url({ protocol: /^https?$/ }).refine(isStorableText),
});
const subscription = z.looseObject({ status: z.string() });
const refund = z.looseObject({ id: z.string().min(1), status: z.string() });
const refusal = z.object({ error: z.object({ description: z.string() }) });
const collection = z.object({ items: z.array(z.looseObject({})) });

/** The gateway's maximum for one page; its default is 10. */
const maxListed = 100;
/** Its maximum for a page of lines of settlements. */
const maxLines = 1000;
/** How long a customer may authorise a subscription. */
const authorisationSeconds = 24 * 60 * 60;

/** The gateway's REST API, over HTTP Basic with key id and key secret; null when it is not configured. */
export function createGateway(config: GatewayConfig | null): Gateway | null {
  if (config === null || config.apiUrl === null) return null;
  const base = `${config.apiUrl.replace(/\/+$/, '')}/v1`;
  const keys = [config.keySecret, config.keyId];
  /** How far the gateway's clock is ahead of this machine's, in milliseconds. */
  let ahead: number | null = null;
  const authorization = `Basic ${base64(`${config.keyId}:${config.keySecret}`)}`;

  /** Never throws: without an answer, or with one other than 429 that is not JSON, the status is 0. */
  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<GatewayReply & { body: unknown; date: string | null }> {
    try {
      const response = await fetch(base + path, {
        method,
        headers: { authorization, 'content-type': 'application/json', ...headers },
        body: body === undefined ? null : JSON.stringify(body),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMilliseconds),
      });
      const date = response.headers.get('date');
      if (!Number.isNaN(Date.parse(date ?? ''))) ahead = Date.parse(date ?? '') - Date.now();
      return {
        status: response.status,
        retryAfter: response.headers.get('retry-after'),
        // What limits the rate may be a proxy, whose 429 is a page.
        body: await response.json().catch((error: unknown) => response.status === 429 ? null : Promise.reject(error)),
        date,
      };
    } catch {
      return { status: 0, retryAfter: null, body: null, date: null };
    }
  }

  /**
   * Creates an entity. A 400 is a refusal, which a repeat would meet again.
   * @param mend other terms to repeat it with, by the gateway's clock in Unix seconds; null: it stays refused
   */
  async function make<T>(
    path: string,
    terms: unknown,
    schema: z.ZodType<T>,
    mend: (now: number) => unknown = () => null,
  ): Promise<Making<T>> {
    const { status, body, date } = await call('POST', path, terms);
    const made = schema.safeParse(body);
    if (status >= 200 && status < 300 && made.success) return { status: 'made', value: made.data };
    if (status !== 400) return { status: 'unanswered' };
    const mended = mend(Math.floor(Date.parse(date ?? '') / 1000));
    if (mended !== null) return await make(path, mended, schema);
    const refused = refusal.safeParse(body);
    const reason = refused.success ? refused.data.error.description : 'no description';
    return { status: 'refused', reason: withoutPersonalData(reason, keys) };
  }

  async function list(path: string): Promise<Reading<readonly GatewayEntity[]>> {
    const reading = read(await call('GET', path), collection);
    return reading.status === 'found' ? { status: 'found', value: reading.value.items } : reading;
  }

  return {
    // `rzp_test_…` or `rzp_live_…`
    hasModeOf: (keyId) => keyId.slice(0, 9) === config.keyId.slice(0, 9),

    now: () => ahead === null ? null : Math.floor((Date.now() + ahead) / 1000),

    // Without automatic capture the gateway returns the money to the customer after some days.
    createOrder: ({ amount, currency, receipt }) =>
      make('/orders', { amount, currency, receipt, payment_capture: 1 }, createdOrder),

    createSubscription({ userId, requestId, planId, cycles, expireBy, startAt }) {
      const terms = {
        plan_id: planId,
        total_count: cycles,
        quantity: 1,
        customer_notify: 1,
        expire_by: expireBy,
        ...(startAt === null ? {} : { start_at: startAt }),
        notes: { user_id: userId, request_id: requestId },
      };
      // Our clock may be so far behind the gateway's that one of these times is over there.
      const mend = (now: number) => {
        const behind = now + authorisationSeconds - expireBy;
        const isOver = startAt !== null && now >= startAt;
        // An answer without a time says nothing about the clocks.
        if (!isOver && !(now >= expireBy)) return null;
        return { ...terms, expire_by: now + authorisationSeconds, ...(isOver && { start_at: startAt + behind }) };
      };
      return make('/subscriptions', terms, createdSubscription, mend);
    },

    cancelSubscription: (id, atCycleEnd) =>
      call('POST', `/subscriptions/${encodeURIComponent(id)}/cancel`, { cancel_at_cycle_end: atCycleEnd ? 1 : 0 }),

    async refundPayment({ paymentId, amount, action, key }) {
      const path = `/payments/${encodeURIComponent(paymentId)}/refund`;
      const body = { amount, speed: 'normal', ...(action !== null && { notes: { support_action: action } }) };
      const reply = await call('POST', path, body, { 'x-refund-idempotency': key });
      const made = read(reply, refund);
      const refused = refusal.safeParse(reply.body);
      return {
        status: reply.status,
        retryAfter: reply.retryAfter,
        refund: made.status === 'found' ? made.value : null,
        reason: refused.success ? refused.data.error.description : null,
      };
    },

    readSubscription: async (id) => read(await call('GET', `/subscriptions/${encodeURIComponent(id)}`), subscription),

    readPayment: async (id) => read(await call('GET', `/payments/${encodeURIComponent(id)}`), z.looseObject({})),

    readOrder: async (id) => read(await call('GET', `/orders/${encodeURIComponent(id)}`), z.looseObject({})),

    listOrderPayments: (orderId) => list(`/orders/${encodeURIComponent(orderId)}/payments`),

    listRefunds: (paymentId) => list(`/payments/${encodeURIComponent(paymentId)}/refunds?count=${maxListed}`),

    listInvoices: (subscriptionId) =>
      list(`/invoices?subscription_id=${encodeURIComponent(subscriptionId)}&count=${maxListed}`),

    readInvoice: async (id) => read(await call('GET', `/invoices/${encodeURIComponent(id)}`), z.looseObject({})),

    listCreated: ({ list: name, from, to, skip }) =>
      list(`/${name}?from=${from}&to=${to}&count=${maxListed}&skip=${skip}`),

    listSettlementLines({ day, skip }) {
      const [year, month, dayOfMonth] = day.split('-');
      const date = `year=${year}&month=${month}&day=${dayOfMonth}`;
      return list(`/settlements/recon/combined?${date}&count=${maxLines}&skip=${skip}`);
    },
  };
}

/**
 * 400 and 404 mean that the gateway has no such entity. Other refusals are about the API key or the rate: retry later.
 */
function read<T>({ status, retryAfter, body }: GatewayReply & { body: unknown }, schema: z.ZodType<T>): Reading<T> {
  if (status === 429) return { status: 'unanswered', limited: { status, retryAfter } };
  // The value will be stored, so it must be valid jsonb.
  const parsed = schema.safeParse(JSON.parse(toStorableJson(JSON.stringify(body)) ?? 'null'));
  if (status === 200 && parsed.success) return { status: 'found', value: parsed.data };
  return { status: status === 400 || status === 404 ? 'unknown' : 'unanswered' };
}

/** Encodes UTF-8 bytes: btoa alone throws on text that is not Latin-1, which would crash the function at start. */
function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
