import type { Step } from './actions.ts';
import { activate, ask, buy, captured, event, order, refund, step, time, verify } from './write-steps.ts';

/** A history of CORE.md's table of rules, and what the user has at its end. */
export type Written = {
  readonly name: string;
  readonly earlyRenewal?: 'replace' | 'extend';
  readonly steps: Step[];
  readonly end: string;
};

const march = ['03-01', '04-01'] as const;
const april = ['04-01', '05-01'] as const;
const year = ['03-01', '2027-03-01'] as const;
const premium = { tier: 'premium' };
const pro = { tier: 'pro' };

/** Purchase, activation and charge of CORE.md's histories A to C, all told after they happened. */
function around(names: readonly string[]): Step[] {
  const month = ['11-09', '12-09'] as const;
  const steps: Record<string, Step> = {
    'activated 9': event('11-13', 'activated', month, premium),
    'activated 12': event('11-13', 'activated', month, { ...premium, happened: '11-12' }),
    'charged 11': event('11-13', 'charged', month, { ...premium, happened: '11-11' }),
    'cancelled 11': event('11-13', 'cancelled', month, { ...premium, happened: '11-11' }),
  };
  return [...buy('11-10', 'A', 'basic'), ...names.flatMap((name) => steps[name] ?? [])];
}

export const writtenHistories: readonly Written[] = [
  {
    name: 'a paid year goes on when the gateway cancels what was activated over it',
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
    name: 'a paid year goes on when what was activated over it lapses',
    steps: [
      ...buy('01-10', 'A', 'pro'),
      ...activate(march),
      ask('04-04 13:00', 'halted', march),
      step('04-05', { do: 'wait' }),
    ],
    end: 'pro until 2027-01-10T12:00:00.000Z',
  },
  {
    name: 'what the gateway bills goes on until the gateway was asked',
    steps: [...activate(march), step('04-05', { do: 'wait' })],
    end: 'basic until 2026-04-01T12:00:00.000Z, S1',
  },
  {
    name: 'a paid year goes on when what was activated over it is refunded',
    steps: [...buy('01-10', 'A', 'pro'), ...activate(year, premium), refund('05-01', 'S1/1', 'premium')],
    end: 'pro until 2027-01-10T12:00:00.000Z',
  },
  {
    name: 'a paid year goes on when the user cancels what was activated over it for its end',
    steps: [
      ...buy('01-10', 'A', 'pro'),
      ...activate(march),
      step('03-10', { do: 'cancel', atPeriodEnd: true }),
      ask('04-01 13:00', 'cancelled', march),
    ],
    end: 'pro until 2027-01-10T12:00:00.000Z',
  },
  {
    name: 'a month of the tier that a year is paid for: the month, and a finding',
    steps: [...buy('01-10', 'A', 'pro'), ...activate(march, pro)],
    end: 'pro until 2026-04-01T12:00:00.000Z, S1; paid_twice: A',
  },
  {
    name: 'a month bought over a billed year rules for its time',
    steps: [...activate(year, premium), ...buy('05-10', 'A', 'basic')],
    end: 'basic until 2026-06-10T12:00:00.000Z',
  },
  {
    name: 'the billed year goes on after the month',
    steps: [...activate(year, premium), ...buy('05-10', 'A', 'basic'), step('06-14', { do: 'wait' })],
    end: 'premium until 2027-03-01T12:00:00.000Z, S1',
  },
  {
    name: 'the billed year goes on when the month is refunded',
    steps: [
      ...activate(year, premium),
      ...buy('05-10', 'A', 'basic'),
      captured('05-10', 'A'),
      refund('05-11', 'A1', 'basic'),
    ],
    end: 'premium until 2027-03-01T12:00:00.000Z, S1',
  },
  {
    name: 'the late money of an older order runs under what was bought since',
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
      name: `a purchase on the 10th, told after it: ${names}: the purchase rules`,
      steps: around(names.split(', ')),
      end: `basic until 2026-12-10T12:00:00.000Z${
        names.includes('charged') ? '; charged_after_replacement: S1/1' : ''
      }`,
    })),
  ...['activated 9, activated 12', 'activated 12, activated 9'].map((names) => ({
    name: `a purchase on the 10th, told after it: ${names}: the subscription rules`,
    steps: around(names.split(', ')),
    end: 'premium until 2026-12-09T12:00:00.000Z, S1',
  })),
  {
    name: 'a charge after the user cancelled at once gives access, and a finding',
    steps: [
      ...activate(march),
      step('03-10', { do: 'cancel', atPeriodEnd: false }),
      event('04-01', 'charged', april, { cycle: 2 }),
    ],
    end: 'basic until 2026-05-01T12:00:00.000Z, S1; charged_after_cancellation: S1/2',
  },
  {
    name: 'such a charge gives nothing once it is refunded',
    steps: [
      ...activate(march),
      step('03-10', { do: 'cancel', atPeriodEnd: false }),
      event('04-01', 'charged', april, { cycle: 2 }),
      refund('04-02', 'S1/2', 'basic'),
    ],
    end: 'free',
  },
  {
    name: 'a charge from before the user cancelled at once gives nothing, however late it is told',
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
    name: 'only processed refunds count, and they add up',
    steps: [
      ...buy('01-10', 'A', 'basic'),
      captured('01-10', 'A'),
      refund('01-11', 'A1', 'basic', 'processed', { id: 'one', amount: 4900 }),
      refund('01-12', 'A1', 'basic', 'pending', { id: 'two', amount: 5000 }),
    ],
    end: 'basic until 2026-02-10T12:00:00.000Z',
  },
  {
    name: 'a refund that fails after it was processed gives access back',
    steps: [
      ...buy('01-10', 'A', 'pro'),
      captured('01-10', 'A'),
      refund('01-11', 'A1', 'pro'),
      refund('01-12', 'A1', 'pro', 'failed'),
    ],
    end: 'pro until 2027-01-10T12:00:00.000Z',
  },
  {
    name: 'a refunded cycle ends with the cycle before',
    steps: [
      ...activate(march),
      event('04-01', 'charged', april, { cycle: 2 }),
      refund('04-02', 'S1/2', 'basic'),
    ],
    end: 'free',
  },
  {
    name: 'what was refunded before it was verified gives nothing',
    steps: [order('01-10', 'A', 'basic'), refund('01-11', 'A1', 'basic'), verify('01-12', 'A')],
    end: 'free',
  },
  {
    name: 'what was never captured ends',
    steps: [...buy('01-10', 'A', 'pro'), step('01-16', { do: 'nothing captured', order: 'A', isUnknown: true })],
    end: 'free; never_captured: A',
  },
  {
    name: 'money that comes after all is fulfilled',
    steps: [
      ...buy('01-10', 'A', 'pro'),
      step('01-16', { do: 'nothing captured', order: 'A', isUnknown: false }),
      captured('01-20', 'A'),
    ],
    end: 'pro until 2027-01-20T12:00:00.000Z',
  },
  {
    name: 'a further payment on an order counts for nothing',
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
    name: 'a second purchase of a tier replaces the first, and a finding',
    steps: [...buy('01-31', 'A', 'basic'), ...buy('02-10', 'B', 'basic')],
    end: 'basic until 2026-03-10T12:00:00.000Z; paid_twice: B',
  },
  {
    name: 'an order is what was sold, whatever the plan is when it is paid',
    steps: [
      order('01-10', 'A', 'pro'),
      step('01-11', { do: 'change plan', tier: 'pro', months: 1, price: 199900 }),
      captured('01-12', 'A'),
    ],
    end: 'pro until 2027-01-12T12:00:00.000Z',
  },
  {
    name: 'a lost dispute leaves access, and a finding',
    steps: [
      ...buy('01-10', 'A', 'pro'),
      captured('01-10', 'A'),
      step('01-11', { do: 'dispute', order: 'A', payment: 'A1' }),
    ],
    end: 'pro until 2027-01-10T12:00:00.000Z; dispute_lost: A',
  },
  {
    name: 'a grant goes on after a purchase over it is refunded',
    steps: [
      step('01-10', { do: 'grant', grant: 'G1', tier: 'pro', until: time('2027-01-10') }),
      ...buy('01-11', 'A', 'premium'),
      captured('01-11', 'A'),
      refund('01-12', 'A1', 'premium'),
    ],
    end: 'pro until 2027-01-10T12:00:00.000Z',
  },
];
