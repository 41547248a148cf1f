import type { BillingProject } from '../faults/billing-project.ts';
import type { Weather } from './draws.ts';

const hour = 3600;

/** What a customer asked for, by the gateway's ids: subscriptions, and orders with the key of their price. */
type Owner = { asked: Map<string, number>; orders: Map<string, { key: string }> };

/** All captured payments at the gateway, of orders and of cycles, each with its cycle, by their owner. */
export function usePayments(billing: BillingProject) {
  /** Invoices do not change once they are paid. */
  const cycles = new Map<string, Cycle | null>();
  const cycleOf = async (invoice: string): Promise<Cycle | null> => {
    const known = cycles.get(invoice);
    if (known !== undefined) return known;
    const { subscription_id: subscriptionId, billing_start: start, billing_end: end } = await billing.readApi(
      `/invoices/${invoice}`,
    );
    // The proof of a mandate is no cycle.
    if (subscriptionId === undefined) {
      cycles.set(invoice, null);
      return null;
    }
    const { plan_id: plan } = await billing.readApi(`/subscriptions/${subscriptionId}`);
    const cycle = { subscriptionId, price: plan.replace('plan_', ''), start, end };
    cycles.set(invoice, cycle);
    return cycle;
  };
  return async <One extends Owner>(lives: readonly One[]): Promise<Map<One, Charge[]>> => {
    const owners = new Map(
      lives.flatMap((life) => [...life.asked.keys(), ...life.orders.keys()].map((id) => [id, life])),
    );
    const found = new Map<One, Charge[]>(lives.map((life) => [life, []]));
    for (const payment of (await billing.readAll('/payments')).reverse()) {
      if (payment.status !== 'captured' && payment.status !== 'refunded') continue;
      const cycle = payment.invoice_id ? await cycleOf(payment.invoice_id) : undefined;
      const life = owners.get(cycle?.subscriptionId ?? payment.order_id);
      // A proof of a mandate.
      if (life === undefined) continue;
      const price = life.orders.get(payment.order_id)?.key ?? '';
      const own = { orderId: payment.order_id, price, start: null, end: null };
      found.get(life)?.push({ ...payment, ...(cycle ?? own) });
    }
    return found;
  };
}

export const describeCharge = ({ id, subscriptionId, orderId, price, created_at: at, amount }: Charge): string =>
  `paid ${iso(at)} ${amount} for ${price}: ${id} of ${subscriptionId ?? orderId}`;

export const iso = (at: number): string =>
  Number.isFinite(at) ? new Date(at * 1000).toISOString().slice(0, 19) : 'never';

type Cycle = { subscriptionId: string; price: string; start: number; end: number };

/** A captured payment at the gateway. Times are the gateway's, in seconds. */
export type Charge = {
  id: string;
  amount: number;
  amount_refunded: number;
  status: string;
  created_at: number;
  price: string;
  orderId?: string;
  subscriptionId?: string;
  start: number | null;
  end: number | null;
};

/** When what was paid or authorised is known, and the gateway told. `runs`: see unwantedCharges. */
export function knownAt(at: number, runs: readonly number[], { lost, late, unanswered }: Weather): number {
  // What no webhook tells is read within the hour. A call without an answer is made again by the next run.
  const heardAt = at + (lost + late > 0 ? hour : 0);
  return runs.filter((run) => run >= heardAt)[unanswered > 0 ? 1 : 0] ?? Infinity;
}
