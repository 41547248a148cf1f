import { build, stop } from 'esbuild';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { localKeys } from '../helpers/project/keys.ts';
import { root } from '../../scripts/stack/root.ts';
import { createGatewaySimulator } from '../../scripts/stack/gateway/gateway-simulator.ts';
import type { LocalHostService } from '../../scripts/stack/http/local-host-service.ts';
import type { TestBrowser } from '../helpers/browser/use-browser.ts';
import { anyUser } from '../helpers/gateway/any-user.ts';
import { secrets } from '../helpers/gateway/sign.ts';
import { createCaller } from '../helpers/http/caller.ts';
import type { Project } from '../helpers/project/project.ts';
import { type RunningService, startService } from '../helpers/project/targets.ts';

/** A page of the app, with the session of a new customer. */
type Tab = {
  readonly page: Page;
  /** Another tab of the same browser. */
  another(): Promise<Tab>;
  buy(options?: { method?: 'subscribe'; redirect?: boolean; checkSeconds?: number }): Promise<void>;
  /** How the checkout ended. */
  result(): Promise<Record<string, unknown>>;
  states(): Promise<unknown>;
  currentTier(): Promise<unknown>;
  /** The ids of the checkouts that storage remembers. */
  remembered(): Promise<unknown>;
};

/** The app for the tests of a file: on one origin, and the function on another one, with the simulated gateway. */
export function useApp(project: Project) {
  let service: RunningService;
  let simulator: LocalHostService;
  let server: Deno.HttpServer<Deno.NetAddr>;
  let script = '';
  const paths: string[] = [];
  const functionsUrl = () => `http://127.0.0.1:${server.addr.port}`;

  async function answer(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    if (pathname === '/app.js') return new Response(script, { headers: { 'content-type': 'text/javascript' } });
    if (!pathname.startsWith('/functions/v1/')) return page(search);
    const path = pathname.slice('/functions/v1'.length);
    if (request.method !== 'OPTIONS') paths.push(path);
    const body = request.body === null ? null : await request.arrayBuffer();
    const { method, headers } = request;
    return await service.request(path, { method, headers, body, redirect: 'manual' });
  }

  function page(search: string): Response {
    const allowed = search === '?forbids' ? '' : simulator.url;
    const policy = `default-src 'none'; script-src 'self' ${allowed}; frame-src ${allowed || "'none'"}; ` +
      `connect-src ${functionsUrl()}`;
    const html = '<!doctype html><html lang="en"><title>App</title><h1>App</h1><script src="/app.js"></script></html>';
    return new Response(html, { headers: { 'content-type': 'text/html', 'content-security-policy': policy } });
  }

  beforeAll(async () => {
    const entry = { absWorkingDir: root, entryPoints: ['tests/browser/app.js'], target: 'es2020' };
    const { outputFiles: [bundle] } = await build({ ...entry, bundle: true, write: false }).finally(stop);
    script = bundle?.text ?? '';
    server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen() {} }, answer);
    simulator = createGatewaySimulator({
      port: 0,
      keyId: secrets.GATEWAY_KEY_ID,
      keySecret: secrets.GATEWAY_KEY_SECRET,
      webhookSecret: secrets.GATEWAY_WEBHOOK_SECRET,
      webhookUrl: `${functionsUrl()}/functions/v1/api/webhooks/gateway`,
      firstRetryMs: 50,
      isOwn: anyUser,
    });
    await simulator.start();
    service = await startService('in process over the pool', project, {
      GATEWAY_API_URL: simulator.url,
      APP_URL: `http://localhost:${server.addr.port}`,
      GATEWAY_RETURN_FIELDS: 'razorpay_order_id,razorpay_payment_id,razorpay_signature',
    });
  });
  beforeEach(async () => {
    paths.length = 0;
    await simulate('checkout', {});
  });
  afterAll(async () => {
    await simulator.stop();
    await server.shutdown();
    await service.stop();
  });

  async function simulate(control: string, fields: Record<string, unknown>): Promise<void> {
    const body = JSON.stringify(fields);
    const response = await fetch(`${simulator.url}/simulate/${control}`, { method: 'POST', body });
    if (!response.ok) throw new Error(await response.text());
    await response.body?.cancel();
  }

  async function openTab(page: Page, search = ''): Promise<Tab> {
    await page.goto(`http://localhost:${server.addr.port}/${search}`);
    const settings = { publishableKey: localKeys.publishable, script: `${simulator.url}/v1/checkout.js` };
    const begin = () => page.evaluate(`start(${JSON.stringify({ url: functionsUrl(), ...settings })})`);
    await begin();
    return {
      page,
      another: async () => await openTab(await page.browserContext().newPage()),
      async buy(options = {}) {
        await page.evaluate(`buy('pro', ${JSON.stringify(options)})`);
      },
      async result() {
        await page.waitForFunction('globalThis.result', { polling: 50, timeout: 20_000 });
        return Object(await page.evaluate('result'));
      },
      states: () => page.evaluate('states'),
      async currentTier() {
        await begin();
        return await page.evaluate('subscriptions.current().then(({ currentTier }) => currentTier)');
      },
      remembered: () => page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('subscriptions:'))"),
    };
  }

  return {
    /** The requests to a path of the function. */
    requests: (path: string) => paths.filter((one) => one === path).length,
    simulate,
    /** The statuses of the orders at the gateway, oldest first. */
    async orders(): Promise<string[]> {
      const { orders } = await (await fetch(`${simulator.url}/simulate/state`)).json();
      return orders.map(({ status }: { status: string }) => status);
    },
    /** Opens a page whose policy allows the gateway's script, or does not. */
    async open(browser: TestBrowser, policy: 'allows' | 'forbids' = 'allows'): Promise<Tab> {
      const page = await browser.openPage();
      const { id, email, accessToken } = await createCaller(project.database);
      await page.goto(`http://localhost:${server.addr.port}/`);
      const session = {
        ...{ access_token: accessToken, refresh_token: 'none', token_type: 'bearer', user: { id, email } },
        ...{ expires_in: 3600, expires_at: Math.floor(Date.now() / 1000) + 3600 },
      };
      await page.evaluate(`localStorage.setItem('session', ${JSON.stringify(JSON.stringify(session))})`);
      return await openTab(page, policy === 'forbids' ? '?forbids' : '');
    },
  };
}
