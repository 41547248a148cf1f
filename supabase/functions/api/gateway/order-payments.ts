import type { Gateway, GatewayEntity, Reading } from '../ports.ts';

/**
 * Reads the payments on an order. A payment that was refunded, in full or in part, gets a list `refunds`: its
 * `amount_refunded` also counts pending refunds, which may still fail. One of another amount than the order's gets its `order`,
 * once it was captured: only that says whether it is paid, since the customer may bear the fee or have an offer.
 * @param amount of the order, minor units
 * @returns `unanswered` when any of the reads got no answer: a partial list would be applied as the complete one.
 */
export async function readOrderPayments(
  gateway: Pick<Gateway, 'listOrderPayments' | 'listRefunds' | 'readOrder'>,
  orderId: string,
  amount: number,
): Promise<Reading<readonly GatewayEntity[]>> {
  const payments = await gateway.listOrderPayments(orderId);
  if (payments.status !== 'found') return payments;
  const isOther = ({ status, amount: paid }: GatewayEntity) =>
    (status === 'captured' || status === 'refunded') && typeof paid === 'number' && paid !== amount;
  const order = payments.value.some(isOther) ? await gateway.readOrder(orderId) : null;
  if (order?.status === 'unanswered') return order;
  const items: GatewayEntity[] = [];
  for (const listed of payments.value) {
    const item = isOther(listed) && order?.status === 'found' ? { ...listed, order: order.value } : listed;
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

/** Whether a refund was started, possibly a pending one. Refunds of a payment without an id can't be read. */
function isRefunded(item: GatewayEntity): item is GatewayEntity & { readonly id: string } {
  const { id, status, amount_refunded: amount } = item;
  return typeof id === 'string' && (status === 'refunded' || typeof amount === 'number' && amount > 0);
}
