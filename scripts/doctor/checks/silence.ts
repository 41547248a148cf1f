import { type Check, fail, pass } from '../check.ts';
import { listPayments } from '../gateway-api.ts';

/** Webhooks arrive: the ledger has one for each order that was paid in the last seven days. */
export const silence: Check = {
  name: 'silence',
  needs: ['gateway key', 'database'],

  async run(context) {
    const listed = await listPayments(context);
    if ('outcome' in listed) return [listed.outcome];
    const paid = listed.payments.filter(({ status }) => status === 'captured' || status === 'refunded');
    const orderIds = paid.flatMap(({ order_id }) => order_id ?? []);
    const rows = await context.query(
      `select
        p.gateway_order_id as order_id,
        exists (
          select
          from billing.gateway_events e
          where e.subject_id = p.gateway_order_id
            and e.deliveries > 0
        ) as was_announced
      from public.payments p
      where p.gateway_order_id = any ($1)
      order by 1`,
      [orderIds],
    );
    if (rows.length === 0) return [pass('none of our orders was paid in the last seven days')];
    const silent = rows.filter(({ was_announced }) => was_announced === false);
    if (silent.length === 0) return [pass(`${rows.length} paid orders, each announced by a webhook`)];
    const examples = silent.slice(0, 3).map(({ order_id }) => order_id).join(', ');
    return [
      fail(
        `paid at the gateway without a webhook here: ${silent.length} of ${rows.length} orders (${examples})`,
        'See the checks "webhook-endpoint" and "webhook-ping". At the gateway, switch the endpoint on. If it is on and the ' +
          "function's log has invalidSignature, set its secret there to GATEWAY_WEBHOOK_SECRET of the function.",
      ),
    ];
  },
};
