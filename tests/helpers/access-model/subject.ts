import { type EarlyRenewal, setEarlyRenewal } from '../database/early-renewal.ts';
import { callRpc, openSession } from '../database/session.ts';
import { createTestDatabase, type TestDatabase } from '../database/test-database.ts';
import { deliver } from '../gateway/deliver.ts';
import { type Fields, orderPaid, paymentCaptured, refundEvent, subscriptionEvent } from '../gateway/events.ts';
import { orderTier } from '../records/orders.ts';
import { createPayment, createUser, uniqueId } from '../records/records.ts';
import {
  type Action,
  type Answer,
  type GatewayEvent,
  isoTime,
  planOf,
  plans,
  type RefundAction,
  second,
  type Time,
} from './actions.ts';
import type { Access, Billing, Sold } from './expected.ts';
import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { afterAll, beforeAll, expect } from 'vitest';

/** What the database has about a user, by the names of the history. */
export type Stored = Access & {
  readonly billing: Billing | null;
  readonly cancelled: readonly string[];
  readonly sold: readonly Sold[];
  /** The mails about failed and last charges since the last reading. */
  readonly mails: readonly Claim[];
};

/** The gateway must stop billing a subscription: at the end of its cycle, or at once. */
export type Stop = { readonly subscription: string; readonly atCycleEnd: boolean; readonly dueAt: Time };

/** What a mail about a failed or the last charge says: null, if access does not end. */
export type Claim = { readonly subscription: string; readonly accessEndsAt: Time | null };

/** The user of a history in the database. */
export type Subject = {
  /** Sets the clock and, if `isSwept`, runs the sweep. */
  advance(at: Time, isSwept: boolean): Promise<void>;
  /** Performs an action through its RPC. Returns the names of the reconciled gateway subscriptions. */
  perform(action: Action, at: Time): Promise<string[]>;
  /** Sweeps, then reads. */
  read(): Promise<Stored>;
  /** Sends to the gateway which subscriptions to stop, as far as that is due. */
  takeStops(): Promise<Stop[]>;
};

/** Empties the tables, sets what early renewals do, and creates the user of a history. */
export type NewSubject = (earlyRenewal: EarlyRenewal) => Promise<Subject>;

/** The database, a session of the service, a session of the owner, and the user. */
type Setting = { database: TestDatabase; service: pg.Client; owner: pg.Client; userId: string };

/** A database for histories, which run one after the other. @returns a function that begins a history */
export function useSubjects(): NewSubject {
  let database: TestDatabase;
  let newSubject: NewSubject;
  beforeAll(async () => {
    // Each history compares the findings of its own user after each step.
    database = await createTestDatabase({ findings: 'compared elsewhere' });
    newSubject = await prepareSubjects(database);
  });
  afterAll(() => database.close());
  return (earlyRenewal) => newSubject(earlyRenewal);
}

/** Deletes from the tables that have no rows in a new database and have some now. */
const emptyTables = `
  select string_agg(format('delete from %s;', c.oid::regclass), ' ') as clear
  from pg_class c
  cross join query_to_xml(format('select count(*) as n from %s', c.oid::regclass), true, true, '') as counted
  where c.relkind = 'r'
    and (c.relnamespace in ('public'::regnamespace, 'billing'::regnamespace) or c.oid = 'auth.users'::regclass)
    and (xpath('//n/text()', counted))[1]::text = '0'`;

async function prepareSubjects(database: TestDatabase): Promise<NewSubject> {
  const { clear } = await database.one(emptyTables);
  await database.query(await readFile(new URL('subject.sql', import.meta.url), 'utf8'));
  const service = await openSession(database, { role: 'service_role' });
  const owner = await database.connect();
  // On a connection of its own: to set the replication role throws away all plans of a connection.
  const cleaner = await database.connect();
  // Planning takes longer than reading: the views of findings, and what the sweep calls without a row.
  for (const client of [owner, service]) await client.query('set plan_cache_mode = force_generic_plan');
  for (const [tier, { price, months }] of Object.entries(plans)) {
    await database.query(
      "update public.plans set gateway_plan_id = 'plan_' || tier, price = $2, duration_months = $3 where tier = $1",
      [tier, price, months],
    );
  }
  return async (earlyRenewal) => {
    // Without triggers and foreign keys: the triggers would record each deletion.
    await cleaner.query(`begin; set local session_replication_role = replica; ${clear} commit`);
    await setEarlyRenewal(database, earlyRenewal);
    return createSubject({ database, service, owner, userId: (await createUser(database)).id });
  };
}

function createSubject(setting: Setting): Subject {
  const { owner, userId } = setting;
  const names = createNames();
  names.add(userId, 'user');
  let known = 0;
  /** The rows of a statement that returns JSON, with names for ids. */
  const read = async <Result>(name: string, text: string, values: unknown[] = []): Promise<Result[]> => {
    const { rows } = await owner.query({ name, text: `select (${text})::text as json`, values });
    return rows.map(({ json }) =>
      JSON.parse(json, (_, value) => typeof value === 'string' ? names.nameOf(value) : value)
    );
  };
  return {
    async advance(at, isSwept) {
      await owner.query({ name: 'advance', text: 'update test.time set at = $1', values: [isoTime(at)] });
      if (isSwept) await owner.query({ name: 'sweep', text: 'select test.sweep()' });
    },
    perform: createPerformer(setting, names),
    async read() {
      const [row] = await read<Stored & { findings: [string, string][] }>('read', 'test.read($1)', [userId]);
      if (row === undefined) throw new Error('nothing read');
      const findings = row.findings.map(([finding, subject]) => `${finding}: ${subject}`).sort();
      return { ...row, findings, mails: row.mails.slice(known, known = row.mails.length) };
    },
    takeStops: () => read('take stops', 'test.take_stops()'),
  };
}

/** Maps the names of a history to the ids in the database and at the gateway. */
function createNames() {
  const ids = new Map<string, string>();
  const names = new Map<string, string>();
  return {
    /** The id of a name. Creates one with the prefix at the first use. */
    idOf(name: string, prefix: string): string {
      const id = ids.get(name) ?? uniqueId(prefix);
      ids.set(name, id);
      names.set(id, names.get(id) ?? name);
      return id;
    },
    /** The name of an id, or the id itself. */
    nameOf: (id: string) => names.get(id) ?? id,
    /** Adds an id to a name. A name may have several. */
    add: (id: string, name: string) => void names.set(id, name),
  };
}

/** Performs actions through the RPCs, each at its time. Returns the names of the reconciled gateway subscriptions. */
function createPerformer(
  { database, service, userId }: Setting,
  names: ReturnType<typeof createNames>,
): Subject['perform'] {
  const orders = new Map<string, { id: string; orderId: string; amount: number }>();
  const orderOf = (name: string) => orders.get(name) ?? expect.fail(`no order ${name}`);
  // The first payment on an order has the name of the order.
  const paymentOf = (name: string) =>
    names.idOf([...orders.keys()].find((order) => name === `${order}1`) ?? name, 'pay');
  const moneyOf = ({ order, payment }: { order: string; payment: string }) => {
    const { orderId, amount } = orderOf(order);
    return { id: paymentOf(payment), order_id: orderId, amount };
  };

  const refunds = new Map<string, Map<string, number>>();
  /** The refunded amount of a payment as the gateway counts it: pending refunds included. */
  const refundedOf = ({ payment, refund, amount, status }: RefundAction): number => {
    const known = refunds.get(payment) ?? new Map<string, number>();
    refunds.set(payment, known.set(refund, status === 'failed' ? 0 : amount));
    return [...known.values()].reduce((sum, each) => sum + each, 0);
  };

  const bodies = new Map<string, string>();
  /** Delivers the event of an action. A repeated action delivers the same bytes again. */
  const send = async (action: Action, build: () => string): Promise<string[]> => {
    const key = JSON.stringify(action);
    const body = bodies.get(key) ?? build();
    bodies.set(key, body);
    const outcome = await deliver(service, body);
    if (/^(failed|ignored)/.test(String(outcome))) throw new Error(`${outcome}: ${body}`);
    return [];
  };
  const call = (name: string, ...parameters: unknown[]) => callRpc(service, name, ...parameters).then(() => []);
  const write = (sql: string, ...parameters: unknown[]) => database.query(sql, parameters).then(() => []);

  const bodyOf = ({ do: name, tier, payment, ...event }: GatewayEvent): string =>
    subscriptionEvent({
      name,
      userId,
      id: names.idOf(event.subscription, 'sub'),
      planId: `plan_${tier}`,
      createdAt: isoTime(event.createdAt),
      start: isoOf(event.start),
      end: isoOf(event.end),
      fields: { paid_count: event.paidCount, charge_at: seconds(event.chargeAt) },
      ...(payment !== null && {
        // The gateway creates an order of its own for each charge.
        payment: { id: paymentOf(payment), order_id: uniqueId('order'), amount: planOf(tier).price },
      }),
    });
  const place = async ({ order, tier, amount, start }: Extract<Action, { do: 'order' }>): Promise<string[]> => {
    const placed = start
      ? await orderTier(service, { user: { id: userId, email: null }, tier, start })
      : await createPayment(database, { userId, amount, meta: { tier } });
    if ('answer' in placed) {
      if (placed.answer.amount !== amount) throw new Error(`costs ${placed.answer.amount}`);
    } else {
      // Plan and length are stored with the order, as create_order does.
      await database.query(
        `update public.payments p set plan_id = pl.id, duration_months = coalesce(nullif(pl.duration_months, 0), 12)
         from public.plans pl where p.id = $1 and pl.tier = $2`,
        [placed.id, tier],
      );
    }
    orders.set(order, { id: placed.id, orderId: placed.orderId, amount });
    for (const id of [placed.id, placed.orderId]) names.add(id, order);
    return [];
  };
  const ask = async (answers: Record<string, Answer>): Promise<string[]> => {
    const { subscriptions } = await callRpc(service, 'claim_subscriptions_to_reconcile');
    const { orders } = await callRpc(service, 'claim_subscription_orders');
    const reconciled = new Set<string>();
    const apply = async (claimed: unknown, by: (id: string, gatewayId: string, entity: string) => Promise<unknown>) => {
      for (const { id, gateway_subscription_id: gatewayId } of Array.isArray(claimed) ? claimed : []) {
        const name = names.nameOf(gatewayId);
        const answer = answers[name];
        if (!answer) throw new Error(`claimed, and the gateway has no such subscription: ${name}`);
        await by(id, gatewayId, JSON.stringify(entityOf(gatewayId, answer)));
        reconciled.add(name);
      }
    };
    await apply(subscriptions, (...given) => call('apply_gateway_subscription', ...given));
    await apply(orders, (id, _, entity) => call('apply_subscription_order', id, entity));
    return [...reconciled].sort();
  };

  return (action, at) => {
    switch (action.do) {
      case 'wait':
        return Promise.resolve([]);
      case 'order':
        return place(action);
      case 'verify':
        return call('verify_payment', userId, orderOf(action.order).orderId, paymentOf(action.payment), 'signature');
      case 'captured': {
        const { id, orderId } = orderOf(action.order);
        const paid = () => orderPaid(moneyOf(action), { id: orderId, receipt: id.replaceAll('-', '') });
        return send(action, action.event === 'order.paid' ? paid : () => paymentCaptured(moneyOf(action)));
      }
      case 'refund': {
        const order_id = action.order === null ? null : orderOf(action.order).orderId;
        const refund = { id: names.idOf(action.refund, 'rfnd'), status: action.status };
        return send(action, () => {
          const amounts = { amount: action.of, amount_refunded: refundedOf(action) };
          return refundEvent({ id: paymentOf(action.payment), order_id, ...amounts }, action.amount, refund);
        });
      }
      case 'subscribe': {
        const { tier, subscription, startsAt, isTrial, replaces } = action;
        return write(
          `insert into billing.subscription_orders (user_id, tier, gateway_plan_id, gateway_subscription_id, expires_at,
             next_check_at, starts_at, is_trial, replaces)
           values ($1, $2, 'plan_' || $2, $3, $4::timestamptz + interval '1 day', $4::timestamptz + interval '10 minutes',
             $5, $6, $7)`,
          ...[userId, tier, names.idOf(subscription, 'sub'), isoTime(at), isoTime(startsAt), isTrial],
          replaces === null ? null : names.idOf(replaces, 'sub'),
        );
      }
      case 'ask':
        return ask(action.answers);
      case 'cancel':
        return call('cancel_subscription', userId, action.atPeriodEnd);
      case 'resume':
        return call('resume_subscription', userId);
      case 'grant':
        return write(
          `insert into billing.support_actions (action, email, tier, until, reason) values ('grant', $1, $2, $3, $4)`,
          ...[userId, action.tier, isoTime(action.until), action.grant],
        );
      default:
        return send(action, () => bodyOf(action));
    }
  };
}

/** A gateway subscription as an entity of the gateway's API. */
function entityOf(id: string, { tier, status, start, end, endedAt, paidCount, chargeAt }: Answer): Fields {
  return {
    ...{ id, entity: 'subscription', plan_id: `plan_${tier}`, status, paid_count: paidCount, notes: [] },
    ...{ current_start: seconds(start), current_end: seconds(end) },
    ...{ ended_at: seconds(endedAt), charge_at: seconds(chargeAt) },
  };
}

function seconds(at: Time | null): number | null {
  return at === null ? null : at / second;
}

function isoOf(at: Time | null): string | null {
  return at === null ? null : isoTime(at);
}
