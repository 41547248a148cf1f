/** Measures whether side effects delay a request, and how fast they are delivered. */
import pg from 'pg';
import { createDatabase } from '../../supabase/functions/api/database/database.ts';
import { createDispatcher } from '../../supabase/functions/api/outbox/dispatcher.ts';
import type { Sender } from '../../supabase/functions/api/ports.ts';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import { createRestTransport } from '../../supabase/functions/api/database/rest-transport.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { sign } from '../helpers/gateway/sign.ts';
import { freeBasePort, npmStart } from '../stack/running-stack.ts';
import { median, milliseconds, type Row } from './report.ts';

const repetitions = 3;
const requests = 40;

type Bench = { env: Record<string, string>; client: pg.Client; userId: string; token: string };

/** @returns the rows of the report. */
export async function benchOutbox(): Promise<Row[]> {
  // Without the gateway's API only the bench claims rows of destination gateway.
  const stack = npmStart(['--port', String(freeBasePort()), '--ephemeral'], { GATEWAY_API_URL: '' });
  const env = await stack.ready;
  const client = new pg.Client({ connectionString: env.DB_URL });
  await client.connect();
  try {
    const bench = { env, client, ...await signUp(env) };
    return [
      ...await requestsBesideReceivers(bench),
      ['e-mail, from commit to delivered', milliseconds(await deliveryDelays(bench))],
      ['outbox, rows claimed and completed a second by one dispatcher over REST', String(await dispatchRate(bench))],
      ...await claimBesideDelivered(bench),
      ['e-mail, rendered once warm', milliseconds(await renderTimes(), 2)],
    ];
  } finally {
    await client.end();
    await stack.end('not compared');
  }
}

async function signUp(env: Record<string, string>): Promise<{ userId: string; token: string }> {
  const response = await fetch(`${env.API_URL}/auth/v1/signup`, {
    method: 'POST',
    headers: { apikey: env.PUBLISHABLE_KEY ?? '', 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'bench@example.com', password: 'correct-horse-battery' }),
  });
  const session = await response.json();
  return { userId: session.user.id, token: session.access_token };
}

/** Measures in alternation with receivers up and receivers hanging. */
async function requestsBesideReceivers(bench: Bench): Promise<Row[]> {
  const times: Record<string, number[]> = {};
  for (let i = 0; i < repetitions; i++) {
    for (const mode of ['up', 'hanging']) {
      if (mode === 'hanging') await hangReceivers(bench.env);
      (times[`verify, receivers ${mode}`] ??= []).push(median(await timeRequests(() => verify(bench))));
      (times[`webhook, receivers ${mode}`] ??= []).push(median(await timeRequests(() => failedWebhook(bench))));
      await fetch(`${bench.env.MAILBOX_URL}/simulate/fault`, { method: 'DELETE' }).then((r) => r.body?.cancel());
    }
  }
  return Object.entries(times).toSorted().map(([what, medians]) => [`${what}, p50`, milliseconds(medians, 1)]);
}

async function hangReceivers(env: Record<string, string>): Promise<void> {
  for (const target of ['emails', 'revalidate']) {
    const response = await fetch(`${env.MAILBOX_URL}/simulate/fault`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ mode: 'hang', target }),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`The mailbox does not hang: ${response.status}`);
  }
}

async function timeRequests(request: () => Promise<() => Promise<void>>): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < requests; i++) {
    const send = await request();
    const started = performance.now();
    await send();
    times.push(performance.now() - started);
  }
  return times;
}

async function createOrder({ client, userId }: Bench): Promise<string> {
  const orderId = `order_${crypto.randomUUID()}`;
  await client.query(
    `insert into public.payments (user_id, amount, gateway_order_id, meta) values ($1, 99900, $2, '{"tier": "pro"}')`,
    [userId, orderId],
  );
  return orderId;
}

async function verify(bench: Bench): Promise<() => Promise<void>> {
  const orderId = await createOrder(bench);
  const paymentId = `pay_${crypto.randomUUID()}`;
  const body = JSON.stringify({
    gateway_order_id: orderId,
    gateway_payment_id: paymentId,
    gateway_signature: await sign(bench.env.GATEWAY_KEY_SECRET ?? '', `${orderId}|${paymentId}`),
  });
  return () => post(`${bench.env.FUNCTIONS_URL}/api/payments/verify`, { authorization: `Bearer ${bench.token}` }, body);
}

async function failedWebhook(bench: Bench): Promise<() => Promise<void>> {
  const body = paymentFailed({ order_id: await createOrder(bench) });
  const signature = await sign(bench.env.GATEWAY_WEBHOOK_SECRET ?? '', body);
  return () => post(`${bench.env.FUNCTIONS_URL}/api/webhooks/gateway`, { 'x-gateway-signature': signature }, body);
}

async function post(url: string, headers: Record<string, string>, body: string): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
}

async function deliveryDelays(bench: Bench): Promise<number[]> {
  const { client } = bench;
  await client.query('delete from billing.outbox');
  for (let i = 0; i < 20; i++) await (await verify(bench))();
  for (;;) {
    const { rows } = await client.query(
      `select extract(epoch from delivered_at - created_at) * 1000 as delay from billing.outbox where destination = 'email'`,
    );
    if (rows.length === 20 && rows.every(({ delay }) => delay !== null)) return rows.map(({ delay }) => Number(delay));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Measures the outbox itself: the receiver accepts at once. */
async function dispatchRate({ client, env }: Bench): Promise<number> {
  const count = 5000;
  await client.query(
    `insert into billing.outbox (key, destination, kind, payload)
    select 'bench/' || i, 'gateway', 'bench', '{}' from generate_series(1, $1::int) i`,
    [count],
  );
  const transport = createRestTransport(env.API_URL ?? '', env.SECRET_KEY ?? '');
  const database = createDatabase(transport);
  const accept: Sender = (rows) => [{ rows, deliver: () => Promise.resolve({ status: 'delivered' }) }];
  const started = performance.now();
  const { delivered } = await createDispatcher({
    ...database,
    claimOutbox: () => database.claimOutbox(['gateway']),
    nextOutboxAttempt: () => database.nextOutboxAttempt(['gateway']),
  }, { email: accept }).dispatch();
  if (delivered !== count) throw new Error(`${delivered} of ${count} rows delivered`);
  return Math.round(count / ((performance.now() - started) / 1000));
}

async function claimBesideDelivered({ client }: Bench): Promise<Row[]> {
  const before = await claimTimes(client);
  await client.query(
    `insert into billing.outbox (key, destination, kind, payload, delivered_at)
    select 'delivered/' || i, 'gateway', 'bench', '{}', now() from generate_series(1, 1000000) i`,
  );
  await client.query('vacuum analyze billing.outbox');
  return [
    ['outbox, claim and complete 20 rows, few delivered rows in the table', milliseconds(before, 2)],
    [
      'outbox, claim and complete 20 rows, 1,000,000 delivered rows in the table',
      milliseconds(await claimTimes(client), 2),
    ],
  ];
}

async function claimTimes(client: pg.Client): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < 100; i++) {
    await client.query(
      `insert into billing.outbox (key, destination, kind, payload)
      select 'claim/' || gen_random_uuid(), 'gateway', 'bench', '{}' from generate_series(1, 20)`,
    );
    const started = performance.now();
    const { rows } = await client.query(`select public.claim_outbox('gateway') as claim`);
    const { token, rows: claimed } = rows[0].claim;
    await client.query('select public.complete_outbox($1, $2)', [
      token,
      claimed.map(({ id }: { id: number }) => id).join(','),
    ]);
    times.push(performance.now() - started);
    if (claimed.length !== 20) throw new Error(`${claimed.length} rows claimed`);
  }
  return times;
}

async function renderTimes(): Promise<number[]> {
  const row = {
    kind: 'payment-success',
    payload: {
      to: 'asha@example.com',
      display_name: 'Asha',
      plan_name: 'Pro',
      amount: 99900,
      currency: 'INR',
      transaction_id: 'pay_29QQoUBi66xm2f',
      valid_until: '2027-11-20T00:00:00.000Z',
    },
  };
  const times: number[] = [];
  for (let i = 0; i < 1001; i++) {
    const started = performance.now();
    await renderEmail(row, { appUrl: 'https://app.example.com' });
    times.push(performance.now() - started);
  }
  return times.slice(1);
}
