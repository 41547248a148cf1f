import type pg from 'pg';
import { sha256 } from '../gateway-events.ts';
import { captured, dispute, failed, orderPaid } from '../money-events.ts';
import { createPayment, createUser, uniqueId } from '../records.ts';
import { callRpc, openSession } from '../session.ts';
import type { TestDatabase } from '../test-database.ts';
import type { Access } from './access.ts';
import { type Action, planOf } from './actions.ts';
import { refundBody, subscriptionAnswer, subscriptionBody } from './bodies.ts';

/** A user in the database to whom a history happens. */
export type Subject = {
  /** Sets the clock and lets the sweep end what is over, or leaves it for later. */
  goOn(at: string, isSwept: boolean): Promise<void>;
  /** Does it through the RPC that it goes through, then sweeps. Returns the names of the subscriptions asked about. */
  perform(action: Action, at: string): Promise<string[]>;
  read(): Promise<Access>;
};

/** How a history gets its user: alone in the database, whose tables are emptied. */
export type NewSubject = (earlyRenewal: 'replace' | 'extend') => Promise<Subject>;

// setClock replaces the function, after which every statement that calls it is planned anew: most of a history's time.
const clock = `
  create table private.time (at timestamptz not null);
  insert into private.time values (now());
  grant select on private.time to service_role;
  create or replace function private.clock() returns timestamptz language plpgsql stable set search_path = '' as $$
  begin
    return (select t.at from private.time t);
  end
  $$`;

/** Prepares a database for histories, one after the other. */
export async function prepareSubjects(database: TestDatabase): Promise<NewSubject> {
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
  await database.query(clock);
  const service = await openSession(database, { role: 'service_role' });
  const { clear } = await database.one(`
    select string_agg(format('delete from %s;', c.oid::regclass), ' ') as clear
    from pg_class c
    where c.relkind = 'r'
      and (c.relnamespace in ('public'::regnamespace, 'private'::regnamespace) or c.oid = 'auth.users'::regclass)
      and (xpath('//n/text()', query_to_xml(format('select count(*) as n from %s', c.oid::regclass), true, true, '')))[1]::text = '0'`);
  const owner = await database.connect();
  await owner.query('set plan_cache_mode = force_generic_plan; set jit = off');
  return async (earlyRenewal) => {
    // Without triggers and foreign keys, which would note each deletion.
    await owner.query(`begin; set local session_replication_role = replica; ${clear} commit`);
    return await createSubject(database, service, owner, earlyRenewal);
  };
}

async function createSubject(
  database: TestDatabase,
  service: pg.Client,
  owner: pg.Client,
  earlyRenewal: 'replace' | 'extend',
): Promise<Subject> {
  const user = await createUser(database);
  const ids = new Map<string, string>();
  const names = new Map([[user.id, 'user']]);
  const orders = new Map<string, { id: string; orderId: string; tier: string }>();

  const idOf = (name: string, prefix: string) => {
    const id = ids.get(name) ?? uniqueId(prefix);
    ids.set(name, id);
    names.set(id, name);
    return id;
  };
  const orderOf = (name: string) => {
    const order = orders.get(name);
    if (!order) throw new Error(`no order ${name}`);
    return order;
  };
  const moneyOf = (order: string, payment: string) => {
    const { orderId, tier } = orderOf(order);
    return { id: idOf(payment, 'pay'), order_id: orderId, amount: planOf(tier).price };
  };
  /** Bodies are kept, so that what happens again is the same event delivered again. */
  const bodies = new Map<string, string>();
  const send = async (action: Action, build: () => string) => {
    const key = JSON.stringify(action);
    const body = bodies.get(key) ?? build();
    bodies.set(key, body);
    const { outcome } = await callRpc(service, 'apply_gateway_event', sha256(body), null, body, earlyRenewal);
    if (String(outcome).startsWith('failed') || String(outcome).startsWith('ignored')) {
      throw new Error(`${outcome}: ${body}`);
    }
  };
  const sweep = async () => {
    while ((await database.one('select private.sweep() as done')).done !== 0);
  };

  async function act(action: Action, at: string): Promise<string[]> {
    switch (action.do) {
      case 'order': {
        const { tier } = action;
        const order = await createPayment(database, {
          userId: user.id,
          amount: planOf(tier).price,
          meta: { tier },
        });
        orders.set(action.order, { ...order, tier });
        for (const id of [order.id, order.orderId]) names.set(id, action.order);
        return [];
      }
      case 'verify': {
        const { orderId } = orderOf(action.order);
        const paymentId = idOf(action.payment, 'pay');
        await callRpc(service, 'verify_payment', user.id, orderId, paymentId, 'signature', earlyRenewal);
        return [];
      }
      case 'captured': {
        const money = moneyOf(action.order, action.payment);
        const { id, orderId } = orderOf(action.order);
        await send(
          action,
          () =>
            action.event === 'payment.captured'
              ? captured(money)
              : orderPaid(money, { id: orderId, receipt: id.replaceAll('-', '') }),
        );
        return [];
      }
      case 'failed':
        await send(action, () => failed(moneyOf(action.order, action.payment)));
        return [];
      case 'dispute':
        await send(action, () => dispute('lost', 'lost', moneyOf(action.order, action.payment)));
        return [];
      case 'refund': {
        const { payment, order, refund } = action;
        const names = {
          payment: idOf(payment, 'pay'),
          order: order === null ? null : orderOf(order).orderId,
          refund: idOf(refund, 'rfnd'),
        };
        await send(action, () => refundBody(action, names, at));
        return [];
      }
      case 'nothing captured': {
        const { id } = orderOf(action.order);
        await callRpc(service, 'apply_order_payments', id, action.isUnknown ? null : '[]', earlyRenewal);
        return [];
      }
      case 'activated':
      case 'charged':
      case 'cancelled':
        await send(action, () =>
          subscriptionBody(action, {
            user: user.id,
            subscription: idOf(action.subscription, 'sub'),
            payment: idOf(action.payment ?? '', 'pay'),
          }));
        return [];
      case 'ask':
        return await ask(action.answers);
      case 'cancel':
        await callRpc(service, 'cancel_subscription', user.id, action.atPeriodEnd);
        return [];
      case 'resume':
        await callRpc(service, 'resume_subscription', user.id);
        return [];
      case 'grant':
        await database.query('select private.grant_tier($1, $2, $3, $4)', [
          user.id,
          action.tier,
          action.until,
          action.grant,
        ]);
        return [];
      case 'write by hand':
        await database.query(
          `insert into public.subscriptions (user_id, plan_id, tier, status, current_period_start, current_period_end)
           select $1, p.id, p.tier, 'active', $3, $4 from public.plans p where p.tier = $2`,
          [user.id, action.tier, at, action.until],
        );
        await database.query('update public.profiles set subscription_tier = $2 where user_id = $1', [
          user.id,
          action.tier,
        ]);
        return [];
      case 'wait':
        return [];
    }
  }

  async function ask(answers: Extract<Action, { do: 'ask' }>['answers']): Promise<string[]> {
    const { subscriptions } = await callRpc(service, 'claim_subscriptions_to_reconcile');
    const asked: string[] = [];
    for (const { id, gateway_subscription_id: gatewayId } of Array.isArray(subscriptions) ? subscriptions : []) {
      const name = names.get(gatewayId) ?? '';
      const answer = answers[name];
      if (!answer) throw new Error(`claimed: ${gatewayId} ${name}`);
      const entity = JSON.stringify(subscriptionAnswer(gatewayId, answer));
      await callRpc(service, 'apply_gateway_subscription', id, gatewayId, entity, earlyRenewal);
      asked.push(name);
    }
    return asked.sort();
  }

  return {
    async goOn(at, isSwept) {
      await database.query('update private.time set at = $1', [at]);
      if (isSwept) await sweep();
    },
    async perform(action, at) {
      const asked = await act(action, at);
      await sweep();
      return asked;
    },
    async read() {
      const { rows: [row] } = await owner.query({
        // Planning all the views takes longer than reading them.
        name: 'read access',
        text:
          `select p.subscription_tier, s.tier, private.iso_time(s.current_period_end) as "end", s.gateway_subscription_id,
           s.cancel_at_period_end,
           (select jsonb_agg(jsonb_build_array(f.finding, f.subject)) from private.findings f
            where f.user_id = p.user_id and f.finding <> 'outbox_stuck') as findings
         from public.profiles p
         left join public.subscriptions s on s.user_id = p.user_id and s.status = 'active'
         where p.user_id = $1`,
        values: [user.id],
      });
      const { findings } = row;
      // The first payment on an order is called by the order.
      const named = (subject: string) => {
        const name = names.get(subject) ?? subject;
        return [...orders.keys()].find((order) => name === `${order}1`) ?? name;
      };
      return {
        tier: String(row.subscription_tier),
        active: row.tier === null ? null : {
          tier: String(row.tier),
          end: String(row.end),
          gatewaySubscription: row.gateway_subscription_id === null ? null : named(String(row.gateway_subscription_id)),
          cancelAtPeriodEnd: row.cancel_at_period_end === true,
        },
        findings: (Array.isArray(findings) ? findings : [])
          .map(([finding, subject]): `${string}: ${string}` => `${finding}: ${named(subject)}`).sort(),
      };
    },
  };
}
