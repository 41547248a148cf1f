import type pg from 'pg';
import { newId } from '../../../scripts/stack/gateway/new-id.ts';
import { capturedBody, createBilling, ignoredBody, newPaymentIds } from '../gateway-bodies.ts';
import { insertOrders, sha256, type Users } from '../our-database.ts';

/** The measured requests, with their names in the report. */
export const requests = {
  read: 'read',
  order: 'order, until it is stored',
  verify: 'verify that fulfils',
  captured: 'webhook that fulfils (`payment.captured`)',
  charged: 'webhook of a renewal (`subscription.charged`)',
  ignored: 'webhook that is only recorded',
  mails: 'e-mail, claimed and completed (20 at once)',
} as const;
export type Request = keyof typeof requests;

/** How many requests one execution contains. */
export const perExecution: Record<Request, number> = {
  read: 1,
  order: 1,
  verify: 1,
  captured: 1,
  charged: 1,
  ignored: 1,
  mails: 20,
};

/** One execution: the database calls of the function. */
export type Execution = (client: pg.Client) => Promise<void>;

/** Creates executions of each request. The owner inserts the rows that they need first. */
export function createExecutions(
  users: Users,
  owner: pg.Client,
): (request: Request, count: number) => Promise<Execution[]> {
  const nextCharge = createBilling(users.subscribers);
  const { buyers } = users;
  const withoutOrder = [...buyers];

  async function unpaidOrders(count: number): Promise<{ userId: string; orderId: string }[]> {
    const orders = Array.from({ length: count }, (_, index) => ({
      userId: buyers[index % buyers.length] ?? '',
      orderId: newId('order'),
    }));
    await insertOrders(owner, orders.map(({ userId }) => userId), orders.map(({ orderId }) => orderId));
    return orders;
  }

  return async (request, count) => {
    switch (request) {
      case 'read':
        return Array.from(
          { length: count },
          (_, index) => call('get_subscription($1)', [buyers[index % buyers.length]], 'currentTier'),
        );
      case 'order':
        return Array.from({ length: count }, () => placeOrder(withoutOrder.pop() ?? fail('users')));
      case 'verify':
        return (await unpaidOrders(count)).map(({ userId, orderId }) =>
          call('verify_payment($1, $2, $3, $4)', [userId, orderId, newId('pay'), '0'.repeat(64)], 'valid_until')
        );
      case 'captured': {
        const payments = Array.from({ length: count }, newPaymentIds);
        await insertOrders(
          owner,
          payments.map((_, index) => buyers[index % buyers.length] ?? ''),
          payments.map(({ order_id }) => order_id),
        );
        return payments.map((payment) => webhook(capturedBody(payment)));
      }
      case 'charged':
        return Array.from({ length: count }, () => webhook(nextCharge()));
      case 'ignored':
        return Array.from({ length: count }, () => webhook(ignoredBody()));
      case 'mails':
        await owner.query(
          `insert into billing.outbox (key, destination, kind, payload)
           select 'payment-success/' || gen_random_uuid(), 'email', 'payment-success', jsonb_build_object(
             'to', 'asha.rao@example.com', 'display_name', 'Asha Rao', 'plan_name', 'Pro', 'amount', 99900,
             'currency', 'INR', 'transaction_id', 'pay_AbCdEfGhIjKlMn', 'valid_until', '2027-11-20T11:45:40.559Z')
           from generate_series(1, $1)`,
          [count * perExecution.mails],
        );
        return Array.from({ length: count }, () => deliverMails);
    }
  };
}

function webhook(body: string): Execution {
  return call('apply_gateway_event($1, $2, $3)', [sha256(body), newId('evt'), body], 'outcome');
}

/** @param field a field that the answer must have */
function call(expression: string, values: unknown[], field: string): Execution {
  return async (client) => {
    const { rows: [row] } = await client.query(`select public.${expression} as result`, values);
    if (row.result[field] === undefined) throw new Error(`${expression}: ${JSON.stringify(row.result)}`);
  };
}

/** Each execution needs another user: create_order would return an open order again. */
function placeOrder(userId: string): Execution {
  return async (client) => {
    const { rows: [row] } = await client.query("select public.create_order($1, 'pro') as result", [userId]);
    const { outcome, payment_id: paymentId } = row.result;
    if (outcome !== 'created') throw new Error(`create_order: ${outcome}`);
    await client.query('select public.store_order($1, $2)', [paymentId, newId('order')]);
  };
}

async function deliverMails(client: pg.Client): Promise<void> {
  const { rows: [row] } = await client.query("select public.claim_outbox('email') as result");
  const ids: number[] = row.result.rows.map(({ id }: { id: number }) => id);
  if (ids.length !== perExecution.mails) throw new Error(`${ids.length} mails were claimed`);
  await client.query('select public.complete_outbox($1, $2)', [row.result.token, ids.join(',')]);
}

function fail(what: string): never {
  throw new Error(`too few ${what}`);
}
