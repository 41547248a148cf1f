import type { BillingProject } from '../faults/billing-project.ts';
import { type Charge, iso, knownAt } from './charges.ts';
import type { Weather } from './draws.ts';
import { type Life, prices } from './world.ts';

const hour = 3600;
const day = 24 * hour;
/** What was paid is known after a webhook, or after a statement: at most so long after it. */
const known = 13 * hour;
const grace = 3 * day;

/** When the gateway captured a payment, by our clock. */
const paidAt = ({ created_at: at }: Charge, { skew }: Weather) => at - skew;

/**
 * The charges that the customer did not want: of what was cancelled, or of what something newer replaced. `runs`: when the
 * schedule ran, so that the gateway could have been told before.
 */
export function unwantedCharges(
  life: Life,
  charges: readonly Charge[],
  runs: readonly number[],
  weather: Weather,
): string[] {
  return chargesAfter(life, charges, (since, at) => at > knownAt(since, runs, weather) + 1, weather);
}

/** The charges of what was cancelled or replaced. `counts`: whether a charge does after a wish or a purchase, both times. */
function chargesAfter(
  life: Life,
  charges: readonly Charge[],
  counts: (since: number, at: number) => boolean,
  weather: Weather,
): string[] {
  const cycles = charges.filter(({ subscriptionId }) => subscriptionId !== undefined);
  const firstOf = (id: string) =>
    Math.min(...cycles.filter(({ subscriptionId }) => subscriptionId === id).map((one) => paidAt(one, weather)));
  return cycles.flatMap((charge) => {
    const id = charge.subscriptionId ?? '';
    const at = paidAt(charge, weather);
    const asked = life.asked.get(id) ?? Infinity;
    const wish = life.wishes.find((one) =>
      one.at > asked && counts(one.at, at) && (one.withdrawnAt === null || one.withdrawnAt > at)
    );
    if (wish) return [`${charge.id} of ${id} at ${iso(at)}, cancelled at ${iso(wish.at)}`];
    const authorised = life.bought.find(({ subscriptionId }) => subscriptionId === id)?.at ?? firstOf(id);
    // What was bought after this one was authorised, and kept.
    const newer = life.bought.find((one) => {
      const isRenewedBy = one.orderId !== undefined && life.renewals.get(id) === one.orderId;
      if (one.subscriptionId === id || isRenewedBy) return false;
      const ordered = one.orderId
        ? life.orders.get(one.orderId)?.at ?? 0
        : life.asked.get(one.subscriptionId ?? '') ?? 0;
      if (ordered <= authorised + 1) return false;
      const paid = charges.filter((other) =>
        other.subscriptionId === one.subscriptionId && other.orderId === one.orderId
      );
      const since = one.subscriptionId ? firstOf(one.subscriptionId) : one.at;
      const isKept = paid.some((other) => other.amount_refunded < other.amount && !life.lost.has(other.id));
      return isKept && counts(since, at);
    });
    return newer
      ? [
        `${charge.id} of ${id} at ${iso(at)}, replaced by ${newer.orderId ?? newer.subscriptionId} at ${iso(newer.at)}`,
      ]
      : [];
  });
}

/** Payments at the gateway that are not stored with what was kept of them. `seen`: as for `wrongAccess`. */
export async function wrongBooks(
  { database }: BillingProject,
  life: Life,
  charges: readonly Charge[],
  seen: number,
  weather: Weather,
): Promise<string[]> {
  const rows = await database.query(
    `select p.gateway_payment_id as id, billing.kept(p)::integer as kept from public.payments p
     where p.gateway_payment_id = any ($1)`,
    [charges.map(({ id }) => id)],
  );
  return charges.filter((charge) => paidAt(charge, weather) < seen - known).flatMap(
    ({ id, amount, amount_refunded }) => {
      const kept = Math.max(0, amount - amount_refunded - (life.lost.get(id) ?? 0));
      const stored = rows.find((row) => row.id === id);
      return stored?.kept === kept ? [] : [`${id}: kept ${kept} at the gateway, ${stored?.kept ?? 'not stored'} here`];
    },
  );
}

/**
 * Where the tier is not one that was paid for or given, or is free although something was. `seen`: when the schedule last ran
 * with all its calls. What came later is not known yet, and what ended later still runs.
 */
export async function wrongAccess(
  billing: BillingProject,
  life: Life,
  charges: readonly Charge[],
  seen: number,
  weather: Weather,
): Promise<string[]> {
  const now = billing.now();
  const rows = await billing.database.query(
    `select p.gateway_payment_id as id, extract(epoch from p.period_start)::float8 as start, extract(epoch from p.period_end)::float8 as "end"
     from public.payments p where p.user_id = $1 and p.period_start is not null`,
    [life.customer.user.id],
  );
  const { tier } = await billing.database.one(
    'select subscription_tier as tier from public.profiles where user_id = $1',
    [life.customer.user.id],
  );
  const periods = charges.map((charge) => {
    // The period of an order is ours; that of a cycle the gateway's.
    const stored = rows.find(({ id }) => id === charge.id);
    const period = charge.subscriptionId ? charge : stored;
    return {
      charge,
      tier: prices[charge.price]?.tier ?? '',
      paid: paidAt(charge, weather),
      start: Number(period?.start ?? NaN) - (charge.subscriptionId ? weather.skew : 0),
      end: Number(period?.end ?? NaN) - (charge.subscriptionId ? weather.skew : 0),
      isBack: charge.amount_refunded >= charge.amount || life.lost.has(charge.id),
    };
  });
  const must = periods.filter(({ charge, paid, start, end, isBack }) =>
    !isBack && seen > Math.max(paid, start) + known && now < end - hour &&
    !life.wishes.some((wish) => wish.isAtOnce && wish.at >= paid - hour) &&
    !life.creditedAt.some((at) => at >= paid - hour && at !== paid) &&
    !(charge.subscriptionId && life.endedAtGateway.has(charge.subscriptionId))
  );
  const may = [
    ...periods.filter(({ charge, start, end }) =>
      // What was debited early gives access at once where nothing else runs.
      now > start - known - weather.debit * hour && seen < end + grace + known &&
      !(charge.amount_refunded >= charge.amount && seen > (life.refunded.get(charge.id) ?? Infinity) + known)
    ),
    ...[...life.grants, ...life.written].filter(({ at, until }) => now > at - hour && seen < until + grace + known),
  ];
  const unfulfilled = periods.filter(({ paid, start, isBack }) =>
    !isBack && Number.isNaN(start) && seen > paid + known
  );
  return [
    ...(tier === 'free' && must.length > 0
      ? [`${iso(now)} free, but ${must.map((one) => `${one.charge.id} ${one.tier} until ${iso(one.end)}`).join()}`]
      : []),
    ...(tier !== 'free' && !may.some((one) => one.tier === tier)
      ? [`${iso(now)} ${tier}, paid and given: ${may.map((one) => one.tier).join() || 'nothing'}`]
      : []),
    ...unfulfilled.map(({ charge }) => `${iso(now)} ${charge.id} is paid and gives nothing`),
  ];
}

/** Findings that nothing that a customer, support or the gateway does here may lead to. */
const never = [
  'captured_not_fulfilled',
  'charged_after_cancellation',
  'charged_after_replacement',
  'entitled_not_paid',
  'failed_events',
  'paid_not_entitled',
  'stopped_in_error',
  'tier_mismatch',
  'unnamed_charge',
  'untold_stop',
];

/** How far the gateway's clock is off at most. */
const maxSkew = 600;

/**
 * The findings about a customer that must not appear. A charge is a finding in the hours in which what was done was not known
 * here, or the gateway not told; by the gateway's clock it may be the minutes before.
 */
export async function alarms(life: Life, charges: readonly Charge[], weather: Weather): Promise<string[]> {
  const findings = (await life.customer.findings()).map(String);
  life.log.push(`findings: ${findings.join()}`);
  // An order that was paid and not verified counts here, too.
  const paid = charges.flatMap((one) => one.orderId ? [{ at: paidAt(one, weather), orderId: one.orderId }] : []);
  const isNear = (bought: Life['bought'], wishes: Life['wishes'], before: number) =>
    chargesAfter(
      { ...life, bought, wishes },
      charges,
      (since, at) => at > since - before && at < since + known,
      weather,
    ).length > 0;
  // A payment on an older order may be known a day later.
  const isClose = isNear([...life.bought, ...paid], life.wishes, maxSkew + 1) || isNear(paid, [], day);
  // What it replaced was stopped, and nothing replaces that any more.
  const isTakenBack = charges.some((one) =>
    one.orderId && (one.amount_refunded >= one.amount || life.lost.has(one.id))
  );
  return findings
    .filter((finding) => never.includes(finding) && !(isClose && finding.startsWith('charged_after_')))
    .filter((finding) => !(isTakenBack && finding === 'stopped_in_error'))
    // Nothing pays for a row that was extended by hand.
    .filter((finding) => !(life.isExtendedByHand && finding === 'entitled_not_paid'))
    .map((finding) => `the finding ${finding}`);
}
