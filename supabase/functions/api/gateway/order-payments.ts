import type { Gateway, GatewayEntity, Reading } from '../ports.ts';

/**
 * Reads the payments on an order. One that was refunded, in full or in part, carries the gateway's `refunds`: its own
 * `amount_refunded` counts pending ones, which may still fail.
 * @returns unanswered when one of the questions was not answered: half an answer would be taken for the whole.
 */
export async function readOrderPayments(
  gateway: Pick<Gateway, 'listOrderPayments' | 'listRefunds'>,
  orderId: string,
): Promise<Reading<readonly GatewayEntity[]>> {
  const payments = await gateway.listOrderPayments(orderId);
  if (payments.status !== 'found') return payments;
  const items: GatewayEntity[] = [];
  for (const item of payments.value) {
    if (!isRefunded(item)) {
      items.push(item);
      continue;
    }
    const refunds = await gateway.listRefunds(item.id);
    if (refunds.status === 'unanswered') return refunds;
    items.push({ ...item, refunds: refunds.status === 'found' ? refunds.value : [] });
  }
  return { status: 'found', value: items };
}

/** Whether a refund began. Without an id there is nothing to ask about. */
function isRefunded(item: GatewayEntity): item is GatewayEntity & { readonly id: string } {
  const { id, status, amount_refunded: amount } = item;
  return typeof id === 'string' && (status === 'refunded' || typeof amount === 'number' && amount > 0);
}
