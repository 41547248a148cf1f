import { expect, vi } from 'vitest';
import type { Answer, BillingProject } from './billing-project.ts';

export type BilledCustomer = Awaited<ReturnType<typeof newCustomer>>;

/** A customer of a project with billing: what the customer does, and what became of it. */
export async function newCustomer(billing: BillingProject) {
  const user = await billing.newUser();
  const billingStates = ['authenticated', 'active', 'pending', 'halted'];
  const customer = {
    user,
    /** Asks for a subscription. @returns its id at the gateway */
    async ask(tier: string): Promise<string> {
      const { status, body } = await billing.send(user, 'subscriptions', { tier });
      expect({ status, body }).toMatchObject({ status: 201 });
      return body.subscription.id;
    },
    /** Approves a subscription on the gateway's page. @returns what the checkout tells the client */
    approve: (id: string) => billing.simulate('authorise', { subscription_id: id, outcome: 'approved' }),
    /** Asks for a subscription and approves it. @returns its id at the gateway */
    async start(tier: string) {
      const id = await customer.ask(tier);
      await customer.approve(id);
      return id;
    },
    change: (tier: string, when: 'now' | 'period_end') => billing.send(user, 'subscriptions/change', { tier, when }),
    /** Pays the order and approves the subscription of a change. */
    async complete({ status, body }: Answer) {
      expect({ status, body }).toMatchObject({ status: 201 });
      if (body.order !== null) {
        const paid = await billing.simulate('pay', { order_id: body.order.id, outcome: 'captured' });
        expect(await billing.send(user, 'payments/verify', paid)).toMatchObject({ status: 200 });
      }
      if (body.subscription !== null) await customer.approve(body.subscription.id);
    },
    /** Cancels: the answer is 200. */
    async cancel(atPeriodEnd: boolean) {
      const cancelled = await billing.send(user, 'subscriptions/cancel', { at_period_end: atPeriodEnd });
      expect(cancelled).toMatchObject({ status: 200 });
      return cancelled;
    },
    read: async () => (await billing.send(user, 'subscriptions')).body,
    /** The subscriptions that the gateway bills. */
    billed: async () => (await billing.atGateway(user)).filter(({ status }) => billingStates.includes(status)),
    /** Lets hours pass, and runs the schedule. */
    async later(hours: number) {
      await billing.moveOn(hours);
      await billing.runSchedule();
    },
    /** Moves to so many hours before the end of the running cycle, and runs the schedule. */
    async moveTo(hours: number) {
      const now = billing.now();
      const times = (await customer.billed()).flatMap(({ current_end: end, charge_at: at }) => [end, at]);
      const ends = times.filter((at) => at > now);
      await customer.later(ends.length === 0 ? 25 : (Math.min(...ends) - now) / 3600 - hours);
    },
    /** Passes the end of the running cycle, and runs the schedule before and after it. */
    async passCycle() {
      await customer.moveTo(47);
      for (const hours of [1, 48, 24]) await customer.later(hours);
    },
    async findings() {
      // Mails are due since the clock was set; nothing sends them here.
      const rows = await billing.database.query(
        `select f.finding from billing.findings f
         where f.user_id = $1
           and not (f.finding = 'outbox_stuck' and f.detail ->> 'destination' in ('email', 'notice'))`,
        [user.id],
      );
      return rows.map(({ finding }) => finding);
    },
    async mails() {
      const mails = "select kind from billing.outbox where payload ->> 'to' = $1 order by id";
      return (await billing.database.query(mails, [user.email])).map(({ kind }) => kind);
    },
    /** Waits until the gateway did not answer the cancellation of a subscription. */
    attempted: () =>
      vi.waitFor(async () => {
        const ids = (await billing.atGateway(user)).map(({ id }) => `cancel-subscription/${id}`);
        const rows = await billing.database.query(
          'select from billing.outbox where key = any ($1) and attempts > 0 and last_error is not null',
          [ids],
        );
        expect(rows.length).toBeGreaterThan(0);
      }, { timeout: 30_000, interval: 50 }),
    /** Ends everything, so that later tests have less to do. */
    async leave() {
      for (const { id } of await customer.billed()) await billing.callApi(`/subscriptions/${id}/cancel`);
    },
  };
  return customer;
}
