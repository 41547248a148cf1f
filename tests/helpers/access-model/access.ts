import type { Facts } from './facts.ts';
import { type Finding, findingsOf } from './findings.ts';
import { rulingSource } from './model.ts';
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
