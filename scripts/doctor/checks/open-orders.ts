import { type Check, pass, warn } from '../check.ts';

/** Orders are reconciled for five days. Under this key the gateway does not know orders of another key. */
export const openOrders: Check = {
  name: 'open-orders',
  needs: ['gateway key', 'database'],

  async run({ query, environment }) {
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
    if (rows.length === 0) return [pass('no open order is of another key')];
    const orders = rows.map(({ key_id, orders }) => `${orders} of ${key_id}`).join(', ');
    return [
      warn(
        `open orders of another key, unknown under this one: ${orders}`,
        "Check their payments in the gateway's dashboard, in the mode of that key. The orders expire without an action.",
      ),
    ];
  },
};
