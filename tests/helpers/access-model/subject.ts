import type pg from 'pg';
import type { Access } from './access.ts';
import type { Action } from './actions.ts';
import { createNames } from './names.ts';
import { createPerformer } from './perform-action.ts';
import type { TestDatabase } from '../database/test-database.ts';

/** The user of a history in the database. */
export type Subject = {
  /** Sets the clock and, if `isSwept`, runs the sweep. */
  advance(at: string, isSwept: boolean): Promise<void>;
  /** Performs an action through its RPC, then sweeps. Returns the names of the reconciled gateway subscriptions. */
  perform(action: Action, at: string): Promise<string[]>;
  read(): Promise<Access>;
};

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
    private.iso_time(s.current_period_end) as "end",
    s.gateway_subscription_id,
    s.cancel_at_period_end,
    -- No dispatcher runs here, so due rows stay due.
    (
      select coalesce(jsonb_agg(jsonb_build_array(f.finding, f.subject)), '[]')
      from private.findings f
      where f.user_id = p.user_id
        and f.finding <> 'outbox_stuck'
    ) as findings
  from public.profiles p
  left join public.subscriptions s on s.user_id = p.user_id and s.status = 'active'
  where p.user_id = $1`;

export function createSubject(setting: Setting): Subject {
  const { database, owner, userId } = setting;
  const names = createNames();
  names.add(userId, 'user');
  const perform = createPerformer(setting, names);
  const sweep = async () => {
    while ((await database.one('select private.sweep() as done')).done !== 0);
  };
  return {
    async advance(at, isSwept) {
      await database.query('update private.time set at = $1', [at]);
      if (isSwept) await sweep();
    },
    async perform(action, at) {
      const reconciled = await perform(action, at);
      await sweep();
      return reconciled;
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
