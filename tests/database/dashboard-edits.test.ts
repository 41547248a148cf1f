import { describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import type { Row } from '../helpers/database/test-database.ts';
import { seconds } from '../helpers/gateway/events.ts';
import type { Fields } from '../helpers/gateway/events.ts';
import { askChange } from '../helpers/records/customer.ts';
import { day, months } from '../helpers/records/time.ts';

// What the seller edits in the dashboard of the gateway. Contract: "Gateway subscriptions".
const database = useDatabase({ isEmptied: true, findings: { missed_webhook: 'any' } });
const customer = useCustomer(database);

const [january, february, march] = [months(1), months(2), months(3)];
const pro = 'plan_pro';

/** Bills January for pro, and sets the clock to a later time. */
async function bill(): Promise<void> {
  await customer.bill(january, 'pro', { fields: { quantity: 1 } });
}
const edit = (time: string, planId: string, quantity: number) =>
  customer.event('updated', time, { planId, ...january, fields: { quantity } });
/** The gateway's answer about the subscription. */
const read = (fields: Fields) =>
  customer.reconcile({
    ...{ id: customer.gatewayId, plan_id: pro, status: 'active', quantity: 1, paid_count: 1 },
    ...{ current_start: seconds(january.start), current_end: seconds(january.end), charge_at: seconds(january.end) },
    ...fields,
  });
/** What the API answers as the next charge: `pro 99900`. */
async function next(): Promise<string> {
  const { billing } = await database.rpc('get_subscription', customer.id);
  const { price } = Object(billing);
  return `${price.lookup_key} ${price.amount}`;
}
/** The mails about edits: `Pro → Premium 199900`, with the next charge. */
async function mails(): Promise<string[]> {
  const rows = await database.query(
    `select concat_ws(' ', payload ->> 'old_plan_name', '→', payload ->> 'plan_name', payload #>> '{next_charge,amount}',
       payload ->> 'credit') as text
     from billing.outbox where kind = 'plan-changed' and payload ->> 'to' = $1 order by id`,
    [customer.email],
  );
  return rows.map(({ text }) => String(text));
}
const charge = (cycle: typeof january, id: string, quantity: number, amount: number) =>
  customer.charge(cycle, 'pro', { fields: { quantity }, payment: { id, amount } });

describe('a quantity that was edited at the gateway', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['by its webhook', () => edit('01-10', pro, 3)],
    ['by its webhook a day late', async () => {
      await database.at('01-11');
      await edit('01-11', pro, 3);
    }],
    ['by reconciliation', async () => {
      await database.at('01-31');
      await read({ quantity: 3 });
    }],
    ['by the charge', () => charge(february, 'pay_first', 3, 299700)],
  ])('is what is charged next, known %s', async (_, tell) => {
    await bill();
    expect(await next()).toBe('pro 99900');
    await tell();
    expect(await next()).toBe('pro 299700');
    expect(await database.rpc('get_subscription', customer.id)).toMatchObject({ subscription: { tier: 'pro' } });
  });

  test('is one finding until it is set back, and none of each charge', async () => {
    await bill();
    await edit('01-10', pro, 3);
    const finding = [`mismatch ${customer.gatewayId}`];
    expect(await customer.findings()).toEqual(finding);
    await charge(february, 'pay_february', 3, 299700);
    expect(await customer.findings()).toEqual(finding);
    await charge(march, 'pay_march', 3, 299700);
    expect(await customer.findings()).toEqual(finding);
    await customer.event('updated', '03-10', { planId: pro, ...march, fields: { quantity: 1 } });
    expect([await next(), await customer.findings()]).toEqual(['pro 99900', ['mismatch pay_march']]);
    await charge(months(4), 'pay_april', 1, 99900);
    expect(await customer.findings()).toEqual([]);
  });

  test('is no finding of a plan that is not sold here', async () => {
    const foreign = { planId: 'plan_foreign', ...january, fields: { quantity: 5 } };
    await customer.event('activated', '01-01', foreign);
    const found = await customer.findings();
    await customer.event('updated', '01-02', { ...foreign, fields: { quantity: 1 } });
    expect(await customer.findings()).toEqual(found);
  });

  test('is one finding where the charge tells of it first', async () => {
    await bill();
    await charge(february, 'pay_february', 3, 299700);
    expect(await customer.findings()).toEqual([`mismatch ${customer.gatewayId}`]);
  });

  test('that was set back is no finding, though the older edit arrives later', async () => {
    await bill();
    await edit('01-12', pro, 1);
    await customer.event('updated', '01-14', {
      ...{ planId: pro, ...january, createdAt: '2026-01-11T00:00:00Z', fields: { quantity: 5 } },
    });
    expect([await next(), await customer.findings()]).toEqual(['pro 99900', []]);
  });

  test('is no finding after a note, but a charge of another amount is one', async () => {
    await bill();
    await edit('01-10', pro, 3);
    await database.query(
      "insert into billing.support_actions (action, reference, reason) values ('note', $1, 'a family')",
      [customer.gatewayId],
    );
    expect(await customer.findings()).toEqual([]);
    await charge(february, 'pay_february', 3, 299600);
    expect(await customer.findings()).toEqual(['mismatch pay_february']);
  });

  test('counts by its newest event, whatever arrives later, and with a plan that becomes known', async () => {
    await bill();
    await edit('01-12', pro, 2);
    await customer.event('updated', '01-14', {
      planId: pro,
      ...january,
      createdAt: '2026-01-11T00:00:00Z',
      fields: { quantity: 5 },
    });
    expect(await next()).toBe('pro 199800');
    await edit('01-16', 'plan_premium', 2);
    expect(await next()).toBe('premium 399800');
    await edit('01-18', 'plan_premium', 1);
    expect(await next()).toBe('premium 199900');
  });
});

describe('the quantity of an import', () => {
  test.each([[1, 'pro 99900', []], [2, 'pro 199800', ['mismatch']], [3, 'pro 299700', ['mismatch']]])(
    'of %i units is known before its first event',
    async (quantity, price, findings) => {
      await database.at('01-02');
      await database.query(
        `insert into public.subscriptions (user_id, tier, plan_id, status, current_period_start, current_period_end, gateway_subscription_id)
         select $1, p.tier, p.id, 'active', $3, $4, $2 from public.plans p where p.gateway_plan_id = $5`,
        [customer.id, customer.gatewayId, day(january.start), day(january.end), pro],
      );
      expect(await read({ quantity })).toMatchObject({ lacks_payment: true });
      const invoice = {
        ...{
          id: 'inv_import',
          payment_id: `pay_${customer.gatewayId}`,
          status: 'paid',
          amount: 99900 * quantity,
          currency: 'INR',
        },
        ...{
          billing_start: seconds(january.start),
          billing_end: seconds(january.end),
          paid_at: seconds(january.start),
        },
      };
      await database.rpc('apply_invoices', customer.gatewayId, JSON.stringify([invoice]));
      expect(await next()).toBe(price);
      expect(await customer.findings()).toEqual(findings.map((finding) => `${finding} ${customer.gatewayId}`));
    },
  );
});

describe('the mail plan-changed', () => {
  test.each<[string, (time: string, planId: string, quantity: number) => Promise<unknown>]>([
    ['by its webhook', edit],
    ['by reconciliation', async (time, plan_id, quantity) => {
      await database.at(time);
      await read({ plan_id, quantity });
    }],
  ])('tells of a plan or a quantity that was edited at the gateway, once, known %s', async (_, tell) => {
    await bill();
    await tell('01-10', 'plan_premium', 1);
    await edit('01-11', 'plan_premium', 1);
    await read({ plan_id: 'plan_premium' });
    expect(await mails()).toEqual(['Pro → Premium 199900']);
    expect(await customer.state()).toBe('premium: premium active to 2026-02-01');
    await tell('01-12', 'plan_premium', 2);
    expect(await mails()).toEqual(['Pro → Premium 199900', 'Premium → Premium 399800']);
  });

  test('is not sent where something else rules, nor of an older edit that arrives later', async () => {
    await bill();
    await edit('01-10', 'plan_premium', 1);
    await customer.event('updated', '01-11', { planId: pro, ...january, createdAt: '2026-01-09T00:00:00Z' });
    expect(await mails()).toEqual(['Pro → Premium 199900']);
    await customer.buy('basic', { at: '01-12' });
    await edit('01-13', pro, 1);
    expect(await mails()).toHaveLength(1);
  });
});

describe('an edit beside what else is under way', () => {
  const startsThen = { charge_at: seconds(february.start), start_at: seconds(february.start) };
  /** Authorises a change to premium at the end of January. */
  async function scheduleChange() {
    await bill();
    await database.at('01-05');
    const change = await askChange(database, customer, 'premium', 'period_end');
    await change.event('authenticated', '01-05', { planId: 'plan_premium', fields: startsThen });
    return change;
  }

  test.each<[string, string, number]>([['quantity', pro, 3], ['plan', 'plan_premium', 1]])(
    'of the %s is not undone by an answer of the gateway from before it',
    async (_, planId, quantity) => {
      await bill();
      await edit('2026-01-31T00:00:01Z', planId, quantity);
      const edited = [await next(), await mails()];
      await database.at('2026-01-31T00:00:02Z');
      await read({});
      expect([await next(), await mails()]).toEqual(edited);
      await database.at('2026-01-31T00:10:02Z');
      await read({});
      expect(await next()).toBe('pro 99900');
    },
  );

  test.each<[string, string[]]>([['plan_foreign', []], ['plan_premium', ['Pro → Premium']]])(
    'to %s during a pause pauses nothing again with each answer of the gateway',
    async (plan_id, told) => {
      await bill();
      await customer.event('paused', '01-10', { planId: pro, ...january });
      const paused = async () => {
        await read({ plan_id, status: 'paused' });
        return await database.one(
          'select last_paused_at, gateway_status from billing.gateway_subscriptions where user_id = $1',
          [customer.id],
        );
      };
      await database.at('01-20');
      expect(await paused()).toEqual({ last_paused_at: new Date(day('01-10')), gateway_status: 'paused' });
      await database.at('02-20');
      expect(await paused()).toEqual({ last_paused_at: new Date(day('01-10')), gateway_status: 'paused' });
      expect(await mails()).toEqual(told);
    },
  );

  test.each<[string, () => Promise<unknown>, string]>([
    ['a cancellation', async () => {
      await bill();
      await database.at('01-05');
      await customer.cancel('at the end');
    }, 'subscription-cancelled'],
    ['a change of plan', scheduleChange, 'change-scheduled'],
  ])('of a quantity that %s ends before its charge gets no mail, and withdraws none', async (_, end, told) => {
    await end();
    await edit('01-10', pro, 3);
    expect(await mails()).toEqual([]);
    await edit('01-11', 'plan_basic', 3);
    expect(await mails()).toHaveLength(1);
    expect(
      await database.query(
        "select kind from billing.outbox where payload ->> 'to' = $1 and parked_at is null and kind <> 'plan-changed'",
        [customer.email],
      ),
    ).toEqual([{ kind: told }]);
  });

  test.each<[string, number, number]>([['basic', 2, 9800], ['premium', 3, 599700]])(
    'of the change that waits to %s for %i units is what is charged next',
    async (tier, quantity, amount) => {
      const change = await scheduleChange();
      await change.event('updated', '01-11', {
        planId: `plan_${tier}`,
        fields: { ...startsThen, status: 'authenticated', quantity },
      });
      const { billing } = await database.rpc('get_subscription', customer.id);
      const price = { lookup_key: tier, amount };
      expect(billing).toMatchObject({ price, next: { tier, amount, price } });
    },
  );

  test('of the plan of the change that waits is what is offered and asked for next', async () => {
    const change = await scheduleChange();
    await change.event('updated', '01-11', {
      planId: 'plan_basic',
      fields: { ...startsThen, status: 'authenticated' },
    });
    const { plans } = await database.rpc('list_plans_for_user', customer.id);
    expect(Object(plans).map((plan: Row) => `${plan.tier} ${plan.scenario}`)).toEqual([
      'basic scheduled',
      'pro current',
      'premium upgrade',
    ]);
    const preview = (tier: string) => database.rpc('preview_change', customer.id, tier, 'period_end', null, true);
    expect(await preview('basic')).toEqual({ outcome: 'already_subscribed' });
    expect(await preview('premium')).toMatchObject({ outcome: 'change' });
  });
});
