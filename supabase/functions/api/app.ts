import { corsHeaders } from '@supabase/supabase-js/cors';
import { type Context, Hono } from 'hono';
import { cors } from 'hono/cors';
import type { Answer } from './http/answer.ts';
import { AuthServerBusy } from './sessions/auth-server.ts';
import { runInBackground } from './http/background.ts';
import type { Config } from './config.ts';
import { DatabaseError } from './database/rpc.ts';
import { createDispatcher } from './outbox/dispatcher.ts';
import { errorAnswer, type ErrorName } from './http/errors.ts';
import { functionPath } from './http/function-path.ts';
import { createInternalAccess } from './sessions/internal-access.ts';
import type { Log } from './http/log.ts';
import type { Ports } from './ports.ts';
import { readBody } from './http/read-body.ts';
import { MalformedJson } from './http/read-json.ts';
import { requestLog } from './http/request-log.ts';
import { type AppEnv, send } from './http/send.ts';
import { routes } from './routes/routes.ts';
import { createDueOrderReader } from './gateway/due-orders.ts';
import { GatewayRefusal } from './gateway/gateway-refusal.ts';
import { createRateLimit, limitRate } from './gateway/rate-limit.ts';
import { createVerifier } from './gateway/signature.ts';
import { deadlineMilliseconds, withDeadline } from './http/with-deadline.ts';

const noBytes = new Uint8Array();

/** The HTTP application: routes, body limits, CORS. The only place that turns a fault into an answer. */
export function createApp(config: Config, ports: Ports, log: Log): Hono<AppEnv> {
  const verifiers = {
    verifyPaymentSignature: config.checkoutSecrets.length > 0 ? createVerifier(config.checkoutSecrets) : null,
    verifyWebhookSignature: config.webhookSecrets.length > 0 ? createVerifier(config.webhookSecrets) : null,
    mayCallInternally: createInternalAccess(config.internalKey, config.secretKey),
  };
  const gatewayReads = ports.gateway && limitRate(ports.gateway, createRateLimit(config.reconcileCallsPerSecond));
  const readDueOrder = createDueOrderReader(ports.database, gatewayReads);
  const dispatcher = createDispatcher(ports.database, ports.senders);
  const app = new Hono<AppEnv>({ getPath: functionPath });

  app.use(requestLog(log));
  const preflight = cors({
    origin: '*',
    allowMethods: ['GET', 'POST', 'PUT'],
    allowHeaders: [corsHeaders['Access-Control-Allow-Headers'] ?? '', 'idempotency-key'],
    exposeHeaders: ['x-request-id', 'retry-after'],
    maxAge: 86400,
  });
  app.options('*', async (c, next) => {
    c.header('x-request-id', c.get('requestId'));
    return await preflight(c, next);
  });
  app.use(readBody(routes, ports.auth, config.signatureHeader));

  for (const route of routes) {
    app.on(route.method, route.path, async (c) => {
      c.set('route', route.path);
      const dispatchLater = (milliseconds = 0) => runInBackground(dispatch(c.get('requestId'), milliseconds));
      const context = {
        ...ports,
        auth: c.get('auth') ?? ports.auth,
        ...verifiers,
        config,
        gatewayReads,
        readDueOrder,
        dispatcher,
        dispatchLater,
        workLater: (work: () => Promise<Answer>) => runInBackground(workInBackground(c.get('requestId'), work)),
        logFault: (error: unknown) => logFault(c.get('requestId'), error),
        request: c.req.raw,
        parameters: c.req.param(),
        body: c.get('body') ?? noBytes,
      };
      try {
        const deadline = (route.deadlineMilliseconds ?? deadlineMilliseconds) - (c.get('spent') ?? 0);
        return send(c, await withDeadline(route.handle(context), Math.max(deadline, 0)));
      } catch (error) {
        return fail(c, error, route.failure);
      }
    });
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    app.all(path, (c) => {
      const allow = routes.filter((route) => route.path === path).map((route) => route.method).join(', ');
      return send(c, { ...errorAnswer('methodNotAllowed'), headers: { allow } });
    });
  }
  app.notFound((c) => send(c, errorAnswer('notFound')));
  app.onError((error, c) => fail(c, error, 'requestFailed'));

  /** Dispatches the outbox after the answer. The next dispatch retries what fails here. */
  async function dispatch(requestId: string, milliseconds: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    try {
      await dispatcher.dispatch();
    } catch (error) {
      log({ level: 'error', event: 'dispatch_failed', request_id: requestId, error: describe(error) });
    }
  }

  async function workInBackground(requestId: string, work: () => Promise<Answer>): Promise<void> {
    try {
      const { outcome } = await work();
      log({ level: 'info', event: 'background_work', request_id: requestId, outcome });
    } catch (error) {
      logFault(requestId, error);
    }
  }

  function logFault(requestId: string, error: unknown, level = 'error'): void {
    log({ level, event: 'fault', request_id: requestId, error: describe(error) });
  }

  /** Logs a fault once. The answer contains no detail of it. */
  function fail(c: Context<AppEnv>, error: unknown, name: ErrorName): Response {
    const level = error instanceof MalformedJson ? 'info' : 'error';
    c.set('level', level);
    logFault(c.get('requestId'), error, level);
    const isBusy = error instanceof AuthServerBusy || error instanceof DatabaseError && error.isBusy;
    return send(c, { ...errorAnswer(name), ...(isBusy && { headers: { 'retry-after': String(error.retryAfter) } }) });
  }
  return app;
}

/** Error name and stack frame, without the message: messages of parsers and servers may quote customer data. */
function describe(error: unknown): string {
  if (error instanceof DatabaseError || error instanceof GatewayRefusal) return error.message;
  if (!(error instanceof Error)) return typeof error;
  const frame = error.stack?.split('\n').find((line) => line.includes('/functions/'));
  return `${error.name} ${frame?.trim().replace(/file:\S*\/functions\//, '') ?? ''}`.trim();
}
