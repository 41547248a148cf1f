import { afterAll, beforeAll, expect, vi } from 'vitest';
import type { Fault } from '../../../scripts/stack/gateway/errors.ts';
import { createFunction, type EdgeFunction } from '../../../scripts/stack/function/function.ts';
import { createGatewaySimulator } from '../../../scripts/stack/gateway/gateway-simulator.ts';
import { postJson } from '../../../scripts/stack/gateway/post-json.ts';
import { sweep } from '../../../scripts/stack/postgres/sweep.ts';
import { setClock } from '../database/clock.ts';
import type { ReconcileReport } from '../../../supabase/functions/api/gateway/reconciler.ts';
import { anyUser } from '../gateway/any-user.ts';
import { secrets } from '../gateway/sign.ts';
import { answer } from '../http/answer.ts';
import { createCaller } from '../http/caller.ts';
import type { Project, SignedUpUser } from '../project/project.ts';
import { functionEnvironment } from './fault-project.ts';

const internalKey = 'internal-key-of-the-tests';
const basic = `Basic ${btoa(`${secrets.GATEWAY_KEY_ID}:${secrets.GATEWAY_KEY_SECRET}`)}`;

/** The type of `response.json()`. */
type Json = Awaited<ReturnType<Response['json']>>;

/** A subscription at the simulator. */
export type Billed = {
  id: string;
  plan_id: string;
  status: string;
  paid_count: number;
  current_end: number;
  charge_at: number;
  notes: { user_id: string };
};

/** An answer of the function. */
export type Answer = { status: number; body: Json };
export type BillingProject = ReturnType<typeof useBillingProject>;

/** What becomes of a webhook: it arrives, it is lost, or it comes later, at a time in seconds. */
export type Fate = 'arrives' | 'lost' | number;

/**
 * The served function with a gateway that bills subscriptions. Both clocks stand still until a test moves them; the
 * gateway's is `skew` seconds ahead. `fateOf` decides about each webhook.
 */
export function useBillingProject(
  project: Project,
  { skew = 0, fateOf = () => 'arrives', from = '2027-01-10T12:00:00Z' }: Partial<Weather> = {},
) {
  const start = Date.parse(from);
  /** Webhooks about these subscriptions are lost. */
  const silent = new Set<string>();
  let hours = 0;
  /** The last lines of the function's log. */
  let lines: string[] = [];
  const late: { at: number; headers: Headers; body: string }[] = [];
  const deliver = ({ headers, body }: { headers: Headers; body: string }) =>
    fetch(`${running().edgeFunction.url}/api/webhooks/gateway`, { method: 'POST', headers, body });
  const setTime = () => setClock(project.database, new Date(start + hours * 3_600_000).toISOString());
  let parts: Parts | undefined;
  const running = () => parts ?? expect.fail('the project is there only while tests run');

  beforeAll(async () => {
    const receiver = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, async ({ headers, body }) => {
      const text = await new Response(body).text();
      const fate = [...silent].some((id) => text.includes(id)) ? 'lost' : fateOf(text);
      if (fate === 'arrives') return await deliver({ headers, body: text });
      if (fate !== 'lost') late.push({ at: fate, headers, body: text });
      return new Response(null);
    });
    const simulator = createGatewaySimulator({
      port: 0,
      keyId: secrets.GATEWAY_KEY_ID,
      keySecret: secrets.GATEWAY_KEY_SECRET,
      webhookSecret: secrets.GATEWAY_WEBHOOK_SECRET,
      webhookUrl: `http://127.0.0.1:${receiver.addr.port}`,
      firstRetryMs: 50,
      isOwn: anyUser,
      /** The time of both clocks, in seconds. */
      now: () => start + hours * 3_600_000 + skew * 1000,
    });
    await simulator.start();
    const edgeFunction = createFunction({
      port: 0,
      env: {
        ...functionEnvironment(project.apiUrl),
        RECONCILE_CALLS_PER_SECOND: '1000',
        DATABASE_POOL_URL: project.poolUrl,
        GATEWAY_API_URL: simulator.url,
        INTERNAL_KEY: internalKey,
      },
      log: (line) => void (lines = [...lines, line].slice(-20)),
    });
    parts = { receiver, simulator, edgeFunction };
    await edgeFunction.start();
    await edgeFunction.ready();
    await setTime();
    // Basic and pro by the month, at the gateway, too.
    const plans = await project.database.query(
      `update public.plans set gateway_plan_id = 'plan_' || tier, duration_months = 1 where tier in ('basic', 'pro')
       returning gateway_plan_id as id, price::integer as amount`,
    );
    for (const plan of plans) await postJson(url('/simulate/plan'), { ...plan, period: 'monthly', interval: 1 });
  });
  afterAll(async () => {
    await running().simulator.stop();
    await running().receiver.shutdown();
    await running().edgeFunction.stop();
  });

  const url = (path: string) => running().simulator.url + path;
  const read = async (path: string) => await (await fetch(url(path))).json();
  const readApi = async (path: string): Promise<Json> =>
    await (await fetch(url(`/v1${path}`), { headers: { authorization: basic } })).json();
  /** All pages of a list of the gateway's API, the newest first. */
  const readAll = async (path: string): Promise<Json[]> => {
    const found: Json[] = [];
    for (let skip = 0;; skip += 100) {
      const { items } = await readApi(`${path}?count=100&skip=${skip}`);
      found.push(...items);
      if (items.length < 100) return found;
    }
  };
  const settled = () =>
    vi.waitFor(async () => {
      expect(await read('/simulate/due')).toMatchObject({ under_way: 0, retrying: [] });
    }, { timeout: 30_000, interval: 10 });
  const internal = (endpoint: string) =>
    fetch(`${running().edgeFunction.url}/api/internal/${endpoint}`, {
      method: 'POST',
      headers: { 'x-internal-key': internalKey },
    }).then((response) => response.json());
  const send = async (
    { accessToken }: SignedUpUser,
    path: string,
    body?: unknown,
    method = body === undefined ? 'GET' : 'POST',
  ): Promise<Answer> => {
    const { status, body: received } = await answer(fetch(`${running().edgeFunction.url}/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    }));
    // A fault is shown with its cause.
    return { status, body: status === 500 ? { ...Object(received), log: lines } : Object(received) };
  };

  const mend = async () => {
    await (await fetch(url('/simulate/fault'), { method: 'DELETE' })).body?.cancel();
  };

  return {
    silent,
    get database() {
      return project.database;
    },
    newUser: () => createCaller(project.database),
    /** Kills the function, and starts it again with a gateway that answers. */
    async kill() {
      const { edgeFunction } = running();
      Deno.kill(edgeFunction.pid() ?? NaN, 'SIGKILL');
      await edgeFunction.start();
      await edgeFunction.ready();
      await mend();
    },
    send,
    /** The time of both clocks, in seconds. */
    now: () => Math.floor(start / 1000 + hours * 3600),
    /** Uses a control of the gateway simulator. */
    async simulate(control: string, fields: Record<string, unknown>): Promise<unknown> {
      const done = await postJson(url(`/simulate/${control}`), fields);
      await settled();
      return done;
    },
    /** Calls the gateway's API as its dashboard does: `path` is below `/v1`. */
    async callApi(path: string, body: unknown = {}): Promise<unknown> {
      const init = { method: 'POST', headers: { authorization: basic }, body: JSON.stringify(body) };
      const response = await fetch(url(`/v1${path}`), init);
      expect(response.status).toBe(200);
      await settled();
      return await response.json();
    },
    /** Breaks the gateway's API until `mend`. */
    breakApi: (fault: Partial<Fault>) => postJson(url('/simulate/fault'), { mode: 'close', ...fault }),
    /** Waits until the failing calls of `breakApi` with `times` were made. */
    broken: () =>
      vi.waitFor(async () => expect((await read('/simulate/fault')).faults).toEqual([]), {
        timeout: 30_000,
        interval: 10,
      }),
    mend,
    /** The subscriptions of a user at the gateway, the oldest first. */
    async atGateway({ id }: Pick<SignedUpUser, 'id'>) {
      const subscriptions: Billed[] = await readAll('/subscriptions');
      return subscriptions.filter(({ notes }) => notes.user_id === id).reverse();
    },
    /** When something is due at the gateway next. */
    readDue: (): Promise<Json> => read('/simulate/due'),
    /** Reads the gateway's API: `path` is below `/v1`. */
    readApi,
    readAll,
    /** Moves both clocks. The gateway makes everything happen that is due; its webhooks arrive. */
    async moveOn(more: number) {
      hours += more;
      await setTime();
      await postJson(url('/simulate/due'), {});
      await settled();
    },
    /** Delivers the webhooks that come late, in any order, as far as their time has come. @returns when the next one comes */
    async deliverLate(): Promise<number | undefined> {
      const now = start / 1000 + hours * 3600;
      const due = late.filter(({ at }) => at <= now);
      late.splice(0, Infinity, ...late.filter(({ at }) => at > now));
      for (const one of due.toSorted((a, b) => a.body.length - b.body.length)) {
        const response = await deliver(one);
        expect({ status: response.status, body: await response.text() }).toMatchObject({ status: 200 });
      }
      return late.map(({ at }) => at).sort((a, b) => a - b)[0];
    },
    /** Runs the sweep, reconciliation and the outbox, as the schedule does. @returns the report of the reconciliation */
    async runSchedule(): Promise<ReconcileReport> {
      await project.database.query(sweep);
      const report = await internal('reconcile');
      await internal('outbox');
      await settled();
      return report;
    },
  };
}

type Weather = { skew: number; fateOf: (body: string) => Fate; from: string };
type Parts = {
  receiver: Deno.HttpServer<Deno.NetAddr>;
  simulator: ReturnType<typeof createGatewaySimulator>;
  edgeFunction: EdgeFunction;
};
