/**
 * A literal implementation of the contract's order of checks: one call of supabase-js per step, no transaction, no
 * ledger, no outbox. It exists only for the comparison; never use it.
 */
import { createClient } from '@supabase/supabase-js';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { createVerifier } from '../../supabase/functions/api/gateway/signature.ts';

const env = (name: string) => Deno.env.get(name) ?? '';
const client = createClient(env('SUPABASE_URL'), env('SUPABASE_SECRET_KEY'), {
  auth: { persistSession: false, autoRefreshToken: false },
});
const jwks = JSON.parse(env('SUPABASE_JWKS'));
const verifyPayment = createVerifier([env('GATEWAY_KEY_SECRET')]);
const verifyWebhook = createVerifier([env('GATEWAY_WEBHOOK_SECRET')]);
const encoder = new TextEncoder();

async function caller(request: Request): Promise<string> {
  const token = request.headers.get('authorization')?.replace('Bearer ', '') ?? '';
  const { data, error } = await client.auth.getClaims(token, { jwks });
  if (error || !data) throw new Error('no session');
  return data.claims.sub;
}

/** @returns the data of a call @throws when it failed */
async function done<T>(call: PromiseLike<{ data: T; error: unknown }>): Promise<T> {
  const { data, error } = await call;
  if (error) throw error;
  return data;
}

/** @returns the one row of a call @throws when there is none */
async function one<T>(call: PromiseLike<{ data: T; error: unknown }>): Promise<NonNullable<T>> {
  const row = await done(call);
  if (row === null || row === undefined) throw new Error('no row');
  return row;
}

async function read(request: Request): Promise<unknown> {
  const userId = await caller(request);
  const subscription = await done(
    client.from('subscriptions').select('*, plan:plans(*)').eq('user_id', userId).maybeSingle(),
  );
  const profile = await done(client.from('profiles').select('subscription_tier').eq('user_id', userId).maybeSingle());
  const payments = await done(
    client.from('payments').select('*').eq('user_id', userId).order('created_at', { ascending: false }).limit(10),
  );
  return { subscription, currentTier: profile?.subscription_tier ?? 'free', payments };
}

async function verify(request: Request): Promise<unknown> {
  const userId = await caller(request);
  const { gateway_order_id: orderId, gateway_payment_id: paymentId, gateway_signature: signature } = await request
    .json();
  if (!await verifyPayment(encoder.encode(`${orderId}|${paymentId}`), signature)) throw new Error('signature');
  const payment = await one(
    client.from('payments').select('id, meta').eq('gateway_order_id', orderId).eq('user_id', userId).single(),
  );
  const paid = { status: 'captured', gateway_payment_id: paymentId, gateway_signature: signature };
  await done(client.from('payments').update(paid).eq('id', payment.id));
  const tier = payment.meta?.tier ?? 'basic';
  const plan = await one(client.from('plans').select('*').eq('tier', tier).single());
  const start = new Date();
  const end = new Date(start);
  end.setUTCMonth(end.getUTCMonth() + (plan.duration_months || 12));
  const period = {
    plan_id: plan.id,
    tier,
    status: 'active',
    current_period_start: start.toISOString(),
    current_period_end: end.toISOString(),
  };
  const before = await done(client.from('subscriptions').select('id').eq('user_id', userId).maybeSingle());
  const subscription = await one(
    before
      ? client.from('subscriptions').update(period).eq('id', before.id).select('id').single()
      : client.from('subscriptions').insert({ user_id: userId, ...period }).select('id').single(),
  );
  await done(client.from('payments').update({ subscription_id: subscription.id }).eq('id', payment.id));
  await done(client.from('profiles').update({ subscription_tier: tier }).eq('user_id', userId));
  await done(client.from('profiles').select('display_name, username').eq('user_id', userId).maybeSingle());
  return { success: true, subscription: { tier, validUntil: end.toISOString() } };
}

async function webhook(request: Request): Promise<unknown> {
  const body = new Uint8Array(await request.arrayBuffer());
  if (!await verifyWebhook(body, request.headers.get('x-gateway-signature') ?? '')) throw new Error('signature');
  const { payload } = JSON.parse(new TextDecoder().decode(body));
  await done(
    client.from('payments').update({ status: 'captured' }).eq('gateway_payment_id', payload.payment.entity.id),
  );
  return { received: true };
}

const routes = new Map([
  ['/api/subscriptions', read],
  ['/api/payments/verify', verify],
  ['/api/webhooks/gateway', webhook],
]);
Deno.serve({
  hostname: '127.0.0.1',
  port: 0,
  onListen: ({ port }) => writeLine(JSON.stringify({ event: 'listening', port })),
}, async (request) => {
  const route = routes.get(new URL(request.url).pathname);
  return route === undefined ? new Response(null, { status: 404 }) : Response.json(await route(request));
});
