import { expectExactDocuments } from '../database/documents.ts';
import { expectExactSums } from '../database/revenue.ts';
import { callRpc, openSession } from '../database/session.ts';
import { createTestDatabase, type TestDatabase } from '../database/test-database.ts';
import { deliver } from '../gateway/deliver.ts';
import {
  type Fields,
  orderPaid,
  paymentCaptured,
  paymentFailed,
  refundEvent,
  subscriptionEvent,
} from '../gateway/events.ts';
import { orderTier } from '../records/orders.ts';
import { createPayment, createUser, uniqueId } from '../records/records.ts';
import { isoTime, priceOf, prices, second } from './actions.ts';
import type { Action, Answer, GatewayEvent, Look, RefundAction, Time, WriteAction } from './actions.ts';
import type { Settings } from './facts.ts';
import type { Access, Billing, Charge, Sold } from './expected.ts';
import { outboxMail } from '../../../supabase/functions/api/outbox/email-payloads.ts';
import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { afterAll, beforeAll, expect } from 'vitest';

/** What the database has about a user, by the names of the history. */
export type Stored = Access & {
  readonly billing: Billing | null;
  readonly cancelled: readonly string[];
  readonly sold: readonly Sold[];
  readonly charges: readonly Charge[];
  /** The mails about failed and last charges since the last reading. */
  readonly mails: readonly Claim[];
};

/** The gateway must stop billing a subscription: at the end of its cycle, or at once. */
export type Stop = { readonly subscription: string; readonly atCycleEnd: boolean };

/** What a mail about a failed or the last charge says: null, if access does not end. */
export type Claim = { readonly subscription: string; readonly accessEndsAt: Time | null };

/** The user of a history in the database. */
export type Subject = ReturnType<typeof createSubject>;

/** Empties the tables, sets the settings and puts all on sale, and creates the user of a history. */
export type NewSubject = (settings: Settings) => Promise<Subject>;

type Setting = { database: TestDatabase; service: pg.Client; owner: pg.Client; userId: string; anotherId: string };

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
  return (settings) => newSubject(settings);
}

/** Deletes from the tables that have no rows in a new database and have some now. */
const emptyTables = `
  select string_agg(format('delete from %s;', c.oid::regclass), ' ') as clear
  from pg_class c
  cross join query_to_xml(format('select count(*) as n from %s', c.oid::regclass), true, true, '') as counted
  where c.relkind = 'r'
    and (c.relnamespace in ('public'::regnamespace, 'billing'::regnamespace) or c.oid = 'auth.users'::regclass)
    and (xpath('//n/text()', counted))[1]::text = '0'`;

/** The function can read what each mail is about: else it would never be sent. */
async function expectReadableMails(database: TestDatabase): Promise<void> {
  const mails = await database.query(
    `select kind, payload from billing.outbox where destination in ('email', 'notice')`,
  );
  for (const mail of mails) {
    expect(outboxMail.safeParse(mail).error?.message, JSON.stringify(mail)).toBeUndefined();
  }
}

async function prepareSubjects(database: TestDatabase): Promise<NewSubject> {
  await database.query(await readFile(new URL('subject.sql', import.meta.url), 'utf8'));
  const service = await openSession(database, { role: 'service_role' });
  const owner = await database.connect();
  // On a connection of its own: to set the replication role throws away all plans of a connection.
  const cleaner = await database.connect();
  // Planning takes longer than reading: the views of findings, and what the sweep calls without a row.
  for (const client of [owner, service]) await client.query('set plan_cache_mode = force_generic_plan');
  for (const [key, { tier, amount, currency, months }] of Object.entries(prices)) {
    await database.query(
      key === tier
        ? `update public.plans set gateway_plan_id = 'plan_' || $1, price = $3, currency = $4, duration_months = $5
           where tier = $2 and lookup_key is null`
        : `insert into public.plans (tier, name, lookup_key, gateway_plan_id, price, currency, duration_months)
           values ($2, $1, $1, 'plan_' || $1, $3, $4, $5)`,
      [key, tier, amount, currency, months],
    );
  }
  const { clear } = await database.one(emptyTables);
  await database.query("update billing.settings set seller_name = 'Example', receipts_from = '2000-01-01'");
  return async ({ earlyRenewal, graceDays }) => {
    await expectExactSums(database);
    await expectExactDocuments(database);
    await expectReadableMails(database);
    // Without triggers and foreign keys: the triggers would record each deletion.
    await cleaner.query(`begin; set local session_replication_role = replica; ${clear} commit`);
    await database.query('update billing.settings set early_renewal = $1', [earlyRenewal]);
    await database.query('update public.plans set grace_days = $1, is_active = true', [graceDays]);
    const [{ id: userId }, { id: anotherId }] = [await createUser(database), await createUser(database)];
    return createSubject({ database, service, owner, userId, anotherId });
  };
}

function createSubject(setting: Setting) {
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
    async advance(at: Time, isSwept: boolean) {
      await owner.query({ name: 'advance', text: 'update test.time set at = $1', values: [isoTime(at)] });
      if (isSwept) await owner.query({ name: 'sweep', text: 'select test.sweep()' });
    },
    perform: createPerformer(setting, names),
    async read(): Promise<Stored> {
      const [row] = await read<Stored & { findings: [string, string][] }>('read', 'test.read($1)', [userId]);
      if (row === undefined) throw new Error('nothing read');
      // Whether all payments of a subscription are known, and have their documents, is compared apart from this.
      const elsewhere = ['unnamed_charge', 'document_waiting', 'note_of_failed_refund', 'note_above_dispute'];
      const found = row.findings.filter(([finding]) => !elsewhere.includes(String(finding)));
      const findings = found.map(([finding, subject]) => `${finding}: ${subject}`).sort();
      const active = row.active && { ...row.active, end: row.active.end ?? Infinity };
      return { ...row, active, findings, mails: row.mails.slice(known, known = row.mails.length) };
    },
    /** Sends to the gateway which subscriptions to stop, as far as that is due. */
    takeStops: () => read<Stop>('take stops', 'test.take_stops()'),
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
    nameOf: (id: string) => names.get(id) ?? id,
    /** Adds an id to a name. A name may have several. */
    add: (id: string, name: string) => void names.set(id, name),
  };
}

type Perform = (action: Action, at: Time) => Promise<string[]>;

/** Performs actions through the RPCs, each at its time. Returns the names of the reconciled gateway subscriptions. */
function createPerformer(
  { database, service, userId, anotherId }: Setting,
  names: ReturnType<typeof createNames>,
): Perform {
  const orders = new Map<string, { id: string; orderId: string; amount: number; currency: string }>();
  const orderOf = (name: string) => orders.get(name) ?? expect.fail(`no order ${name}`);
  // The first payment on an order has the name of the order.
  const paymentOf = (name: string) =>
    names.idOf([...orders.keys()].find((order) => name === `${order}1`) ?? name, 'pay');
  const moneyOf = ({ order, payment }: { order: string; payment: string }) => {
    const { orderId, amount, currency } = orderOf(order);
    return { id: paymentOf(payment), order_id: orderId, amount, currency };
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

  const paidFor = (price: string) => ({ amount: priceOf(price).amount, currency: priceOf(price).currency });
  const userOf = (notes: GatewayEvent['notes']) => notes === 'user' ? userId : anotherId;
  const bodyOf = ({ do: name, price, payment, notes, ...event }: GatewayEvent): string =>
    subscriptionEvent({
      name,
      userId: userOf(notes),
      id: names.idOf(event.subscription, 'sub'),
      planId: `plan_${price}`,
      createdAt: isoTime(event.createdAt),
      start: isoOf(event.start),
      end: isoOf(event.end),
      fields: { paid_count: event.paidCount, charge_at: seconds(event.chargeAt) },
      ...(payment !== null && {
        // The gateway creates an order of its own for each charge.
        payment: { id: paymentOf(payment), order_id: uniqueId('order'), ...paidFor(price) },
      }),
    });
  const place = async ({ order, price, amount, start }: Extract<Action, { do: 'order' }>): Promise<string[]> => {
    const { tier, currency, months } = priceOf(price);
    const placed = start
      ? await orderTier(service, { user: { id: userId, email: null }, tier, start, price })
      : await createPayment(database, { userId, amount, meta: { tier } });
    if ('answer' in placed) {
      if (placed.answer.amount !== amount) throw new Error(`costs ${placed.answer.amount}`);
    } else {
      // What is sold is stored with the order, as create_order does.
      await database.query(
        `update public.payments p set plan_id = pl.id, price_key = pl.lookup_key, price_amount = p.amount, currency = $3,
           duration_months = $4
         from public.plans pl where p.id = $1 and coalesce(pl.lookup_key, pl.tier) = $2`,
        [placed.id, price, currency, months],
      );
    }
    orders.set(order, { id: placed.id, orderId: placed.orderId, amount, currency });
    for (const id of [placed.id, placed.orderId]) names.add(id, order);
    return [];
  };
  const writeRow = ({ tier, start, until, subscription, isEnding, isCancelled }: WriteAction) =>
    write(
      `with profile as (
         update public.profiles set subscription_tier = case $7 when 'active' then $2 else 'free' end where user_id = $1
       ),
       written as (
         update public.subscriptions
         set tier = $2, plan_id = p.id, status = $7, current_period_start = $3, current_period_end = $4,
           gateway_subscription_id = $5, cancel_at_period_end = $6, cancelled_at = null, ended_reason = null
         from public.plans p where user_id = $1 and p.tier = $2 and p.lookup_key is null
         returning 1
       )
       insert into public.subscriptions (
         user_id, tier, plan_id, status, current_period_start, current_period_end, gateway_subscription_id, cancel_at_period_end
       )
       select $1, $2, p.id, $7, $3, $4, $5, $6
       from public.plans p where p.tier = $2 and p.lookup_key is null and not exists (select from written)`,
      ...[userId, tier, isoTime(start), isoOf(until)],
      ...[subscription === null ? null : names.idOf(subscription, 'sub'), isEnding],
      isCancelled ? 'cancelled' : 'active',
    );
  const ask = async (answers: Record<string, Answer>): Promise<string[]> => {
    const { subscriptions } = await callRpc(service, 'claim_subscriptions_to_reconcile');
    const reconciled: string[] = [];
    for (const { id, gateway_subscription_id: gatewayId } of Array.isArray(subscriptions) ? subscriptions : []) {
      const name = names.nameOf(gatewayId);
      const answer = answers[name];
      // Without one the customer has not authorised it.
      const entity = answer
        ? { ...entityOf(gatewayId, answer), notes: { user_id: userOf(answer.notes) } }
        : { id: gatewayId, status: 'created' };
      await call('apply_gateway_subscription', id, JSON.stringify(entity));
      if (answer) reconciled.push(name);
    }
    return reconciled.sort();
  };

  /** @throws where the plans or the preview show something else */
  const look = async ({ price, when, scenario, outcome, credit }: Look): Promise<string[]> => {
    const { plans } = Object(await callRpc(service, 'list_plans_for_user', userId));
    const shown = plans.flatMap((plan: { prices: { lookup_key: string; scenario: string }[] }) => plan.prices)
      .find(({ lookup_key }: { lookup_key: string }) => lookup_key === price);
    const previewed = await callRpc(service, 'preview_change', userId, null, when, price);
    const change = Object(previewed.change ?? { credit });
    // Close to the end of a billed cycle.
    const isTooLate = previewed.outcome === 'too_late' && when === 'period_end' && outcome === 'change';
    const found = {
      scenario: shown?.scenario ?? null,
      outcome: outcome === null || isTooLate ? outcome : previewed.outcome,
      credit: outcome === 'change' ? change.credit : credit,
    };
    expect(found, `the price ${price}, ${when}`).toEqual({ scenario, outcome, credit });
    return [];
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
      case 'failed':
        return send(action, () => paymentFailed(moneyOf(action)));
      case 'sell':
        return write(
          'update public.plans set is_active = $2 where coalesce(lookup_key, tier) = $1',
          action.price,
          action.isOnSale,
        );
      case 'refund': {
        const order_id = action.order === null ? null : orderOf(action.order).orderId;
        const refund = { id: names.idOf(action.refund, 'rfnd'), status: action.status };
        return send(action, () => {
          const amounts = { amount: action.of, amount_refunded: refundedOf(action) };
          return refundEvent({ id: paymentOf(action.payment), order_id, ...amounts }, action.amount, refund);
        });
      }
      case 'subscribe': {
        const { price, subscription, startsAt, isTrial, replaces, renews } = action;
        const { tier, amount, currency, months } = priceOf(price);
        return write(
          `insert into billing.gateway_subscriptions (user_id, asked_tier, asked_plan_id, asked_gateway_plan_id, asked_price, gateway_subscription_id, expires_at,
             next_check_at, starts_at, is_trial, replaces, payment_id)
           select $1, $2, p.id, 'plan_' || $8, row(p.lookup_key, $9::bigint, $10::text, $11::integer)::billing.price, $3,
             $4::timestamptz + interval '1 day', $4::timestamptz + interval '10 minutes', $5::timestamptz, $6::boolean, $7, $12::uuid
           from public.plans p where coalesce(p.lookup_key, p.tier) = $8`,
          ...[userId, tier, names.idOf(subscription, 'sub'), isoTime(at), isoTime(startsAt), isTrial],
          replaces === null ? null : names.idOf(replaces, 'sub'),
          ...[price, amount, currency, months],
          renews === null ? null : orderOf(renews).id,
        );
      }
      case 'ask':
        return ask(action.answers);
      case 'look':
        return look(action);
      case 'cancel':
        return call('cancel_subscription', userId, action.atPeriodEnd);
      case 'resume':
        return call('resume_subscription', userId);
      case 'grant':
        return write(
          `insert into billing.support_actions (action, email, tier, until, reason) values ('grant', $1, $2, $3, $4)`,
          ...[userId, action.tier, isoTime(action.until), action.grant],
        );
      case 'delete':
        return write('delete from auth.users where id = $1', userId);
      case 'restore':
        return write('insert into auth.users (id, email) values ($1, $2)', userId, `${userId}@example.com`);
      case 'write':
        return writeRow(action);
      default:
        return send(action, () => bodyOf(action));
    }
  };
}

function entityOf(id: string, { price, status, start, end, endedAt, paidCount, chargeAt }: Answer): Fields {
  return {
    ...{ id, entity: 'subscription', plan_id: `plan_${price}`, status, paid_count: paidCount },
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
