import { type Check, fail, type Outcome, pass, warn } from '../check.ts';
import type { Context } from '../context.ts';
import { callGateway, describeRefusal } from '../gateway-api.ts';

/** The gateway accepts the API key, and the key has the right mode: live on a hosted project, test locally. */
export const gatewayKey: Check = {
  name: 'gateway-key',
  needs: ['gateway key'],

  async run(context) {
    const refusal = await refused(context);
    return [...refusal === null ? [] : [refusal], ...checkMode(context), ...await ordersOfOtherKeys(context)];
  },
};

async function refused(context: Context): Promise<Outcome | null> {
  const reply = await callGateway(context, 'GET', '/payments?count=1');
  // The simulator can't list payments (404), but it checks the key first.
  const accepted = reply.status === 200 || context.hasSimulator && reply.status === 404;
  return accepted ? null : describeRefusal(context, reply, 'whether the key is valid');
}

/** Key ids of the gateway contain their mode. */
function checkMode({ mode, environment }: Context): Outcome[] {
  const keyId = environment.GATEWAY_KEY_ID ?? '';
  const ofKey = /^[a-z]+_(test|live)_/.exec(keyId)?.[1];
  if (mode === 'local' && ofKey === 'live') {
    return [fail(`${keyId} is a live key: the local stack would take real money`, 'Set a test key.')];
  }
  if (mode === 'hosted' && ofKey === 'test') {
    return [warn(`${keyId} is a test key: no real money`, 'Set the live key before customers pay.')];
  }
  return [pass(`${keyId} is accepted${ofKey === undefined ? '' : `, a ${ofKey} key`}`)];
}

/** Orders are reconciled for five days. Under this key the gateway does not know orders of another key. */
async function ordersOfOtherKeys({ query, databaseUrl, environment }: Context): Promise<Outcome[]> {
  if (databaseUrl === null) return [];
  const rows = await query(
    `select p.gateway_key_id as key_id, count(*)::int as orders
    from public.payments p
    where p.status = 'created'
      and p.created_at > now() - interval '5 days'
      and p.gateway_key_id <> $1
    group by 1
    order by 1`,
    [environment.GATEWAY_KEY_ID],
  );
  if (rows.length === 0) return [];
  const orders = rows.map(({ key_id, orders }) => `${orders} of ${key_id}`).join(', ');
  return [
    warn(
      `open orders of another key, unknown under this one: ${orders}`,
      "Check their payments in the gateway's dashboard, in the mode of that key. The orders expire without an action.",
    ),
  ];
}
