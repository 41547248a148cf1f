import { createClient } from '@supabase/supabase-js';
import { expect, vi } from 'vitest';
import { root } from '../../scripts/stack/root.ts';

/** The settings that `npm start` printed. */
export type Settings = Readonly<Record<string, string>>;

/** How long a condition may take. */
const patience = { timeout: 30_000, interval: 50 };

/** Signs up at the local stack, starts a subscription, approves it on the gateway's page and verifies it. */
export async function subscribe(settings: Settings, body: { tier: string } | { price: string }) {
  const { API_URL = '', PUBLISHABLE_KEY = '', FUNCTIONS_URL, GATEWAY_URL, MAILBOX_URL } = settings;
  const key = btoa(`${settings.GATEWAY_KEY_ID}:${settings.GATEWAY_KEY_SECRET}`);
  const email = `${crypto.randomUUID()}@example.com`;
  const supabase = createClient(API_URL, PUBLISHABLE_KEY, { auth: { persistSession: false } });
  const { data, error } = await supabase.auth.signUp({ email, password: 'correct horse battery' });
  await supabase.auth.stopAutoRefresh();
  if (error) throw error;

  const headers = { 'authorization': `Bearer ${data.session?.access_token}`, 'content-type': 'application/json' };
  // A repeated request changes nothing more. On a busy machine the auth server can be late, and the answer is 500.
  const request = (path: string, body?: unknown) => retried(() => send(`${FUNCTIONS_URL}/api/${path}`, body, headers));
  const { subscription: { id, short_url } } = await request('subscriptions', body);
  const page = await fetch(short_url);
  expect(await page.text()).toContain('<title>');
  const verified = await authorise(id);

  /** Posts to a control of the simulator, about the subscription. */
  function simulate(control: string, fields: Record<string, unknown> = {}) {
    return send(`${GATEWAY_URL}/simulate/${control}`, { subscription_id: id, ...fields });
  }

  /** Approves a subscription of the user, and verifies it. */
  async function authorise(subscriptionId: string) {
    const approved = await simulate('authorise', { subscription_id: subscriptionId, outcome: 'approved' });
    return await request('payments/verify', approved);
  }

  return {
    id: String(id),
    userId: String(data.user?.id),
    /** The start of the first cycle, Unix milliseconds. */
    startedAt: (await send(`${GATEWAY_URL}/v1/subscriptions/${id}`, undefined, { authorization: `Basic ${key}` }))
      .current_start * 1000,
    authorise,
    /** Pays an order of the user, and verifies the payment. */
    async pay(orderId: string) {
      const paid = await send(`${GATEWAY_URL}/simulate/pay`, { order_id: orderId, outcome: 'captured' });
      return await request('payments/verify', paid);
    },
    /** What verify answered about the subscription. */
    verified: verified.subscription,
    /** Sends a request to the function; `path` is below `/api`. */
    request,
    simulate,
    /** Reads the subscription at the gateway, or calls the API below it. */
    atGateway: (path = '', body?: unknown) =>
      send(`${GATEWAY_URL}/v1/subscriptions/${id}${path}`, body, { authorization: `Basic ${key}` }),
    /** Waits until `GET /api/subscriptions` matches. */
    sees: (expected: Record<string, unknown>) =>
      vi.waitFor(async () => expect(await request('subscriptions')).toMatchObject(expected), patience),
    /** Waits until the subjects of all mails to the user, in any order, are these. */
    hasMails: (...subjects: string[]) =>
      vi.waitFor(async () => {
        const mails: { to: string[]; subject: string }[] = (await send(`${MAILBOX_URL}/emails`)).data;
        expect(mails.filter(({ to }) => to.includes(email)).map(({ subject }) => subject).sort()).toEqual(
          subjects.sort(),
        );
      }, patience),
  };
}

/** Sends a request again, up to five times, while its answer is 500. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1;; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === 5 || !/ answered 500: /.test(String(error))) throw error;
      await new Promise((resolve) => setTimeout(resolve, tries * 1000));
    }
  }
}

/** Shifts the time of the stack with `npm run clock`. */
export async function shiftClock(port: number, shift: string): Promise<void> {
  const args = ['run', 'clock', '--', '--port', String(port), shift];
  const { code, stderr } = await new Deno.Command('npm', { args, cwd: root }).output();
  if (code !== 0) throw new Error(`npm run clock: ${new TextDecoder().decode(stderr)}`);
}

/** Sends JSON. @returns the body of the answer. @throws when the status is no success */
export async function send(url: string, body?: unknown, headers: HeadersInit = {}) {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return await response.json();
}
