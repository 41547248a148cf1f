import { type Billing, billingOf, describeBilling } from './billing.ts';
import type { Facts } from './facts.ts';
import { type Finding, findingsOf } from './findings.ts';
import { rulingSource } from './model.ts';
import type { Sold } from './money.ts';
import { isoTime, type Time } from './time.ts';

/** The access of a user, in one shape for the model and the database. Times in ISO 8601, names as in the history. */
export type Access = {
  /** The tier of the profile. */
  readonly tier: string;
  /** The subscription row while it is active. */
  readonly active: {
    readonly tier: string;
    readonly end: string;
    readonly gatewaySubscription: string | null;
    readonly cancelAtPeriodEnd: boolean;
  } | null;
  readonly findings: readonly Finding[];
};

/** What the database has about the billing of a user. */
export type StoredBilling = {
  readonly billing: Billing | null;
  readonly cancelled: readonly string[];
  readonly sold: readonly Sold[];
};

/** Where the stored billing differs from the model; empty: nowhere. */
export function billingDifferences(facts: Facts, now: Time, stored: StoredBilling): string[] {
  const { billing, isToBeCancelled } = billingOf(facts, now);
  const model = billing && { ...billing, nextChargeAt: billing.nextChargeAt ?? null };
  const database = stored.billing && billing
    ? { ...stored.billing, ...(billing.nextChargeAt === undefined && { nextChargeAt: null }) }
    : stored.billing;
  return [
    ...(model === undefined || describeBilling(model) === describeBilling(database)
      ? []
      : [`model    ${describeBilling(model)}`, `database ${describeBilling(database)}`]),
    ...[...isToBeCancelled].filter(([name, isCancelled]) => stored.cancelled.includes(name) !== isCancelled)
      .map(([name, isCancelled]) => `${isCancelled ? 'not ' : ''}to be cancelled at the gateway: ${name}`),
  ];
}

/** The access by the model. */
export function accessOf(facts: Facts, now: Time): Access {
  const ruling = rulingSource(facts, now);
  return {
    tier: ruling?.tier ?? 'free',
    active: ruling && {
      tier: ruling.tier,
      end: isoTime(ruling.end),
      gatewaySubscription: ruling.kind === 'gateway' ? ruling.name : null,
      cancelAtPeriodEnd: ruling.cancelAtPeriodEnd,
    },
    findings: findingsOf(facts, now),
  };
}

/** The access in one line: `pro until 2027-01-31T10:00:00.000Z, S1, cancelled for then; paid_twice: B`. */
export function describeAccess({ tier, active, findings }: Access): string {
  const row = active === null ? [] : [
    `${active.tier === tier ? '' : `row ${active.tier} `}until ${active.end}`,
    ...(active.gatewaySubscription === null ? [] : [active.gatewaySubscription]),
    ...(active.cancelAtPeriodEnd ? ['cancelled for then'] : []),
  ];
  return [[[tier, row[0]].filter((part) => part !== undefined).join(' '), ...row.slice(1)].join(', '), ...findings]
    .join('; ');
}
