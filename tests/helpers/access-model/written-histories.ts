import { type Action, type Answer, type GatewayEvent, planOf, type TimedAction } from './actions.ts';
import type { EarlyRenewal } from '../database/early-renewal.ts';

/** A history, and the user's access at its end. */
export type Written = {
  readonly name: string;
  readonly earlyRenewal?: EarlyRenewal;
  readonly steps: TimedAction[];
  readonly end: string;
};

const march = ['03-01', '04-01'] as const;
const april = ['04-01', '05-01'] as const;
const year = ['03-01', '2027-03-01'] as const;
const premium = { tier: 'premium' };
const pro = { tier: 'pro' };

/** A purchase on 10 November, then the named events of a subscription, all delivered on 13 November. */
function purchaseAndEvents(names: readonly string[]): TimedAction[] {
  const month = ['11-09', '12-09'] as const;
  const steps: Record<string, TimedAction> = {
    'activated 9': event('11-13', 'activated', month, premium),
    'activated 12': event('11-13', 'activated', month, { ...premium, happened: '11-12' }),
    'charged 11': event('11-13', 'charged', month, { ...premium, happened: '11-11' }),
    'cancelled 11': event('11-13', 'cancelled', month, { ...premium, happened: '11-11' }),
  };
  return [...buy('11-10', 'A', 'basic'), ...names.flatMap((name) => steps[name] ?? [])];
}

export const writtenHistories: readonly Written[] = [
  {
    name: 'a paid year rules again when the gateway cancels the newer subscription',
    steps: [
      ...buy('01-10', 'A', 'pro'),
      ...activate(year, premium),
      event('05-01', 'cancelled', year, {
        ...premium,
        happened: '05-01',
      }),
    ],
    end: 'pro until 2027-01-10T12:00:00.000Z',
  },
  {
    name: 'a paid year rules again when the newer subscription lapses',
    steps: [
      ...buy('01-10', 'A', 'pro'),
      ...activate(march),
      ask('04-04 13:00', 'halted', march),
      step('04-05', { do: 'wait' }),
    ],
    end: 'pro until 2027-01-10T12:00:00.000Z',
  },
  {
    name: 'a gateway subscription runs until it is reconciled',
    steps: [...activate(march), step('04-05', { do: 'wait' })],
    end: 'basic until 2026-04-01T12:00:00.000Z, S1',
  },
  {
    name: 'a paid year rules again when the newer subscription is refunded',
    steps: [...buy('01-10', 'A', 'pro'), ...activate(year, premium), refund('05-01', 'S1/1', 'premium')],
    end: 'pro until 2027-01-10T12:00:00.000Z',
  },
  {
    name: 'a paid year rules again after the user cancelled the newer subscription at its period end',
    steps: [
      ...buy('01-10', 'A', 'pro'),
      ...activate(march),
      step('03-10', { do: 'cancel', atPeriodEnd: true }),
      ask('04-01 13:00', 'cancelled', march),
    ],
    end: 'pro until 2027-01-10T12:00:00.000Z',
  },
  {
    name: 'a billed month of the tier of a paid year rules, with a finding',
    steps: [...buy('01-10', 'A', 'pro'), ...activate(march, pro)],
    end: 'pro until 2026-04-01T12:00:00.000Z, S1; paid_twice: A',
  },
  {
    name: 'a month bought during a billed year rules until its end',
    steps: [...activate(year, premium), ...buy('05-10', 'A', 'basic')],
    end: 'basic until 2026-06-10T12:00:00.000Z',
  },
  {
    name: 'the billed year rules again after the bought month',
    steps: [...activate(year, premium), ...buy('05-10', 'A', 'basic'), step('06-14', { do: 'wait' })],
    end: 'premium until 2027-03-01T12:00:00.000Z, S1',
  },
  {
    name: 'the billed year rules again when the bought month is refunded',
    steps: [
      ...activate(year, premium),
      ...buy('05-10', 'A', 'basic'),
      captured('05-10', 'A'),
      refund('05-11', 'A1', 'basic'),
    ],
    end: 'premium until 2027-03-01T12:00:00.000Z, S1',
  },
  {
    name: 'the late capture of an older order does not rule over a newer purchase, with a finding',
    steps: [order('01-10', 'A', 'basic'), ...buy('01-11', 'B', 'premium'), captured('01-12', 'A')],
    end: 'premium until 2027-01-11T12:00:00.000Z; paid_twice: A',
  },
  {
    name: 'an older order rules once the customer verifies it',
    steps: [
      order('01-10', 'A', 'basic'),
      ...buy('01-11', 'B', 'premium'),
      captured('01-12', 'A'),
      verify('01-13', 'A'),
    ],
    end: 'basic until 2026-02-12T12:00:00.000Z',
  },
  ...['activated 9, charged 11', 'charged 11, activated 9', 'activated 9, cancelled 11', 'cancelled 11, activated 9']
    .map((
      names,
    ) => ({
      name: `a purchase on the 10th, then deliveries: ${names}: the purchase rules`,
      steps: purchaseAndEvents(names.split(', ')),
      end: `basic until 2026-12-10T12:00:00.000Z${
        names.includes('charged') ? '; charged_after_replacement: S1/1' : ''
      }`,
    })),
  ...['activated 9, activated 12', 'activated 12, activated 9'].map((names) => ({
    name: `a purchase on the 10th, then deliveries: ${names}: the subscription rules`,
    steps: purchaseAndEvents(names.split(', ')),
    end: 'premium until 2026-12-09T12:00:00.000Z, S1',
  })),
  {
    name: 'the activation from before a cancellation at once gives no access when it arrives afterwards',
    steps: [
      ...buy('01-10', 'A', 'pro'),
      step('03-02', { do: 'cancel', atPeriodEnd: false }),
      event('03-03', 'activated', march, premium),
    ],
    end: 'free',
  },
  {
    name: 'a charge after a cancellation at once gives access, with a finding',
    steps: [
      ...activate(march),
      step('03-10', { do: 'cancel', atPeriodEnd: false }),
      event('04-01', 'charged', april, { cycle: 2 }),
    ],
    end: 'basic until 2026-05-01T12:00:00.000Z, S1; charged_after_cancellation: S1/2',
  },
  {
    name: 'a refunded charge after a cancellation at once gives no access',
    steps: [
      ...activate(march),
      step('03-10', { do: 'cancel', atPeriodEnd: false }),
      event('04-01', 'charged', april, { cycle: 2 }),
      refund('04-02', 'S1/2', 'basic'),
    ],
    end: 'free',
  },
  {
    name: 'a charge from before a cancellation at once gives no access when it is delivered late',
    steps: [
      ...activate(march),
      step('04-01 13:00', { do: 'cancel', atPeriodEnd: false }),
      event('04-03', 'charged', april, { cycle: 2 }),
    ],
    end: 'free',
  },
  {
    name: 'cancelling at once ends every source',
    steps: [...buy('01-10', 'A', 'pro'), ...activate(march), step('03-10', { do: 'cancel', atPeriodEnd: false })],
    end: 'free',
  },
  {
    name: 'a pending refund does not count towards a full refund',
    steps: [
      ...buy('01-10', 'A', 'basic'),
      captured('01-10', 'A'),
      refund('01-11', 'A1', 'basic', 'processed', { id: 'one', amount: 4900 }),
      refund('01-12', 'A1', 'basic', 'pending', { id: 'two', amount: 5000 }),
    ],
    end: 'basic until 2026-02-10T12:00:00.000Z',
  },
  {
    name: 'a refund that fails after it was processed restores access',
    steps: [
      ...buy('01-10', 'A', 'pro'),
      captured('01-10', 'A'),
      refund('01-11', 'A1', 'pro'),
      refund('01-12', 'A1', 'pro', 'failed'),
    ],
    end: 'pro until 2027-01-10T12:00:00.000Z',
  },
  {
    name: 'a subscription with a refunded cycle ends with the cycle before',
    steps: [
      ...activate(march),
      event('04-01', 'charged', april, { cycle: 2 }),
      refund('04-02', 'S1/2', 'basic'),
    ],
    end: 'free',
  },
  {
    name: 'a payment that was refunded before its verification gives no access',
    steps: [order('01-10', 'A', 'basic'), refund('01-11', 'A1', 'basic'), verify('01-12', 'A')],
    end: 'free',
  },
  {
    name: 'a payment that was never captured ends, with a finding',
    steps: [...buy('01-10', 'A', 'pro'), step('01-16', { do: 'nothing captured', order: 'A', isUnknown: true })],
    end: 'free; never_captured: A',
  },
  {
    name: 'a payment that is captured late is fulfilled',
    steps: [
      ...buy('01-10', 'A', 'pro'),
      step('01-16', { do: 'nothing captured', order: 'A', isUnknown: false }),
      captured('01-20', 'A'),
    ],
    end: 'pro until 2027-01-20T12:00:00.000Z',
  },
  {
    name: 'a second payment on an order gives no access, with a finding',
    steps: [...buy('01-10', 'A', 'pro'), captured('01-10', 'A'), captured('01-11', 'A', 'A2')],
    end: 'pro until 2027-01-10T12:00:00.000Z; paid_twice: A2',
  },
  {
    name: 'a chain of months is counted from its first start',
    earlyRenewal: 'extend',
    steps: [...buy('01-31', 'A', 'basic'), ...buy('02-10', 'B', 'basic'), ...buy('02-11', 'C', 'basic')],
    end: 'basic until 2026-04-30T12:00:00.000Z',
  },
  {
    name: 'a later link of a chain moves up when an earlier one is refunded',
    earlyRenewal: 'extend',
    steps: [
      ...buy('01-31', 'A', 'basic'),
      captured('01-31', 'A'),
      ...buy('02-10', 'B', 'basic'),
      refund('02-12', 'A1', 'basic'),
    ],
    end: 'basic until 2026-03-10T12:00:00.000Z',
  },
  {
    name: 'a second purchase of a tier replaces the first, with a finding',
    steps: [...buy('01-31', 'A', 'basic'), ...buy('02-10', 'B', 'basic')],
    end: 'basic until 2026-03-10T12:00:00.000Z; paid_twice: B',
  },
  {
    name: 'an order keeps the length it was sold with when the plan changes',
    steps: [
      order('01-10', 'A', 'pro'),
      step('01-11', { do: 'change plan', tier: 'pro', months: 1, price: 199900 }),
      captured('01-12', 'A'),
    ],
    end: 'pro until 2027-01-12T12:00:00.000Z',
  },
  {
    name: 'a lost dispute leaves access, with a finding',
    steps: [
      ...buy('01-10', 'A', 'pro'),
      captured('01-10', 'A'),
      step('01-11', { do: 'dispute', order: 'A', payment: 'A1' }),
    ],
    end: 'pro until 2027-01-10T12:00:00.000Z; dispute_lost: A',
  },
  {
    name: 'a grant rules again after a newer purchase is refunded',
    steps: [
      step('01-10', { do: 'grant', grant: 'G1', tier: 'pro', until: time('2027-01-10') }),
      ...buy('01-11', 'A', 'premium'),
      captured('01-11', 'A'),
      refund('01-12', 'A1', 'premium'),
    ],
    end: 'pro until 2027-01-10T12:00:00.000Z',
  },
  {
    name: 'a purchase that credited the running period ends it',
    steps: [...buyBasicThenPremium(), step('2027-01-25', { do: 'wait' })],
    end: 'free',
  },
  {
    name: 'a period whose time was credited rules again when the purchase is refunded',
    steps: [
      ...buyBasicThenPremium(),
      captured('01-20', 'B'),
      refund('01-21', 'B1', 'premium', 'processed', { amount: 193194, of: 193194 }),
    ],
    end: 'basic until 2026-02-10T12:00:00.000Z',
  },
  {
    name: 'a refund of the credited payment leaves the purchase, with a finding',
    steps: [...buyBasicThenPremium(), captured('01-20', 'A'), refund('01-21', 'A1', 'basic')],
    end: 'premium until 2027-01-20T12:00:00.000Z; unearned_credit: B',
  },
  {
    name: 'a purchase after the current period rules from its end on, without days of grace between',
    steps: [
      ...buy('01-10', 'A', 'basic'),
      step('01-20', { do: 'order', order: 'B', tier: 'pro', amount: planOf('pro').price, start: 'after_current' }),
      verify('01-20', 'B'),
      step('02-10 12:01', { do: 'wait' }),
    ],
    end: 'pro until 2027-02-10T12:00:00.000Z',
  },
];

/** Basic on 10 January for 31 days. On 20 January 21 days are left: 67.06 of the price of premium. */
function buyBasicThenPremium(): TimedAction[] {
  return [
    ...buy('01-10', 'A', 'basic'),
    step('01-20', { do: 'order', order: 'B', tier: 'premium', amount: 193194, start: 'now' }),
    verify('01-20', 'B'),
  ];
}

/** A UTC time from `MM-DD` or `MM-DD HH:MM` of 2026; other years are written as `YYYY-MM-DD`. */
function time(text: string): string {
  const [day = '', hour = '12:00'] = text.split(' ');
  return `${day.length === 5 ? `2026-${day}` : day}T${hour}:00.000Z`;
}

function step(at: string, action: Action): TimedAction {
  return { at: time(at), ...action };
}

function order(at: string, name: string, tier: string): TimedAction {
  return step(at, { do: 'order', order: name, tier, amount: planOf(tier).price });
}

function verify(at: string, name: string): TimedAction {
  return step(at, { do: 'verify', order: name, payment: `${name}1` });
}

function buy(at: string, name: string, tier: string): TimedAction[] {
  return [order(at, name, tier), verify(at, name)];
}

function captured(at: string, name: string, payment = `${name}1`): TimedAction {
  return step(at, { do: 'captured', order: name, payment, event: 'payment.captured' });
}

function refund(
  at: string,
  payment: string,
  tier: string,
  status: 'pending' | 'processed' | 'failed' = 'processed',
  { id = `${payment} refund`, amount = planOf(tier).price, of = planOf(tier).price } = {},
): TimedAction {
  const order = payment.startsWith('S') ? null : payment.slice(0, 1);
  return step(at, { do: 'refund', payment, of, order, refund: id, amount, status });
}

/** An event of subscription S1 (basic, monthly) or of another. Its time is the start of its cycle, or `happened`. */
function event(
  at: string,
  name: GatewayEvent['do'],
  [start, end]: readonly [string, string],
  { subscription = 'S1', tier = 'basic', happened = start, cycle = 1 } = {},
): TimedAction {
  return step(at, {
    do: name,
    subscription,
    tier,
    createdAt: time(happened),
    start: time(start),
    end: time(end),
    payment: name === 'charged' ? `${subscription}/${cycle}` : null,
    paidCount: cycle,
    chargeAt: null,
  });
}

function activate(cycle: readonly [string, string], of: Parameters<typeof event>[3] = {}): TimedAction[] {
  return [event(cycle[0], 'activated', cycle, of), event(cycle[0], 'charged', cycle, of)];
}

function ask(
  at: string,
  status: Answer['status'],
  [start, end]: readonly [string, string],
  tier = 'basic',
): TimedAction {
  const answer = { tier, status, start: time(start), end: time(end), endedAt: null, paidCount: 1, chargeAt: null };
  return step(at, { do: 'ask', answers: { S1: answer } });
}
