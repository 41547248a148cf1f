import { expect } from 'vitest';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { newCustomer } from '../helpers/faults/customer.ts';
import { passUntil } from '../helpers/faults/pass-until.ts';
import { useWords } from '../helpers/words/contradictions.ts';
import { useProject } from '../helpers/project/use-project.ts';
import { grantTier } from '../helpers/records/support-actions.ts';

/** A customer at the real function, the simulated gateway and their schedule. Dates are days of UTC, at noon. */
export type Life = Awaited<ReturnType<ReturnType<typeof useLife>['begin']>>;

/** For one story: the whole service, and a customer in it. Plans are by the month: basic 49.00, pro 999.00. */
export function useLife() {
  const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }));

  const readers: ReturnType<typeof useWords>[] = [];
  const on = (day: string) => passUntil(billing, `${day}T12:00:00Z`, compareWords);

  /** No two words contradict, in mails, on the page and at support, whenever something has happened. */
  async function compareWords(): Promise<void> {
    for (const contradictions of readers) expect((await contradictions()).join('\n')).toBe('');
  }

  /** A new customer, on a day. */
  async function begin(day: string) {
    await on(day);
    const customer = await newCustomer(billing);
    const { user } = customer;
    readers.push(useWords(billing, customer));
    /** The newest subscription of the customer at the gateway. */
    const newest = async () => (await billing.atGateway(user)).at(-1) ?? expect.fail('no subscription');
    const life = {
      ...customer,
      on,
      subscribes: (tier: string) => customer.start(tier),
      /** Buys a month, and closes the browser before it can tell the service. */
      async buysWithClosedBrowser(tier: string) {
        const { body: { order } } = await billing.send(user, 'payments/orders', { tier });
        await billing.simulate('pay', { order_id: order.id, outcome: 'captured' });
      },
      /** Changes the plan, and pays and authorises what the change needs. */
      async changes(tier: string, when: 'now' | 'period_end') {
        await customer.complete(await customer.change(tier, when));
      },
      undoes: async (tier: string) => {
        expect(await customer.change(tier, 'period_end')).toMatchObject({ status: 200, body: { subscription: null } });
      },
      cancels: async (when: 'now' | 'period_end') => void await customer.cancel(when === 'period_end'),
      resumes: async () => expect(await billing.send(user, 'subscriptions/resume', {})).toMatchObject({ status: 200 }),
      /** The bank declines the next charges, or accepts them again. */
      bank: async (charges: 'fail' | 'succeed') =>
        void await billing.simulate('subscription-fault', { subscription_id: (await newest()).id, charges }),
      paysWithNewCard: async () =>
        void await billing.simulate('update-method', { subscription_id: (await newest()).id }),
      /** A control of the gateway about the newest payment for a cycle, or for an order: a refund, a dispute. */
      async gateway(control: 'refund' | 'dispute', fields: Record<string, unknown> = {}) {
        const [payment] = await billing.database.query(
          'select gateway_payment_id as id from public.payments where user_id = $1 order by captured_at desc nulls last limit 1',
          [user.id],
        );
        await billing.simulate(control, { payment_id: payment?.id, ...fields });
        await billing.runSchedule();
      },
      /** No webhook about the newest subscription arrives any more. */
      losesWebhooks: async () => void billing.silent.add((await newest()).id),
      support: {
        grants: (tier: string, until: string) => grantTier(billing.database, user.email, tier, until),
      },
      deletesAccount: () => billing.database.query('delete from auth.users where id = $1', [user.id]),
      /** What the customer reads in the app: `basic until 5 April; 49.00 on 5 April`. */
      async sees(text: string) {
        await compareWords();
        const { currentTier, subscription, billing: billed } = await customer.read();
        const until = currentTier === 'free' ? '' : ` until ${dayText(subscription.current_period_end)}`;
        const charge = billed?.next_charge_at
          ? `${amount(billed.price.amount)} on ${dayText(billed.next_charge_at)}`
          : 'no charge';
        const next = billed?.next ? `; then ${billed.next.tier} from ${dayText(billed.next.starts_at)}` : '';
        const attention = billed?.payment_attention ? '; payment failed' : '';
        expect(`${currentTier}${until}; ${charge}${next}${attention}`).toBe(text);
      },
      /** What the gateway charged, all in all: `5 March 49.00`. */
      async paid(...charges: string[]) {
        expect(await chargesOf(user.id)).toEqual(charges);
      },
      /** The mails since the last look, without those of receipts. */
      async mailed(...kinds: string[]) {
        const all = await customer.mails();
        expect(all.slice(read)).toEqual(kinds);
        read = all.length;
      },
      /** What support is asked to look at. */
      needs: async (...findings: string[]) => expect((await customer.findings()).toSorted()).toEqual(findings),
    };
    let read = 0;
    return life;
  }

  /** Every captured payment at the gateway, of orders and of cycles, without what was refunded later. */
  async function chargesOf(userId: string): Promise<string[]> {
    const { items } = await billing.readApi('/payments?count=100');
    const mine = await idsOf(userId);
    return items.toReversed()
      .filter((payment: Payment) => payment.captured && mine.has(payment.id))
      .map(({ created_at: at, amount: paid, amount_refunded: back }: Payment) =>
        `${dayText(at * 1000)} ${amount(paid)}${back > 0 ? `, ${amount(back)} back` : ''}`
      );
  }

  async function idsOf(userId: string): Promise<Set<string>> {
    const ids = new Set<string>();
    for (const { id } of await billing.atGateway({ id: userId })) {
      const { items } = await billing.readApi(`/invoices?subscription_id=${id}&count=100`);
      for (const { payment_id: paid } of items) if (paid !== null) ids.add(paid);
    }
    const orders = await billing.database.query(
      'select gateway_order_id as id from public.payments where user_id = $1 and gateway_order_id is not null',
      [userId],
    );
    for (const { id } of orders) {
      const { items } = await billing.readApi(`/orders/${id}/payments`);
      for (const payment of items) ids.add(payment.id);
    }
    return ids;
  }

  return { begin };
}

type Payment = { id: string; captured: boolean; created_at: number; amount: number; amount_refunded: number };
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' });
const dayText = (at: string | number) => days.format(new Date(at));
const amount = (minor: number) => (minor / 100).toFixed(2);
