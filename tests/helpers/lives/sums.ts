import { sumUp } from '../database/revenue.ts';
import type { BillingProject } from '../faults/billing-project.ts';
import type { Charge } from './charges.ts';
import type { Weather } from './draws.ts';
import type { Life } from './world.ts';

/** What was paid is known after a webhook, or after a statement. */
const known = 13 * 3600;
/** Older events are deleted, sent or not. */
const kept = 90 * 86_400;

const keptOf = (life: Life, { id, amount, amount_refunded: refunded }: Charge) =>
  Math.max(0, amount - refunded - (life.lost.get(id) ?? 0));

const sumOf = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum + amount, 0);

/** Where what a customer paid in all, or the events to the app, are not the gateway's own sum. `seen`: see wrongAccess. */
export async function wrongSums(
  { database }: BillingProject,
  life: Life,
  charges: readonly Charge[],
  seen: number,
  { skew }: Weather,
): Promise<string[]> {
  if (charges.some((charge) => charge.created_at - skew >= seen - known)) return [];
  const { user } = life.customer;
  const stored = await database.one(
    `select coalesce(lifetime_amounts ->> 'INR', '0')::float8 as amount from billing.customers where user_id = $1`,
    [user.id],
  );
  const own = sumOf(charges.map((charge) => keptOf(life, charge)));
  const events = await database.query(
    `select o.kind, o.payload #>> '{data,gateway_payment_id}' as id, o.payload #>> '{data,refund_id}' as refund,
       (o.payload #>> '{data,refunded}')::float8 as refunded
     from billing.outbox o
     where o.destination = 'event' and o.payload #>> '{data,user_id}' = $1 and o.kind in ('payment.captured', 'payment.refunded')
     order by o.id`,
    [user.id],
  );
  const recent = charges.filter((charge) => charge.created_at - skew > seen - kept + known);
  const wrong = recent.flatMap(({ id, amount_refunded: refunded }) => {
    const own = events.filter((event) => event.id === id);
    const captured = own.filter(({ kind }) => kind === 'payment.captured').length;
    // Of each refund the newest event counts.
    const told = sumOf([...new Map(own.map((event) => [event.refund, Number(event.refunded ?? 0)])).values()]);
    return captured === 1 && told === refunded
      ? []
      : [`${id}: ${captured} events payment.captured, refunds of ${told}, at the gateway ${refunded}`];
  });
  return [
    ...(Number(stored.amount) === own ? [] : [`lifetime ${stored.amount}, at the gateway ${own}`]),
    ...wrong,
  ];
}

/** Where the revenue of all months is not the gateway's own sum. */
export async function wrongRevenue(
  { database }: BillingProject,
  payments: ReadonlyMap<Life, readonly Charge[]>,
  seen: number,
  { skew }: Weather,
): Promise<string[]> {
  if ([...payments.values()].flat().some((charge) => charge.created_at - skew >= seen - known)) return [];
  await sumUp(database);
  const { net } = await database.one('select coalesce(sum(net), 0)::float8 as net from billing.revenue_monthly');
  const own = sumOf([...payments].flatMap(([life, charges]) => charges.map((charge) => keptOf(life, charge))));
  return net === own ? [] : [`net revenue ${net}, at the gateway ${own}`];
}
