import { createClient } from '@supabase/supabase-js';
import { onTestFinished, vi } from 'vitest';
import { createSubscriptions, type Subscriptions } from '../../supabase/client/subscriptions.ts';

const SCRIPT = 'https://checkout.example.com/v1/checkout.js';

type CheckoutOptions = Parameters<Subscriptions['checkout']>[1];
/** An answer of the function: a status and a body, or no answer. */
export type Answer = { status?: number; body?: unknown; retryAfter?: number } | 'lost';

/** A window of the gateway that the page opened. The methods call what the page gave it, as a person makes them. */
export type GatewayWindow = {
  options: Record<string, unknown>;
  isClosed: boolean;
  pay(): void;
  dismiss(): void;
  fail(description: string): void;
};

type ScriptFate = 'loads' | 'is forbidden' | 'fails' | 'sets nothing' | 'throws';

export const ORDERS = 'POST /api/payments/orders';
export const VERIFY = 'POST /api/payments/verify';
export const READ = 'GET /api/payments/orders/order_1';
export const CURRENT = 'GET /api/subscriptions';
export const SUBSCRIBE = 'POST /api/subscriptions';
export const CHANGE = 'POST /api/subscriptions/change';

export const plan = { tier: 'pro', name: 'Pro' };
const order = { id: 'order_1', amount: 99900, currency: 'INR' };
const prefill = { email: 'asha@example.com', name: 'Asha' };
export const ordered = { order, key_id: 'key_1', payment_id: 'p', plan, running: null, prefill };
const validUntil = '2027-11-22T00:00:00.000Z';
export const orderIs = (status: string, fields: Record<string, unknown> = {}) => ({
  body: { order_id: 'order_1', status, tier: 'pro', valid_until: null, attempts: 0, last_error: null, ...fields },
});
export const paidOrder = orderIs('paid', { valid_until: validUntil });
export const verified = { body: { success: true, subscription: { tier: 'pro', validUntil } } };
export const refusal = (status: number, error: string, retryAfter?: number) => (
  { status, body: { error }, ...retryAfter === undefined ? {} : { retryAfter } }
);
export const paid = { outcome: 'paid', id: 'order_1', tier: 'pro', validUntil, startsAt: null };
export const pending = { outcome: 'pending', id: 'order_1' };
export const fields = { gateway_payment_id: 'pay_1', gateway_signature: 'f00d' };

/** Ends of a window. */
export const pay = (window: GatewayWindow) => window.pay();
export const dismiss = (window: GatewayWindow) => window.dismiss();
export const failAndDismiss = (window: GatewayWindow) => {
  window.fail('The bank said no.');
  window.dismiss();
};

/** Lets so many seconds pass. */
export async function pass(seconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(seconds * 1000);
}

/**
 * Opens a page for the running test: with a signed-in user, the gateway's script, and a function that answers as told.
 * Time is the test's. `globals` replaces or hides what a browser has.
 */
export function openPage(globals: Record<string, unknown> = {}) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  /** What a test changes: what becomes of the gateway's script, and who is signed in. */
  const changeable: { scriptFate: ScriptFate; userId: string | null } = {
    scriptFate: 'loads',
    userId: '11111111-1111-4111-8111-111111111111',
  };
  const queues = new Map<string, Answer[]>(Object.entries({
    [ORDERS]: [{ status: 201, body: ordered }],
    [VERIFY]: [verified],
    [READ]: [orderIs('open')],
    [CURRENT]: [{ body: { subscription: null, currentTier: 'free', payments: [], billing: null } }],
  }));
  const requests: { endpoint: string; body: unknown }[] = [];
  const supabase = createClient('https://ref.supabase.co', 'sb_publishable_1', {
    auth: { persistSession: false, autoRefreshToken: false },
    global: { fetch: (url, init) => answer(String(url), init) },
  });
  const { functions } = supabase;
  function answer(url: string, { method = 'GET', body, signal }: RequestInit = {}): Promise<Response> {
    const endpoint = `${method} ${url.replace('https://ref.supabase.co', '').replace('/functions/v1', '')}`;
    requests.push({ endpoint, body: typeof body === 'string' ? JSON.parse(body) : null });
    if (signal?.aborted) return Promise.reject(signal.reason);
    const queue = queues.get(endpoint) ?? [{ status: 404, body: { error: 'Not found' } }];
    const next = (queue.length > 1 ? queue.shift() : queue[0]) ?? 'lost';
    if (next === 'lost') return Promise.reject(new TypeError('Failed to fetch'));
    const headers = new Headers(next.retryAfter === undefined ? {} : { 'retry-after': String(next.retryAfter) });
    const status = next.status ?? 200;
    if (next.body instanceof Blob) return Promise.resolve(new Response(next.body, { status }));
    return Promise.resolve(Response.json(next.body ?? {}, { status, headers }));
  }

  const windows: GatewayWindow[] = [];
  class Gateway {
    #window: GatewayWindow;
    #failures: ((failed: unknown) => void)[] = [];
    constructor(options: Record<string, unknown>) {
      if (changeable.scriptFate === 'throws') throw new Error('No key passed');
      const { handler, modal } = options;
      this.#window = {
        options,
        isClosed: false,
        pay: () => Object({ handler }).handler({ razorpay_payment_id: 'pay_1', razorpay_signature: 'f00d' }),
        dismiss: () => Object(modal).ondismiss(),
        fail: (description) => this.#failures.forEach((callback) => callback({ error: { description } })),
      };
    }
    on(_: string, callback: (failed: unknown) => void) {
      this.#failures.push(callback);
    }
    open() {
      windows.push(this.#window);
    }
    close() {
      this.#window.isClosed = true;
    }
  }
  const scripts: string[] = [];
  const elements: EventTarget[] = [];
  const document = Object.assign(new EventTarget(), {
    createElement: () => Object.assign(new EventTarget(), { src: '', remove: () => void elements.splice(0) }),
    querySelector: () => elements[0] ?? null,
    head: {
      append(script: EventTarget & { src: string }) {
        elements.push(script);
        scripts.push(script.src);
        queueMicrotask(() => {
          const isLoaded = ['loads', 'throws', 'sets nothing'].includes(changeable.scriptFate);
          if (isLoaded && changeable.scriptFate !== 'sets nothing') vi.stubGlobal('Gateway', Gateway);
          script.dispatchEvent(new Event(isLoaded ? 'load' : 'error'));
          const violation = Object.assign(new Event('securitypolicyviolation'), { blockedURI: script.src });
          if (changeable.scriptFate === 'is forbidden') document.dispatchEvent(violation);
        });
      },
    },
  });
  const storage = new Map<string, string>();
  const localStorage = {
    get length() {
      return storage.size;
    },
    key: (index: number) => [...storage.keys()][index] ?? null,
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, value: string) => void storage.set(key, value),
    removeItem: (key: string) => void storage.delete(key),
  };
  const location = { assign: vi.fn() };
  for (const [name, value] of Object.entries({ document, localStorage, location, ...globals })) {
    vi.stubGlobal(name, value);
  }
  /** Another instance of the client: the page after a reload, or another tab. */
  const reload = () => {
    const session = () => changeable.userId === null ? null : { user: { id: changeable.userId } };
    const auth = { getSession: () => Promise.resolve({ data: { session: session() } }) };
    return createSubscriptions({
      supabase: { auth, functions, from: (table) => supabase.from(table) },
      checkout: { script: SCRIPT, global: 'Gateway' },
    });
  };
  const subscriptions = reload();
  /** Begins a checkout, by default of the first instance, and waits for its window. */
  async function open(options?: CheckoutOptions, client = subscriptions) {
    const before = windows.length;
    const result = client.checkout('pro', options);
    const window = await vi.waitFor(() => windows[before] ?? Promise.reject(new Error('no window')), 30_000);
    return { result, window };
  }
  return Object.assign(changeable, {
    ...{ subscriptions, windows, scripts, storage, requests, location, open, reload },
    /** The function's next answers to an endpoint; the last one is repeated. */
    answers: (endpoint: string, ...next: Answer[]) => void queues.set(endpoint, next),
    /** The requests to an endpoint. */
    to: (endpoint: string) => requests.filter((request) => request.endpoint === endpoint),
    /** Begins a checkout, ends its window as told, and lets seconds pass. @returns the result */
    async buy(end: (window: GatewayWindow) => void, seconds = 0, options?: CheckoutOptions) {
      const { result, window } = await open(options);
      end(window);
      await pass(seconds);
      return await result;
    },
  });
}
