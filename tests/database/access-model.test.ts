import { expect, test } from 'vitest';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { planOf, type TimedAction } from '../helpers/access-model/actions.ts';
import { noFacts } from '../helpers/access-model/facts.ts';
import { runDrawn, runSteps } from '../helpers/access-model/prove-histories.ts';
import { useSubjects } from '../helpers/access-model/subject.ts';
import {
  activate,
  ask,
  buy,
  captured,
  event,
  order,
  refund,
  step,
  time,
  verify,
} from '../helpers/access-model/written-steps.ts';

// REPLAY='{"start":…}' prints each step of a failed history.
const replay = Deno.env.get('REPLAY');

const newSubject = useSubjects();

const { price: basic } = planOf('basic');
const { price: pro } = planOf('pro');
const march = ['03-01', '04-01'] as const;
const april = ['04-01', '05-01'] as const;
const year = ['03-01', '2027-03-01'] as const;
const premium = { tier: 'premium' };

const wait = (at: string) => step(at, { do: 'wait' });
const cancel = (at: string, atPeriodEnd = false) => step(at, { do: 'cancel', atPeriodEnd });
const charge2 = event('04-01', 'charged', april, { cycle: 2 });
/** Basic on 10 January for 31 days. On 20 January 21 days are left: 67.06 of the price of premium. */
const credited = [
  ...buy('01-10', 'A', 'basic'),
  step('01-20', { do: 'order', order: 'B', tier: 'premium', amount: 193194, start: 'now' }),
  verify('01-20', 'B'),
];
/** A purchase on 10 November; events of a subscription that are delivered on 13 November. */
const bought = buy('11-10', 'A', 'basic');
const delivered = (name: 'activated' | 'charged' | 'cancelled', happened: string) =>
  event('11-13', name, ['11-09', '12-09'], { ...premium, happened });

test.each<[history: string, steps: (TimedAction | TimedAction[])[], end: string]>([
  [
    'a paid year rules again when the gateway cancels the newer subscription',
    [buy('01-10', 'A', 'pro'), activate(year, 'premium'), event('05-01', 'cancelled', year, premium)],
    'pro until 2027-01-10',
  ],
  [
    'a paid year rules again when the newer subscription lapses',
    [buy('01-10', 'A', 'pro'), activate(march), ask('04-04 13:00', 'halted', march), wait('04-05')],
    'pro until 2027-01-10',
  ],
  [
    'a gateway subscription runs until it is reconciled',
    [activate(march), wait('04-05')],
    'basic until 2026-04-01, S1',
  ],
  [
    'a paid year rules again when the newer subscription is refunded',
    [buy('01-10', 'A', 'pro'), activate(year, 'premium'), refund('05-01', 'S1/1', planOf('premium').price)],
    'pro until 2027-01-10',
  ],
  [
    'a paid year rules again after the user cancelled the newer subscription at its period end',
    [buy('01-10', 'A', 'pro'), activate(march), cancel('03-10', true), ask('04-01 13:00', 'cancelled', march)],
    'pro until 2027-01-10',
  ],
  [
    'a billed month of the tier of a paid year rules, with a finding',
    [buy('01-10', 'A', 'pro'), activate(march, 'pro')],
    'pro until 2026-04-01, S1; paid_twice: A',
  ],
  [
    'the billed year rules again after a month that was bought during it',
    [activate(year, 'premium'), buy('05-10', 'A', 'basic'), wait('06-14')],
    'premium until 2027-03-01, S1',
  ],
  [
    'the late capture of an older order does not rule over a newer purchase, with a finding',
    [order('01-10', 'A', 'basic'), buy('01-11', 'B', 'premium'), captured('01-12', 'A')],
    'premium until 2027-01-11; paid_twice: A',
  ],
  [
    'an older order rules once the customer verifies it',
    [order('01-10', 'A', 'basic'), buy('01-11', 'B', 'premium'), captured('01-12', 'A'), verify('01-13', 'A')],
    'basic until 2026-02-12',
  ],
  [
    'a purchase rules over a subscription from before it, whose late charge is a finding',
    [bought, delivered('charged', '11-11'), delivered('activated', '11-09')],
    'basic until 2026-12-10; charged_after_replacement: S1/1',
  ],
  [
    'a purchase rules over a subscription from before it that has ended',
    [bought, delivered('cancelled', '11-11'), delivered('activated', '11-09')],
    'basic until 2026-12-10',
  ],
  [
    'a subscription that was activated again after a purchase rules, in whatever order that is delivered',
    [bought, delivered('activated', '11-12'), delivered('activated', '11-09')],
    'premium until 2026-12-09, S1',
  ],
  [
    'the activation from before a cancellation at once gives no access when it arrives afterwards',
    [buy('01-10', 'A', 'pro'), cancel('03-02'), event('03-03', 'activated', march, premium)],
    'free',
  ],
  [
    'a charge after a cancellation at once gives access, with a finding',
    [activate(march), cancel('03-10'), charge2],
    'basic until 2026-05-01, S1; charged_after_cancellation: S1/2',
  ],
  [
    'a refunded charge after a cancellation at once gives no access',
    [activate(march), cancel('03-10'), charge2, refund('04-02', 'S1/2', basic)],
    'free',
  ],
  [
    'a charge from before a cancellation at once gives no access when it is delivered late',
    [activate(march), cancel('04-01 13:00'), event('04-03', 'charged', april, { cycle: 2 })],
    'free',
  ],
  [
    'cancelling at once ends every source',
    [buy('01-10', 'A', 'pro'), activate(march), cancel('03-10')],
    'free',
  ],
  [
    'a pending refund does not count towards a full refund',
    [
      ...[buy('01-10', 'A', 'basic'), captured('01-10', 'A')],
      refund('01-11', 'A1', basic, { id: 'one', amount: 4900 }),
      refund('01-12', 'A1', basic, { id: 'two', amount: 5000, status: 'pending' }),
    ],
    'basic until 2026-02-10',
  ],
  [
    'a refund that fails after it was processed restores access',
    [
      ...[buy('01-10', 'A', 'pro'), captured('01-10', 'A')],
      ...[refund('01-11', 'A1', pro), refund('01-12', 'A1', pro, { status: 'failed' })],
    ],
    'pro until 2027-01-10',
  ],
  [
    'a subscription with a refunded cycle ends with the cycle before',
    [activate(march), charge2, refund('04-02', 'S1/2', basic)],
    'free',
  ],
  [
    'a payment that was refunded before its verification gives no access',
    [order('01-10', 'A', 'basic'), refund('01-11', 'A1', basic), verify('01-12', 'A')],
    'free',
  ],
  [
    'a payment that was never captured ends, with a finding',
    [buy('01-10', 'A', 'pro'), step('01-16', { do: 'nothing captured', order: 'A', isUnknown: true })],
    'free; never_captured: A',
  ],
  [
    'a payment that is captured late is fulfilled',
    [
      buy('01-10', 'A', 'pro'),
      step('01-16', { do: 'nothing captured', order: 'A', isUnknown: false }),
      captured('01-20', 'A'),
    ],
    'pro until 2027-01-20',
  ],
  [
    'a second payment on an order gives no access, with a finding',
    [buy('01-10', 'A', 'pro'), captured('01-10', 'A'), captured('01-11', 'A', 'A2')],
    'pro until 2027-01-10; paid_twice: A2',
  ],
  [
    'a second purchase of a tier replaces the first, with a finding',
    [buy('01-31', 'A', 'basic'), buy('02-10', 'B', 'basic')],
    'basic until 2026-03-10; paid_twice: B',
  ],
  [
    'an order keeps the length it was sold with when the plan changes',
    [
      order('01-10', 'A', 'pro'),
      step('01-11', { do: 'change plan', tier: 'pro', months: 1, price: 199900 }),
      captured('01-12', 'A'),
    ],
    'pro until 2027-01-12',
  ],
  [
    'a lost dispute leaves access, with a finding',
    [
      ...[buy('01-10', 'A', 'pro'), captured('01-10', 'A')],
      step('01-11', { do: 'dispute', order: 'A', payment: 'A1' }),
    ],
    'pro until 2027-01-10; dispute_lost: A',
  ],
  [
    'a grant rules again after a newer purchase is refunded',
    [
      step('01-10', { do: 'grant', grant: 'G1', tier: 'pro', until: time('2027-01-10') }),
      ...[order('01-11', 'A', 'basic'), captured('01-11', 'A'), refund('01-12', 'A1', basic)],
    ],
    'pro until 2027-01-10',
  ],
  ['a purchase that credited the running period ends it', [credited, wait('2027-01-25')], 'free'],
  [
    'a period whose time was credited rules again when the purchase is refunded',
    [credited, captured('01-20', 'B'), refund('01-21', 'B1', 193194)],
    'basic until 2026-02-10',
  ],
  [
    'a refund of the credited payment leaves the purchase, with a finding',
    [credited, captured('01-20', 'A'), refund('01-21', 'A1', basic)],
    'premium until 2027-01-20; unearned_credit: B',
  ],
  [
    'a purchase after the current period rules from its end on, without days of grace between',
    [
      buy('01-10', 'A', 'basic'),
      step('01-20', { do: 'order', order: 'B', tier: 'pro', amount: pro, start: 'after_current' }),
      ...[verify('01-20', 'B'), wait('02-10 12:01')],
    ],
    'pro until 2027-02-10',
  ],
])('database and model agree after each step: %s', async (_, steps, end) => {
  expect(endOf(await runSteps(await newSubject('replace'), steps.flat()))).toBe(end);
});

test.each([
  ['a chain of months is counted from its first start', buy('02-11', 'C', 'basic'), '2026-04-30'],
  ['a later link of a chain moves up when an earlier one is refunded', [refund('02-12', 'A1', basic)], '2026-03-10'],
])('database and model agree after each step under extend: %s', async (_, last, end) => {
  const steps = [buy('01-31', 'A', 'basic'), captured('01-31', 'A'), buy('02-10', 'B', 'basic'), last].flat();
  const lines = await runSteps(await newSubject('extend'), steps, noFacts('extend'));
  expect(endOf(lines)).toBe(`basic until ${end}`);
});

test('an error lists the steps so far, and the model and the database where they differ', async () => {
  const stub = {
    advance: async () => {},
    perform: () => Promise.resolve([]),
    read: () => Promise.resolve({ tier: 'free', active: null, findings: [], billing: null, cancelled: [], sold: [] }),
    takeStops: () => Promise.resolve([]),
    readClaims: () => Promise.resolve([]),
  };
  await expect(runSteps(stub, buy('01-10', 'A', 'pro'))).rejects.toThrow(
    /order A pro amount=99900 → free\n.* verify A A1 → pro until .*\nmodel {4}pro until .*\ndatabase free\nA is fulfilled on one side only$/,
  );
});

test.runIf(replay !== undefined)('REPLAY prints each step', async () => {
  for (const line of await runDrawn(newSubject, JSON.parse(replay ?? ''))) writeLine(line);
});

/** What the last line says: `pro until 2027-01-10`. */
function endOf(lines: readonly string[]): string | undefined {
  return lines.at(-1)?.split(' → ')[1]?.replace('T12:00:00.000Z', '');
}
