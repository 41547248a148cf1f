import { beforeAll, expect, test } from 'vitest';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { type BilledCustomer, newCustomer } from '../helpers/faults/customer.ts';
import { passUntil } from '../helpers/faults/pass-until.ts';
import { makePrices } from '../helpers/lives/world.ts';
import { useProject } from '../helpers/project/use-project.ts';
import { grantTier } from '../helpers/records/support-actions.ts';

// Each act of a customer in each state that hides what is paid for, over two cycles: what the customer is told before it, what
// the gateway charges then, what stops, and the mails. All customers live side by side, from noon of 10 January 2027.

const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }));

/** Pro by the month is charged on 10 January: as a cycle; or as an upgrade from basic, an hour later, so that its renewal waits. */
const ways = ['billed', 'upgraded with credit'] as const;
/** What gives access beside it from 14:00 on, and when the act is. */
const covers = [
  '',
  'under a gift of a lower tier',
  'under a gift of the tier',
  'with a row extended by hand',
  'in its last days',
];
type Way = (typeof ways)[number];

/**
 * `told`: the answer of the preview. Then what is paid after 10 January, what the gateway has of the subscriptions since, the
 * tier on 17 March, and the mails after 10 January.
 */
type Expected = {
  scenario: string;
  told: string | null;
  paid: string[];
  gateway: string[];
  tier: string;
  mails: string[];
};

type Act = {
  title: string;
  price: string;
  when: 'now' | 'period_end' | null;
  expected: Record<Way, [mid: Expected, last: Expected]>;
};

/** The same in the middle of the period and in its last days. */
const always = (billed: Expected, upgraded = billed): Act['expected'] => ({
  'billed': [billed, billed],
  'upgraded with credit': [upgraded, upgraded],
});
/** With the unused part of 999.00 as credit: 21 of 31 days, or 5; for who upgraded an hour later one hour more. */
function credited(
  tier: string,
  amounts: Record<Way, [mid: string, last: string]>,
  later: [string[], string[]],
  gateway: string,
) {
  const of = (amount: string, index: 0 | 1): Expected => {
    const day = index === 0 ? '20 January' : '5 February';
    return {
      ...{ scenario: 'upgrade', told: `${amount} on ${day}, renews`, paid: [`${day} ${amount}`, ...later[index]] },
      ...{
        gateway: ['pro cancelled', gateway],
        tier,
        mails: ['payment-success', 'plan-changed', ...later[index].map(() => 'payment-success')],
      },
    };
  };
  const both = ([mid, last]: [string, string]): [Expected, Expected] => [of(mid, 0), of(last, 1)];
  return { 'billed': both(amounts.billed), 'upgraded with credit': both(amounts['upgraded with credit']) };
}

const undone: Expected = {
  ...{ scenario: 'current', told: '0.00, renews', paid: ['10 February 999.00', '10 March 999.00'], tier: 'pro' },
  ...{
    gateway: ['pro active', 'basic cancelled'],
    mails: ['change-undone', 'subscription-renewed', 'subscription-renewed'],
  },
};
const acts: Act[] = [
  {
    title: 'an upgrade',
    price: 'premium',
    when: 'now',
    expected: credited(
      'premium',
      { 'billed': ['1322.26', '1837.88'], 'upgraded with credit': ['1320.92', '1836.53'] },
      [['20 February 1999.00'], ['5 March 1999.00']],
      'premium active',
    ),
  },
  {
    title: 'a change to the year',
    price: 'pro_year',
    when: 'now',
    expected: credited(
      'pro',
      { 'billed': ['9322.26', '9837.88'], 'upgraded with credit': ['9320.92', '9836.53'] },
      [[], []],
      'pro_year authenticated',
    ),
  },
  {
    title: 'a downgrade',
    price: 'basic',
    when: 'period_end',
    expected: always({
      ...{ scenario: 'downgrade', told: '49.00 on 10 February, renews', paid: ['10 February 49.00', '10 March 49.00'] },
      ...{ gateway: ['pro cancelled', 'basic active'], tier: 'basic' },
      mails: ['change-scheduled', 'payment-success', 'subscription-renewed'],
    }),
  },
  {
    title: 'a downgrade that is undone',
    price: 'pro',
    when: 'period_end',
    // The first cycle after the purchase is the first payment of its subscription.
    expected: always(undone, { ...undone, mails: ['change-undone', 'payment-success', 'subscription-renewed'] }),
  },
  {
    title: 'a cancellation for the end',
    price: 'pro',
    when: null,
    expected: always({
      ...{ scenario: 'current', told: null, paid: [], gateway: ['pro cancelled'], tier: 'free' },
      mails: ['subscription-cancelled', 'subscription-ending', 'subscription-ended'],
    }),
  },
];

/** What is expected of a life. Only a cancellation differs by what gives access beside it. */
function expectedOf({ way, cover, act: { expected, when } }: Life): Expected {
  const isLast = cover.includes('last days');
  const usual = expected[way][isLast ? 1 : 0];
  if (when !== null) return usual;
  const without = (kind: string) => usual.mails.filter((each) => each !== kind);
  // The mail about the cancellation named the end less than seven days before it.
  if (isLast) return { ...usual, mails: without('subscription-ending') };
  if (!cover.includes('by hand')) return usual;
  // The row ends with the subscription that it names, else on 20 March.
  return way === 'billed'
    ? { ...usual, mails: without('subscription-ending') }
    : { ...usual, tier: 'pro', mails: without('subscription-ended') };
}

/** All at once: the clocks stand still meanwhile. */
const each = <T>(list: readonly T[], act: (one: T) => Promise<unknown>) => Promise.all(list.map(act));

const lives = ways.flatMap((way) => covers.flatMap((cover) => acts.map((act) => ({ way, cover, act }))));
type Life = (typeof lives)[number];
const titleOf = ({ way, cover, act }: Life) => `${act.title}, ${way}${cover && `, ${cover}`}`;

const customers = new Map<Life, BilledCustomer>();
const found = new Map<Life, Expected>();
const customerOf = (life: Life) => customers.get(life) ?? expect.fail('no customer');
const noon = (day: string) => `2027-${day}T12:00:00Z`;
const money = (minor: number) => (minor / 100).toFixed(2);
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' });

async function change(life: Life, price: string, when: 'now' | 'period_end', isPreview = false) {
  return await billing.send(customerOf(life).user, `subscriptions/change${isPreview ? '/preview' : ''}`, {
    price,
    when,
  });
}

async function cover(life: Life): Promise<void> {
  const { user } = customerOf(life);
  if (life.cover.includes('lower')) await grantTier(billing.database, user.email, 'basic', noon('02-08'));
  if (life.cover.includes('of the tier')) await grantTier(billing.database, user.email, 'pro', noon('02-08'));
  if (life.cover.includes('by hand')) {
    await billing.database.query('update public.subscriptions set current_period_end = $1 where user_id = $2', [
      noon('03-20'),
      user.id,
    ]);
  }
}

/** Looks at a price, and performs the act. */
async function perform(life: Life): Promise<void> {
  const { act: { title, price, when } } = life;
  const { user, complete, cancel } = customerOf(life);
  if (title.includes('undone')) await complete(await change(life, 'basic', 'period_end'));
  const { body: { plans } } = await billing.send(user, 'subscriptions/plans');
  const scenario = plans.flatMap(({ prices }: { prices: { lookup_key: string }[] }) => prices)
    .find(({ lookup_key: key }: { lookup_key: string }) => key === price).scenario;
  let told = null;
  if (when === null) await cancel(true);
  else {
    const { body: { amount_due: due, due_at: at, renews } } = await change(life, price, when, true);
    told = `${money(due)}${at === null ? '' : ` on ${days.format(new Date(at))}`}${renews ? ', renews' : ''}`;
    const changed = await change(life, price, when);
    if (title.includes('undone')) expect(changed).toMatchObject({ status: 200, body: { subscription: null } });
    else await complete(changed);
  }
  found.set(life, { scenario, told, paid: [], gateway: [], tier: '', mails: [] });
}

type Payment = { id: string; order_id: string; captured: boolean; created_at: number; amount: number };

/** What became of each. */
async function look(): Promise<void> {
  const payments: Payment[] = (await billing.readAll('/payments')).filter(({ captured }) => captured).reverse();
  await each([...found], async ([life, result]) => {
    const { user, read } = customerOf(life);
    const own = await billing.database.query('select gateway_order_id as id from public.payments where user_id = $1', [
      user.id,
    ]);
    const ids = new Set(own.map(({ id }) => id));
    const subscriptions = await billing.atGateway(user);
    for (const { id } of subscriptions) {
      const { items } = await billing.readApi(`/invoices?subscription_id=${id}&count=100`);
      for (const invoice of items) ids.add(invoice.payment_id);
    }
    const mails = await billing.database.query(
      `select o.kind from billing.outbox o
       where o.payload ->> 'to' = $1 and o.kind not like 'receipt%' and o.parked_at is null order by o.id`,
      [user.email],
    );
    Object.assign(result, {
      paid: payments.filter(({ id, order_id: order }) => ids.has(id) || ids.has(order))
        .map(({ created_at: at, amount }) => `${days.format(at * 1000)} ${money(amount)}`),
      gateway: subscriptions.map(({ plan_id: plan, status }) => `${plan.replace('plan_', '')} ${status}`),
      tier: (await read()).currentTier,
      mails: mails.map(({ kind }) => kind),
    });
  });
}

beforeAll(async () => {
  await makePrices(billing, { renewal: 'replace', trial: 0, cycles: 0, zone: 'UTC' });
  await each(lives, async (life) => {
    const customer = await newCustomer(billing);
    customers.set(life, customer);
    await customer.start(life.way === 'billed' ? 'pro' : 'basic');
  });
  await passUntil(billing, '2027-01-10T13:00:00Z');
  await each(lives.filter(({ way }) => way !== 'billed'), async (life) => {
    await customerOf(life).complete(await change(life, 'pro', 'now'));
  });
  await passUntil(billing, '2027-01-10T14:00:00Z');
  await each(lives, cover);
  const isLast = (life: Life) => life.cover.includes('last days');
  const [last, mid] = [lives.filter(isLast), lives.filter((life) => !isLast(life))];
  await passUntil(billing, noon('01-20'));
  await each(mid, perform);
  await passUntil(billing, noon('02-05'));
  await each(last, perform);
  await passUntil(billing, noon('03-17'));
  await look();
}, 300_000);

test.each(lives.map((life) => [titleOf(life), life] as const))('%s', (_, life) => {
  const isBilled = life.way === 'billed';
  const { paid, gateway, mails, ...rest } = expectedOf(life);
  expect(found.get(life)).toEqual({
    ...rest,
    paid: [...(isBilled ? ['10 January 999.00'] : ['10 January 49.00', '10 January 950.07']), ...paid],
    gateway: [...(isBilled ? [] : ['basic cancelled']), ...gateway],
    mails: [...(isBilled ? ['payment-success'] : ['payment-success', 'payment-success', 'plan-changed']), ...mails],
  });
});
