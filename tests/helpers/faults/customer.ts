import { expect, vi } from 'vitest';
import type { SignedUpUser } from '../project/project.ts';
import type { Billed, BillingProject } from './billing-project.ts';

/** The type of `response.json()`. */
type Json = Awaited<ReturnType<Response['json']>>;
export type Answer = { status: number; body: Json };

const billingStates = ['authenticated', 'active', 'pending', 'halted'];

/** A customer of a project with billing: what the customer does, and what became of it. */
export type BilledCustomer = {
  readonly user: SignedUpUser;
  /** Asks for a subscription. @returns its id at the gateway */
  ask(tier: string): Promise<string>;
  /** Asks for a subscription and authorises it. @returns its id at the gateway */
  start(tier: string): Promise<string>;
  change(tier: string, when: 'now' | 'period_end'): Promise<Answer>;
  /** Pays the order and authorises the subscription of a change. */
  complete(change: Answer): Promise<void>;
  cancel(atPeriodEnd: boolean): Promise<Answer>;
  read(): Promise<Json>;
  /** The subscriptions that the gateway bills. */
  billed(): Promise<Billed[]>;
  /** Moves to so many hours before the end of the running cycle, and runs the schedule. */
  moveTo(hours: number): Promise<void>;
  /** Passes the end of the running cycle, and runs the schedule before and after it. */
  passCycle(): Promise<void>;
  findings(): Promise<unknown[]>;
  /** Waits until the gateway did not answer the cancellation of a subscription. */
  attempted(): Promise<void>;
  /** Ends everything, so that later tests have less to do. */
  leave(): Promise<void>;
};

/** A new customer. */
export async function newCustomer(billing: BillingProject): Promise<BilledCustomer> {
  const user = await billing.newUser();
  const ask = async (tier: string): Promise<string> => {
    const { status, body } = await billing.send(user, 'subscriptions', { tier });
    expect({ status, body }).toMatchObject({ status: 201 });
    return body.subscription.id;
  };
  const billed = async () => (await billing.atGateway(user)).filter(({ status }) => billingStates.includes(status));
  const now = async () =>
    Number((await billing.database.one('select extract(epoch from billing.clock())::integer as now')).now);
  const moveTo = async (hours: number) => {
    const time = await now();
    const ends = (await billed()).flatMap(({ current_end: end, charge_at: at }) => [end, at]).filter((at) => at > time);
    await billing.moveOn(ends.length === 0 ? 25 : (Math.min(...ends) - time) / 3600 - hours);
    await billing.runSchedule();
  };
  const later = async (hours: number) => {
    await billing.moveOn(hours);
    await billing.runSchedule();
  };

  return {
    user,
    ask,
    async start(tier) {
      const id = await ask(tier);
      await billing.approve(id);
      return id;
    },
    change: (tier, when) => billing.send(user, 'subscriptions/change', { tier, when }),
    async complete({ status, body }) {
      expect({ status, body }).toMatchObject({ status: 201 });
      if (body.order !== null) {
        const paid = await billing.simulate('pay', { order_id: body.order.id, outcome: 'captured' });
        expect(await billing.send(user, 'payments/verify', paid)).toMatchObject({ status: 200 });
      }
      if (body.subscription !== null) await billing.approve(body.subscription.id);
    },
    cancel: (atPeriodEnd) => billing.send(user, 'subscriptions/cancel', { at_period_end: atPeriodEnd }),
    read: async () => (await billing.send(user, 'subscriptions')).body,
    billed,
    moveTo,
    async passCycle() {
      await moveTo(47);
      await later(1);
      await later(48);
      await later(24);
    },
    findings: async () =>
      // Mails are due since the clock was set; nothing sends them here.
      (await billing.database.query(
        `select f.finding from billing.findings f
         where f.user_id = $1
           and not (f.finding = 'outbox_stuck' and f.detail ->> 'destination' in ('email', 'notice'))`,
        [user.id],
      )).map(({ finding }) => finding),
    attempted: () =>
      vi.waitFor(async () => {
        const ids = (await billing.atGateway(user)).map(({ id }) => `cancel-subscription/${id}`);
        const rows = await billing.database.query(
          'select from billing.outbox where key = any ($1) and attempts > 0 and last_error is not null',
          [ids],
        );
        expect(rows.length).toBeGreaterThan(0);
      }, { timeout: 30_000, interval: 50 }),
    async leave() {
      for (const { id } of await billed()) await billing.callApi(`/subscriptions/${id}/cancel`);
    },
  };
}
