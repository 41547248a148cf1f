import type pg from 'pg';
import type { Access, StoredBilling } from './access.ts';
import type { Action } from './actions.ts';
import type { Sold } from './money.ts';
import { createNames } from './names.ts';
import { createPerformer } from './perform-action.ts';
import { parseTime, type Time } from './time.ts';
import type { TestDatabase } from '../database/test-database.ts';

/** The user of a history in the database. */
export type Subject = {
  /** Sets the clock and, if `isSwept`, runs the sweep. */
  advance(at: string, isSwept: boolean): Promise<void>;
  /** Performs an action through its RPC, then sweeps. Returns the names of the reconciled gateway subscriptions. */
  perform(action: Action, at: string): Promise<string[]>;
  read(): Promise<Access>;
  readBilling(): Promise<StoredBilling>;
  /** Sends to the gateway which subscriptions to stop, as far as that is due. */
  takeStops(): Promise<Stop[]>;
  /** The mails about failed and last charges so far: the subscription, and when access ends. */
  readClaims(): Promise<Claim[]>;
};

/** The gateway must stop billing a subscription: at the end of its cycle, or at once. */
export type Stop = { readonly subscription: string; readonly atCycleEnd: boolean; readonly dueAt: Time };

/** What a mail about a failed or the last charge says: null, if access does not end. */
export type Claim = { readonly subscription: string; readonly accessEndsAt: string | null };

/** The database, a session of the service, a session of the owner, and the user. */
export type Setting = {
  readonly database: TestDatabase;
  readonly service: pg.Client;
  readonly owner: pg.Client;
  readonly userId: string;
};

const readAccess = `
  select
    p.subscription_tier,
    s.tier,
    billing.iso_time(s.current_period_end) as "end",
    s.gateway_subscription_id,
    s.cancel_at_period_end,
    -- No dispatcher runs here, so due rows stay due.
    (
      select coalesce(jsonb_agg(jsonb_build_array(f.finding, f.subject)), '[]')
      from billing.findings f
      where f.user_id = p.user_id
        and f.finding <> 'outbox_stuck'
    ) as findings
  from public.profiles p
  left join public.subscriptions s on s.user_id = p.user_id and s.status = 'active'
  where p.user_id = $1`;

const readBilling = `
  select
    public.get_subscription($1) -> 'billing' as billing,
    (
      select coalesce(jsonb_agg(o.payload ->> 'gateway_subscription_id'), '[]')
      from billing.outbox o
      where o.kind = 'cancel-subscription'
        and o.parked_at is null
    ) as cancelled,
    (
      select coalesce(
        jsonb_agg(jsonb_build_object(
          'order', p.id,
          'start', billing.iso_time(p.period_start),
          'end', billing.iso_time(p.period_end),
          'isEnded', p.ended_at is not null
        )),
        '[]'
      )
      from public.payments p
      where p.fulfilled_at is not null
        and p.gateway_subscription_id is null
    ) as sold`;

/** The dispatcher sends each message as soon as it is due. */
const takeStops = `
  update billing.outbox o
  set attempts = o.attempts + 1, delivered_at = billing.clock()
  where o.kind = 'cancel-subscription'
    and o.parked_at is null
    and o.delivered_at is null
    and o.next_attempt_at <= billing.clock()
  returning
    o.payload ->> 'gateway_subscription_id' as subscription,
    (o.payload -> 'at_cycle_end')::boolean as at_cycle_end,
    billing.iso_time(o.next_attempt_at) as due_at`;

const readClaims = `
  select split_part(o.key, '/', 2) as subscription, o.payload ->> 'access_ends_at' as access_ends_at
  from billing.outbox o
  where o.kind in ('payment-pending', 'subscription-halted', 'subscription-completed')
  order by o.id`;

export function createSubject(setting: Setting): Subject {
  const { database, owner, userId } = setting;
  const names = createNames();
  names.add(userId, 'user');
  const perform = createPerformer(setting, names);
  const sweep = async () => {
    while ((await owner.query('select billing.sweep() as done')).rows[0].done !== 0);
  };
  return {
    async advance(at, isSwept) {
      await database.query('update billing.time set at = $1', [at]);
      if (isSwept) await sweep();
    },
    async perform(action, at) {
      const reconciled = await perform(action, at);
      await sweep();
      return reconciled;
    },
    async readBilling() {
      const { rows: [row] } = await owner.query({ name: 'read billing', text: readBilling, values: [userId] });
      const { billing, cancelled, sold } = row;
      return {
        billing: billing && {
          name: names.nameOf(billing.gateway_subscription_id),
          status: billing.status,
          nextChargeAt: billing.next_charge_at && new Date(billing.next_charge_at).toISOString(),
          needsAttention: billing.payment_attention,
        },
        cancelled: cancelled.map((id: string) => names.nameOf(id)),
        sold: sold.map((each: Sold) => ({ ...each, order: names.nameOf(each.order) })),
      };
    },
    async takeStops() {
      const { rows } = await owner.query({ name: 'take stops', text: takeStops });
      return rows.map(({ subscription, at_cycle_end: atCycleEnd, due_at: dueAt }) => ({
        subscription: names.nameOf(subscription),
        atCycleEnd,
        dueAt: parseTime(dueAt),
      }));
    },
    async readClaims() {
      const { rows } = await owner.query({ name: 'read claims', text: readClaims });
      return rows.map(({ subscription, access_ends_at: accessEndsAt }) => ({
        subscription: names.nameOf(subscription),
        accessEndsAt,
      }));
    },
    async read() {
      const { rows: [row] } = await owner.query({ name: 'read access', text: readAccess, values: [userId] });
      const { tier, end, gateway_subscription_id: gatewaySubscription, findings } = row;
      return {
        tier: row.subscription_tier,
        active: tier === null ? null : {
          tier,
          end,
          gatewaySubscription: gatewaySubscription === null ? null : names.nameOf(gatewaySubscription),
          cancelAtPeriodEnd: row.cancel_at_period_end,
        },
        findings: findings.map(([finding, subject]: [string, string]) => `${finding}: ${names.nameOf(subject)}`).sort(),
      };
    },
  };
}
