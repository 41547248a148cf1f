import type { Answer, BillingProject } from '../faults/billing-project.ts';
import { newCustomer } from '../faults/customer.ts';
import { grantTier } from '../records/support-actions.ts';
import { type Charge, iso } from './charges.ts';
import { uncredited } from './promises.ts';
import type { Act, Weather } from './draws.ts';

/** The prices of the world by their lookup keys. All but `basic_year` are billed by the gateway, too. */
export const prices: Readonly<Record<string, { tier: string; amount: number; months: number }>> = {
  basic: { tier: 'basic', amount: 4900, months: 1 },
  pro: { tier: 'pro', amount: 99900, months: 1 },
  premium: { tier: 'premium', amount: 199900, months: 1 },
  pro_year: { tier: 'pro', amount: 999900, months: 12 },
  basic_year: { tier: 'basic', amount: 49000, months: 12 },
};
const keys = Object.keys(prices);
const tiers = ['basic', 'pro', 'premium'];

/** A cancellation that was accepted. Seconds. */
export type Wish = { at: number; isAtOnce: boolean; withdrawnAt: number | null };

/** A purchase of a customer: a paid order, or a subscription. Seconds. */
export type Bought = { at: number; orderId?: string; subscriptionId?: string; renewalOf?: string };

/** What happened to a customer, as the customer knows it. */
export type Life = {
  customer: Awaited<ReturnType<typeof newCustomer>>;
  acts: Act[];
  nextAt: number;
  log: string[];
  wishes: Wish[];
  /** When each subscription was asked for, or first written by hand: by the gateway's id. */
  asked: Map<string, number>;
  /** The renewals of purchases: the order's id by that of the subscription. */
  renewals: Map<string, string>;
  orders: Map<string, { at: number; key: string; amount: number; isCredit: boolean }>;
  bought: Bought[];
  /** From when on earlier purchases may be over: what was credited, and what an admin ended at the gateway. */
  creditedAt: number[];
  endedAtGateway: Map<string, number>;
  /** What was lost in disputes, and when a payment was refunded in full: by the payment's id. */
  lost: Map<string, number>;
  refunded: Map<string, number>;
  grants: { tier: string; at: number; until: number }[];
  /** Rows by hand, and the trials of what was authorised. */
  written: { tier: string; at: number; until: number }[];
  isExtendedByHand: boolean;
  /** Which subscriptions were to fail their next charges. */
  declined: Set<string>;
  /** What the terms of changes said that were completed. */
  promises: Promised[];
  /** When something was done that the customer pays more or less for. */
  actedAt: number[];
  /** What was wrong at an act itself. */
  broken: string[];
};

/** The terms of a change that was paid and authorised, or undone. `isDeclined`: the charges fail. Times in seconds. */
export type Promised = {
  at: number;
  price: string;
  renews: boolean;
  nextChargeAt: number | null;
  nextAmount: number;
  isDeclined: boolean;
};

/** Makes the prices of the world, here and at the gateway. */
export async function makePrices(
  { database, simulate }: BillingProject,
  { renewal, trial, cycles, zone }: Pick<Weather, 'renewal' | 'trial' | 'cycles' | 'zone'>,
): Promise<void> {
  for (const [key, { tier, amount, months }] of Object.entries(prices)) {
    const gatewayPlan = key === 'basic_year' ? null : `plan_${key}`;
    const values = [key, tier, amount, months, gatewayPlan];
    await (key === tier
      ? database.query(
        `update public.plans set price = $3, duration_months = $4, gateway_plan_id = $5 where tier = $2 and $1 = $1::text`,
        values,
      )
      : database.query(
        `insert into public.plans (tier, name, lookup_key, price, duration_months, gateway_plan_id)
         values ($2, $1, $1, $3, $4, $5)`,
        values,
      ));
    if (gatewayPlan === null) continue;
    const period = months === 1 ? 'monthly' : 'yearly';
    await simulate('plan', { id: gatewayPlan, amount, period, interval: 1 });
  }
  await database.query('update public.plans set billing_cycles = nullif($1, 0)', [cycles]);
  await database.query("update public.plans set trial_days = $1 where tier = 'pro'", [trial]);
  await database.query(
    `update billing.settings
     set early_renewal = $1, events = true, time_zone = $2, seller_name = 'Example', receipts_from = '2000-01-01'`,
    [renewal, zone],
  );
}

export async function beginLife(billing: BillingProject, acts: Act[]): Promise<Life> {
  const lists = { wishes: [], bought: [], creditedAt: [], grants: [], written: [], log: [] };
  const proofs = { promises: [], actedAt: [], broken: [], isExtendedByHand: false };
  const maps = {
    asked: new Map(),
    renewals: new Map(),
    orders: new Map(),
    endedAtGateway: new Map(),
    lost: new Map(),
    refunded: new Map(),
    declined: new Set<string>(),
  };
  return { customer: await newCustomer(billing), acts: [...acts], nextAt: billing.now(), ...lists, ...proofs, ...maps };
}

/** When the next act of a life is due. `edges`: the next charges and ends of its subscriptions, seconds. */
export function dueOf({ wait }: Act, now: number, edges: readonly number[]): number {
  if ('hours' in wait) return now + wait.hours * 3600;
  const times = edges.map((edge) => edge + wait.after).filter((at) => at > now).toSorted((a, b) => a - b);
  return times[wait.edge % Math.max(times.length, 1)] ?? now + 86_400;
}

/** Performs an act; what is not possible does nothing. What is given, or only asked for, changes no charge. */
export async function perform(
  billing: BillingProject,
  life: Life,
  act: Act,
  readCharges: () => Promise<Charge[]>,
): Promise<void> {
  const gives = ['grant', 'extend by hand', 'order'].includes(act.kind);
  const read = async () => {
    const { billing: billed } = await life.customer.read();
    return gives ? JSON.stringify([billed?.gateway_subscription_id, billed?.next_charge_at, billed?.next]) : '';
  };
  const [before, lines] = [await read(), life.log.length];
  await performAct(billing, life, act, readCharges);
  const after = await read();
  if (before !== after) life.broken.push(`${iso(billing.now())} ${act.kind} changes ${before} to ${after}`);
  // What was refused changes nothing.
  if (!gives && life.log.slice(lines).some((line) => !/-> 4/.test(line))) life.actedAt.push(billing.now());
}

async function performAct(
  billing: BillingProject,
  life: Life,
  { kind, which, how }: Act,
  readCharges: () => Promise<Charge[]>,
): Promise<void> {
  const { customer, asked, orders, wishes, bought } = life;
  const now = billing.now();
  const fault = (text: string) => void life.broken.push(`${iso(now)} ${text}`);
  const say = (text: string) => void life.log.push(`${iso(now)} ${text}`);
  const key = keys[which % keys.length] ?? 'basic';
  const send = async (path: string, body: unknown) => {
    const { status, body: answer } = await billing.send(customer.user, path, body);
    say(`${kind}: ${path} ${JSON.stringify(body)} -> ${status} ${answer.error ?? ''}${answer.reason ?? ''}`);
    if (status >= 500) throw new Error(`${path} was answered ${status}: ${life.log.join('\n')}`);
    return { status, answer };
  };
  const atGateway = () => billing.atGateway(customer.user);
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[which % Math.max(items.length, 1)];
  const approve = async (id: string) => {
    const answer = await billing.simulate('authorise', { subscription_id: id, outcome: 'approved' });
    say(`approves ${id}`);
    bought.push({ at: now, subscriptionId: id });
    const trials = await billing.database.query(
      `select m.asked_tier as tier, extract(epoch from m.starts_at)::float8 as until from billing.gateway_subscriptions m
       where m.gateway_subscription_id = $1 and m.is_trial`,
      [id],
    );
    life.written.push(...trials.map(({ tier, until }) => ({ tier: String(tier), at: now, until: Number(until) })));
    // Half of the customers come back from the checkout.
    if (how % 2 === 0) await send('payments/verify', answer);
  };
  const pay = async (id: string) => {
    const paid = Object(await billing.simulate('pay', { order_id: id, outcome: 'captured' }));
    say(`pays ${id}`);
    if (orders.get(id)?.isCredit) life.creditedAt.push(now);
    const isVerified = how % 3 > 0 && (await send('payments/verify', paid)).status === 200;
    if (isVerified) bought.push({ at: now, orderId: id });
  };
  const noteOrder = (order: { id: string; amount: number }, price: string) => {
    const isCredit = order.amount < (prices[price]?.amount ?? 0);
    if (!orders.has(order.id)) orders.set(order.id, { at: now, key: price, amount: order.amount, isCredit });
  };
  /** Notes what the terms of a completed change say. */
  const promise = async ({ change }: Answer['body']) => {
    const { to_price: price, renews, next_charge: next } = change;
    const nextChargeAt = next === null ? null : Date.parse(next.at) / 1000;
    const { billing: billed } = await customer.read();
    const isDeclined = life.declined.has(billed?.gateway_subscription_id);
    life.promises.push({ at: now, price, renews, nextChargeAt, nextAmount: next?.amount ?? 0, isDeclined });
  };
  const order = async () => {
    const start = [undefined, undefined, 'now', 'after_current'][how % 4];
    const { status, answer } = await send('payments/orders', { price: key, ...(start && { start }) });
    if (status !== 201) return;
    noteOrder(answer.order, key);
    return String(answer.order.id);
  };
  const change = async (price: string, when: 'now' | 'period_end') => {
    const { billing: before } = await customer.read();
    const { status, answer } = await send('subscriptions/change', { price, when });
    if (status !== 201 && status !== 200) return;
    const { from, to, credit } = answer.change ?? {};
    if (when === 'now' && before?.next_charge_at && tiers.indexOf(from) < tiers.indexOf(to)) {
      const id = before.gateway_subscription_id;
      for (const text of uncredited(life, await readCharges(), { id, credit, now })) fault(text);
    }
    const goesOn = before !== null && (before.next_charge_at !== null || before.next !== null);
    if (
      goesOn && !answer.change.renews && price !== 'basic_year' && answer.subscription === null && answer.order !== null
    ) {
      fault(`a change to ${price} ends what renews: ${JSON.stringify(answer.change)}`);
    }
    if (answer.subscription === null && answer.order === null) return await promise(answer);
    if (answer.order) noteOrder(answer.order, price);
    if (answer.subscription) {
      asked.set(answer.subscription.id, now);
      if (answer.order) life.renewals.set(answer.subscription.id, answer.order.id);
    }
    if (how % 5 === 4) return;
    if (answer.subscription && how % 2 === 0) await approve(answer.subscription.id);
    if (answer.order) {
      await pay(answer.order.id);
      life.creditedAt.push(now);
    }
    if (answer.subscription && how % 2 === 1) await approve(answer.subscription.id);
    await promise(answer);
  };
  switch (kind) {
    case 'subscribe': {
      const { status, answer } = await send('subscriptions', { price: key });
      if (status !== 201) return;
      const { id } = answer.subscription;
      if (!asked.has(id)) asked.set(id, now);
      return how % 5 === 4 ? undefined : await approve(id);
    }
    case 'approve': {
      const open = (await atGateway()).filter(({ status }) => status === 'created');
      const one = pick(open);
      return one && await approve(one.id);
    }
    case 'buy': {
      const id = await order();
      return id === undefined ? undefined : await pay(id);
    }
    case 'order':
      return void await order();
    case 'pay': {
      const open = [];
      for (const [id] of orders) {
        const { status } = await billing.readApi(`/orders/${id}`);
        if (status !== 'paid') open.push(id);
      }
      const one = pick(open);
      if (one === undefined) return;
      return await pay(one);
    }
    case 'cancel at end':
    case 'cancel now': {
      const isAtOnce = kind === 'cancel now';
      const { status } = await send('subscriptions/cancel', { at_period_end: !isAtOnce });
      return status === 200 ? void wishes.push({ at: now, isAtOnce, withdrawnAt: null }) : undefined;
    }
    case 'resume': {
      const { status } = await send('subscriptions/resume', {});
      if (status === 200) { for (const wish of wishes) if (!wish.isAtOnce) wish.withdrawnAt ??= now; }
      return;
    }
    case 'change at end':
      return await change(key, 'period_end');
    case 'change now':
      return await change(key, 'now');
    case 'undo change': {
      const { billing: billed } = await customer.read();
      // What `current` is, is what a change is undone to.
      const { body: { plans } } = await billing.send(customer.user, 'subscriptions/plans');
      const prices: { lookup_key: string; scenario: string }[] = plans.flatMap((plan: Answer['body']) => plan.prices);
      const running = prices.find(({ scenario }) => scenario === 'current')?.lookup_key;
      if (!billed?.next || running === undefined) return;
      const isOnSale = (value: boolean) =>
        billing.database.query('update public.plans set is_active = $2 where coalesce(lookup_key, tier) = $1', [
          running,
          value,
        ]);
      if (how % 3 === 0) await isOnSale(false);
      const { status, answer } = await send('subscriptions/change', { price: running, when: 'period_end' });
      if (how % 3 === 0) await isOnSale(true);
      const isPossible = Date.parse(billed.next.undo_until ?? '1970') / 1000 > now;
      if (isPossible && status !== 200) {
        fault(`undo until ${billed.next.undo_until}: ${status} ${JSON.stringify(answer)}`);
      }
      if (status === 200) await promise(answer);
      return;
    }
    case 'refund':
    case 'dispute': {
      const paid = (await readCharges()).filter(({ status }) => status === 'captured');
      const one = pick(paid);
      if (!one) return;
      const left = one.amount - one.amount_refunded;
      if (kind === 'refund') {
        const amount = how % 2 === 0 ? left : Math.ceil(left / 2);
        say(`the seller refunds ${amount} of ${one.id}`);
        if (amount === left) life.refunded.set(one.id, now);
        return void await billing.simulate('refund', { payment_id: one.id, amount });
      }
      // Money that went back is not disputed here.
      if (left < one.amount) return;
      const isLost = how % 2 === 0;
      const amount = how % 3 === 0 ? Math.ceil(left / 3) : left;
      say(`disputes ${amount} of ${one.id}: ${isLost ? 'lost' : 'won'}`);
      if (isLost) life.lost.set(one.id, (life.lost.get(one.id) ?? 0) + amount);
      await billing.simulate('dispute', { payment_id: one.id, event: 'created', amount });
      return void await billing.simulate('dispute', { payment_id: one.id, event: isLost ? 'lost' : 'won' });
    }
    case 'fail': {
      const one = (await customer.billed()).at(-1);
      if (!one) return;
      say(`the next ${how % 5 + 1} charges of ${one.id} fail`);
      life.declined.add(one.id);
      return void await billing.simulate('subscription-fault', {
        subscription_id: one.id,
        charges: 'fail',
        times: how % 5 + 1,
      });
    }
    case 'new card': {
      const one = (await customer.billed()).at(-1);
      if (!one) return;
      say(`gives ${one.id} a new card`);
      return void await billing.simulate('update-method', { subscription_id: one.id });
    }
    case 'pause':
    case 'go on': {
      const [from, path] = kind === 'pause' ? ['active', 'pause'] : ['paused', 'resume'];
      const one = pick((await atGateway()).filter(({ status }) => status === from));
      if (!one) return;
      say(`${path}s ${one.id} at the gateway`);
      return void await billing.callApi(`/subscriptions/${one.id}/${path}`);
    }
    case 'end at gateway': {
      const one = pick(await customer.billed());
      if (!one) return;
      say(`the seller ends ${one.id} at the gateway`);
      life.endedAtGateway.set(one.id, now);
      return void await billing.callApi(`/subscriptions/${one.id}/cancel`);
    }
    case 'grant': {
      const until = now + 20 * 86_400;
      const tier = tiers[which % 3] ?? 'basic';
      const granted = await grantTier(billing.database, customer.user.email, tier, new Date(until * 1000).toISOString())
        .then(() => true, () => false);
      if (granted) life.grants.push({ tier, at: now, until });
      return say(`support ${granted ? 'grants' : 'may not grant'} ${tier}`);
    }
    case 'extend by hand': {
      const [row] = await billing.database.query(
        `update public.subscriptions set current_period_end = current_period_end + interval '9 days'
         where user_id = $1 and status = 'active' and current_period_end is not null
         returning tier, extract(epoch from current_period_end)::float8 as until`,
        [customer.user.id],
      );
      life.isExtendedByHand ||= row !== undefined;
      if (row) life.written.push({ tier: String(row.tier), at: now, until: Number(row.until) });
      return say(row ? `the row is extended by hand until ${iso(Number(row.until))}` : 'no row to extend');
    }
    case 'refund here': {
      const one = pick((await readCharges()).filter(({ status }) => status === 'captured'));
      if (!one) return;
      const amount = how % 2 === 0 ? null : 1000;
      const values = [customer.user.email, one.id, amount];
      const done = await billing.database.query(
        `insert into billing.support_actions (action, email, reference, amount, reason) values ('refund', $1, $2, $3, 'asked for')`,
        values,
      ).then(() => true, () => false);
      return say(`support ${done ? 'asks for' : 'may not ask for'} a refund of ${amount ?? 'all'} of ${one.id}`);
    }
    case 'import': {
      if ((await atGateway()).length > 0 || orders.size > 0) return;
      const tier = tiers[which % 3] ?? 'basic';
      const { id } = Object(
        await billing.callApi('/subscriptions', {
          plan_id: `plan_${tier}`,
          total_count: 12,
          notes: { user_id: customer.user.id },
        }),
      );
      say(`an import: ${id} of ${tier}`);
      await billing.simulate('authorise', { subscription_id: id, outcome: 'approved' });
      const end = (await atGateway())[0]?.current_end ?? now;
      await billing.database.query(
        `insert into public.subscriptions (user_id, tier, status, gateway_subscription_id, current_period_start, current_period_end)
         select $1, $2, 'active', $3, to_timestamp($4), to_timestamp($5)
         where not exists (select from public.subscriptions s where s.user_id = $1 and s.status = 'active')`,
        [customer.user.id, tier, id, now, end],
      );
      const profile = 'update public.profiles set subscription_tier = $2 where user_id = $1';
      await billing.database.query(profile, [customer.user.id, tier]);
      asked.set(id, now);
      life.written.push({ tier, at: now, until: end });
      return;
    }
  }
}
