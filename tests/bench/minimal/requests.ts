import type pg from 'pg';
import { newId } from '../../../scripts/stack/gateway/new-id.ts';
import { capturedBody, ignoredBody, newPaymentIds } from '../gateway-bodies.ts';
import { insertOrders, sha256, type Users } from '../our-database.ts';

/** The compared databases: ours, our tables without our rules, and the minimal schema. */
export const sides = ['ours', 'rows', 'minimal'] as const;
export type Side = (typeof sides)[number];

/** The measured requests. */
export const kinds = ['verify', 'captured', 'charged', 'ignored', 'read'] as const;
export type Kind = (typeof kinds)[number];

/** The RPC that a request calls. */
export const rpcs: Record<Kind, string> = {
  verify: 'verify_payment',
  captured: 'apply_gateway_event',
  charged: 'apply_gateway_event',
  ignored: 'apply_gateway_event',
  read: 'get_subscription',
};

/** A call of the RPC, and the check of its result. */
export type Call = { readonly query: pg.QueryConfig; isRight(result: unknown): boolean };

/** @throws Error when the result is wrong */
export async function sendCall(client: pg.Client, { query, isRight }: Call): Promise<void> {
  const { rows: [row] } = await client.query(query);
  if (!isRight(row?.result)) throw new Error(`${query.text}: ${JSON.stringify(row)}`);
}

/** The same requests for all databases. */
export type Calls = Record<Side, readonly Call[]>;

/** The inputs of new requests: the users, the next `subscription.charged`, and a session of each database's owner. */
export type Setting = {
  readonly users: Users;
  readonly nextCharge: () => string;
  readonly owners: Record<Side, pg.Client>;
};

/**
 * Creates new requests of a kind for users in rotation. Unpaid orders and earlier payments are inserted into all
 * databases.
 */
export async function createCalls(kind: Kind, count: number, setting: Setting): Promise<Calls> {
  const { buyers } = setting.users;
  const userIds = Array.from({ length: count }, (_, index) => buyers[index % buyers.length] ?? '');
  switch (kind) {
    case 'verify':
      return await createVerifies(userIds, setting);
    case 'captured':
      return await createCaptures(userIds, setting);
    case 'charged':
      return webhooks(userIds.map(setting.nextCharge), (outcome) => outcome === 'applied', true);
    case 'ignored':
      return webhooks(userIds.map(ignoredBody), (outcome) => String(outcome).startsWith('ignored'), false);
    case 'read': {
      const calls = userIds.map((id) =>
        call('get_subscription($1)', [id], (result) => field(result, 'currentTier') === 'pro')
      );
      return { ours: calls, rows: calls, minimal: calls };
    }
  }
}

async function createVerifies(userIds: readonly string[], { owners }: Setting): Promise<Calls> {
  const orders = userIds.map((userId) => [userId, newId('order'), newId('pay'), '0'.repeat(64)] as const);
  for (const side of sides) await insertOrders(owners[side], userIds, orders.map(([, orderId]) => orderId));
  const isRight = (result: unknown) => field(result, 'outcome') === 'applied';
  const ours = orders.map((order) => call('verify_payment($1, $2, $3, $4)', [...order], isRight));
  return {
    ours,
    rows: ours,
    minimal: orders.map((order) => call('verify_payment($1, $2, $3, $4)', [...order], isRight)),
  };
}

/**
 * Our RPC matches the payment by its order. The minimal one matches it by the payment id, so it is stored there first.
 */
async function createCaptures(userIds: readonly string[], { owners }: Setting): Promise<Calls> {
  const payments = userIds.map(newPaymentIds);
  const orderIds = payments.map(({ order_id }) => order_id);
  for (const side of sides) await insertOrders(owners[side], userIds, orderIds);
  await owners.minimal.query(
    `update public.payments p set gateway_payment_id = o.payment_id
     from unnest($1::text[], $2::text[]) o (order_id, payment_id) where p.gateway_order_id = o.order_id`,
    [orderIds, payments.map(({ id }) => id)],
  );
  return webhooks(payments.map(capturedBody), (outcome) => outcome === 'applied', true);
}

function webhooks(bodies: readonly string[], isRight: (outcome: unknown) => boolean, writes: boolean): Calls {
  const ours = bodies.map((body) => {
    const values = [sha256(body), newId('evt'), body];
    return call('apply_gateway_event($1, $2, $3)', values, (result) => isRight(field(result, 'outcome')));
  });
  const minimal = bodies.map((body) => call('apply_gateway_event($1)', [body], (result) => result === writes));
  return { ours, rows: ours, minimal };
}

function call(expression: string, values: unknown[], isRight: Call['isRight']): Call {
  return { query: { text: `select public.${expression} as result`, values }, isRight };
}

function field(result: unknown, name: string): unknown {
  return typeof result === 'object' && result !== null
    ? Object.entries(result).find(([key]) => key === name)?.[1]
    : undefined;
}
