import { createClient } from '@supabase/supabase-js';
import { onTestFinished, vi } from 'vitest';
import {
  type CheckoutOptions,
  type CheckoutResult,
  createSubscriptions,
  type Subscriptions,
} from '../../supabase/client/subscriptions.ts';

const SCRIPT = 'https://checkout.example.com/v1/checkout.js';
const USER = '11111111-1111-4111-8111-111111111111';

/** An answer of the function: a status and a body, or no answer. */
type Answer = { status?: number; body?: unknown; retryAfter?: number } | 'lost';
type Request = { endpoint: string; body: unknown };

/** A window of the gateway that the page opened. */
type GatewayWindow = {
  options: Record<string, unknown>;
  isClosed: boolean;
  /** Calls the page's handler, as after a payment. */
  pay(): void;
  dismiss(): void;
  fail(description: string): void;
};

/** What becomes of the gateway's script. */
type ScriptFate = 'loads' | 'is forbidden' | 'fails' | 'sets nothing' | 'throws';

/** A page with a signed-in user, the gateway's script and a function that answers as told. Time is the test's. */
export type FakePage = {
  subscriptions: Subscriptions;
  /** The function's next answers to an endpoint; the last one is repeated. */
  answers(endpoint: string, ...next: Answer[]): void;
  readonly requests: Request[];
  readonly windows: GatewayWindow[];
  /** The addresses of the scripts that the page loaded. */
  readonly scripts: string[];
  readonly storage: Map<string, string>;
  readonly location: { assign: ReturnType<typeof vi.fn> };
  scriptFate: ScriptFate;
  userId: string | null;
  /** Begins a checkout, by default of the first instance, and waits for its window. */
  open(
    options?: CheckoutOptions,
    client?: Subscriptions,
  ): Promise<{ result: ReturnType<Subscriptions['checkout']>; window: GatewayWindow }>;
  /** Begins a checkout, ends its window as told, and lets seconds pass. @returns the result */
  buy(end: (window: GatewayWindow) => void, seconds?: number, options?: CheckoutOptions): Promise<CheckoutResult>;
  /** Another instance of the client: the page after a reload, or another tab. */
  reload(): Subscriptions;
  /** The requests to an endpoint. */
  to(endpoint: string): Request[];
};

export const ORDERS = 'POST /api/payments/orders';
export const VERIFY = 'POST /api/payments/verify';
export const READ = 'GET /api/payments/orders/order_1';
export const CURRENT = 'GET /api/subscriptions';
export const SUBSCRIBE = 'POST /api/subscriptions';
export const CHANGE = 'POST /api/subscriptions/change';

export const plan = { tier: 'pro', name: 'Pro' };
const prefill = { email: 'asha@example.com', name: 'Asha' };
export const ordered = {
  order: { id: 'order_1', amount: 99900, currency: 'INR' },
  key_id: 'key_1',
  payment_id: 'p',
  plan,
  running: null,
  prefill,
};
export const orderIs = (status: string, fields: Record<string, unknown> = {}) => ({
  body: { order_id: 'order_1', status, tier: 'pro', valid_until: null, attempts: 0, last_error: null, ...fields },
});
export const paidOrder = orderIs('paid', { valid_until: '2027-11-22T00:00:00.000Z' });
export const verified = {
  body: { success: true, subscription: { tier: 'pro', validUntil: '2027-11-22T00:00:00.000Z' } },
};
export const refusal = (status: number, error: string, retryAfter?: number) => ({
  ...{ status, body: { error } },
  ...retryAfter === undefined ? {} : { retryAfter },
});
/** Ends of a window. */
export const pay = (window: GatewayWindow) => window.pay();
export const dismiss = (window: GatewayWindow) => window.dismiss();
const validUntil = '2027-11-22T00:00:00.000Z';
export const paid = { outcome: 'paid', id: 'order_1', tier: 'pro', validUntil, startsAt: null };
export const pending = { outcome: 'pending', id: 'order_1' };
export const fields = { gateway_payment_id: 'pay_1', gateway_signature: 'f00d' };

/** Opens a page for the running test. `globals` replaces or hides what a browser has. */
export function openPage(globals: Record<string, unknown> = {}): FakePage {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });
  const queues = new Map<string, Answer[]>(Object.entries({
    [ORDERS]: [{ status: 201, body: ordered }],
    [VERIFY]: [verified],
    [READ]: [orderIs('open')],
    [CURRENT]: [{ body: { subscription: null, currentTier: 'free', payments: [], billing: null } }],
  }));
  const requests: Request[] = [];
  const { functions } = createClient('https://ref.supabase.co', 'sb_publishable_1', {
    auth: { persistSession: false, autoRefreshToken: false },
    global: { fetch: (url, init) => answer(String(url), init) },
  });
  function answer(url: string, { method = 'GET', body, signal }: RequestInit = {}): Promise<Response> {
    const endpoint = `${method} ${url.replace('https://ref.supabase.co/functions/v1', '')}`;
    requests.push({ endpoint, body: typeof body === 'string' ? JSON.parse(body) : null });
    if (signal?.aborted) return Promise.reject(signal.reason);
    const queue = queues.get(endpoint) ?? [{ status: 404, body: { error: 'Not found' } }];
    const next = (queue.length > 1 ? queue.shift() : queue[0]) ?? 'lost';
    if (next === 'lost') return Promise.reject(new TypeError('Failed to fetch'));
    const headers = new Headers(next.retryAfter === undefined ? {} : { 'retry-after': String(next.retryAfter) });
    return Promise.resolve(Response.json(next.body ?? {}, { status: next.status ?? 200, headers }));
  }

  const storage = new Map<string, string>();
  const windows: GatewayWindow[] = [];
  const scripts: string[] = [];
  const location = { assign: vi.fn() };
  class Gateway {
    #window: GatewayWindow;
    #failures: ((failed: unknown) => void)[] = [];
    constructor(options: Record<string, unknown>) {
      if (page.scriptFate === 'throws') throw new Error('No key passed');
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
  const elements: EventTarget[] = [];
  const document = Object.assign(new EventTarget(), {
    createElement: () => {
      const script = Object.assign(new EventTarget(), { src: '', remove: () => void elements.splice(0) });
      return script;
    },
    querySelector: () => elements[0] ?? null,
    head: {
      append(script: EventTarget & { src: string }) {
        elements.push(script);
        scripts.push(script.src);
        queueMicrotask(() => {
          const isLoaded = ['loads', 'throws', 'sets nothing'].includes(page.scriptFate);
          if (isLoaded && page.scriptFate !== 'sets nothing') vi.stubGlobal('Gateway', Gateway);
          script.dispatchEvent(new Event(isLoaded ? 'load' : 'error'));
          const violation = Object.assign(new Event('securitypolicyviolation'), { blockedURI: script.src });
          if (page.scriptFate === 'is forbidden') document.dispatchEvent(violation);
        });
      },
    },
  });
  const localStorage = {
    get length() {
      return storage.size;
    },
    key: (index: number) => [...storage.keys()][index] ?? null,
    getItem: (key: string) => storage.get(key) ?? null,
    setItem: (key: string, value: string) => void storage.set(key, value),
    removeItem: (key: string) => void storage.delete(key),
  };
  for (const [name, value] of Object.entries({ document, localStorage, location, ...globals })) {
    vi.stubGlobal(name, value);
  }
  const reload = () =>
    createSubscriptions({
      supabase: {
        auth: {
          getSession: () =>
            Promise.resolve({ data: { session: page.userId === null ? null : { user: { id: page.userId } } } }),
        },
        functions,
      },
      checkout: { script: SCRIPT, global: 'Gateway' },
    });
  const page: FakePage = {
    subscriptions: reload(),
    answers: (endpoint, ...next) => void queues.set(endpoint, next),
    requests,
    windows,
    scripts,
    storage,
    location,
    scriptFate: 'loads',
    userId: USER,
    async open(options, client = page.subscriptions) {
      const before = windows.length;
      const result = client.checkout('pro', options);
      const window = await vi.waitFor(() => windows[before] ?? Promise.reject(new Error('no window')));
      return { result, window };
    },
    async buy(end, seconds = 0, options) {
      const { result, window } = await page.open(options);
      end(window);
      await pass(seconds);
      return await result;
    },
    reload,
    to: (endpoint) => requests.filter((request) => request.endpoint === endpoint),
  };
  return page;
}

/** Lets so many seconds pass. */
export async function pass(seconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(seconds * 1000);
}
