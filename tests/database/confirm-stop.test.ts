import { beforeEach, describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { told } from '../helpers/gateway/told.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { actAsOwner } from '../helpers/records/support-actions.ts';
import { day, months, type Period, shortTime } from '../helpers/records/time.ts';

// Before the gateway is told to stop, what was just read from it is applied, and the stop is planned again.
const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);
const planId = 'plan_basic';
const toldOf = () => told(database, customer.gatewayId);
const unix = (time: string) => Date.parse(day(time)) / 1000;

beforeEach(async () => {
  const january = months(1);
  await customer.event('activated', '01-01', { planId, ...january });
  await customer.charge(january, 'basic');
});

/** What the gateway answers about the subscription. */
const answer = (status: string, { start, end }: Period, paidCount: number) => ({
  ...{ id: customer.gatewayId, plan_id: planId, status, paid_count: paidCount },
  ...{ current_start: unix(start), current_end: unix(end), charge_at: unix(end) },
});
const invoice = ({ start, end }: Period, id: string) => ({
  ...{ id: `inv_${id}`, payment_id: id, status: 'paid', amount: 4900, currency: 'INR' },
  ...{ billing_start: unix(start), billing_end: unix(end), paid_at: unix(start) },
});

/** Claims the stop that is due. */
async function claim(): Promise<{ id: number; token: string; atCycleEnd: boolean }> {
  const { token, rows } = Object(await database.rpc('claim_outbox', 'gateway'));
  expect(rows).toHaveLength(1);
  return { id: rows[0].id, token, atCycleEnd: rows[0].payload.at_cycle_end };
}

async function confirm({ id, atCycleEnd }: { id: number; atCycleEnd: boolean }, entity: unknown, invoices?: unknown) {
  const parameters = [id, atCycleEnd, entity === null ? null : JSON.stringify(entity)];
  const { outcome } = await database.rpc('confirm_stop', ...parameters, invoices ? JSON.stringify(invoices) : null);
  return outcome;
}

const due = () => database.query("select payload, told_at from billing.outbox where destination = 'gateway'");

describe('a cancellation after the end of the known cycle', () => {
  const february = months(2);
  beforeEach(async () => {
    await database.at('2026-02-01T00:00:20Z');
    await customer.cancel('at the end');
    expect(await toldOf()).toMatch(/^at once/);
  });

  test('that the gateway charged again is for the end of that cycle: nothing paid is cut, and the payment is known', async () => {
    const claimed = await claim();
    const charged = answer('active', february, 2);
    expect(await confirm(claimed, charged)).toBe('unnamed');
    expect(
      await confirm(claimed, charged, [
        invoice(months(1), `pay_2026-01_${customer.gatewayId}`),
        invoice(february, 'pay_2'),
      ]),
    ).toBe('changed');
    expect(await toldOf()).toBe('at cycle end 2026-02-27');
    expect(await customer.state()).toBe('basic: basic active to 2026-03-01');
    const paid = 'select gateway_payment_id as id from public.payments where period_end = $1';
    expect(await database.query(paid, [february.end])).toEqual([{ id: 'pay_2' }]);
    // The claim of the former message settles nothing.
    expect(await database.rpc('complete_outbox', claimed.token, String(claimed.id))).toEqual({ completed: 0 });
    expect(await customer.findings()).toEqual([]);
  });

  const mail = () =>
    database.one(
      `select o.payload ->> 'access_ends_at' as ends, o.payload -> 'is_ended' as is_ended,
         o.payload ->> 'resume_until' as resume_until, o.next_attempt_at - billing.clock() as waits
       from billing.outbox o where o.kind = 'subscription-cancelled' and o.parked_at is null`,
    );

  test('is mailed once the gateway was read, with the end of the cycle that it charged', async () => {
    expect(await mail()).toMatchObject({ waits: { minutes: 5 } });
    await confirm(await claim(), answer('active', february, 2));
    expect(await mail()).toEqual({
      ...{ ends: '2026-03-01T00:00:00.000Z', is_ended: false, resume_until: '2026-02-27T00:00:00.000Z', waits: {} },
    });
  });

  test('is mailed with the end that a webhook tells before the gateway is read', async () => {
    await customer.charge(february, 'basic', { createdAt: february.start });
    await database.at('2026-02-01T00:00:20Z');
    expect(await mail()).toMatchObject({ ends: '2026-03-01T00:00:00.000Z', waits: {} });
  });

  test('is mailed with the end of what is paid where the gateway charged nothing more', async () => {
    await confirm(await claim(), answer('pending', february, 1));
    expect(await mail()).toMatchObject({ ends: '2026-02-01T00:00:00.000Z', is_ended: true, waits: {} });
  });

  test.each(['pending', 'halted'])(
    'is told at once where the gateway says that nothing more is paid: %s',
    async (status) => {
      const claimed = await claim();
      expect(await confirm(claimed, answer(status, february, 1))).toBe('stands');
      expect(await due()).toEqual([{
        payload: expect.objectContaining({ at_cycle_end: false }),
        told_at: expect.anything(),
      }]);
      expect(await database.rpc('resume_subscription', customer.id)).toMatchObject({ outcome: 'cannot_be_resumed' });
    },
  );

  test.each(['pending', 'halted'])(
    'that was tried without an answer while %s, and paid meanwhile, is planned again',
    async (status) => {
      const first = await claim();
      expect(await confirm(first, answer(status, february, 1))).toBe('stands');
      await database.rpc('fail_outbox', first.token, String(first.id), 'no answer');
      await database.at('2026-02-02T00:00:00Z');
      const second = await claim();
      const invoices = [invoice(months(1), `pay_2026-01_${customer.gatewayId}`), invoice(february, 'pay_2')];
      expect(await confirm(second, answer('active', february, 2), invoices)).toBe('changed');
      expect(await toldOf()).toBe('at cycle end 2026-02-27');
      expect(await customer.tier()).toBe('basic');
      expect(await database.rpc('resume_subscription', customer.id)).toMatchObject({ outcome: 'resumed' });
    },
  );

  test('that the gateway ended meanwhile is withdrawn, and completes', async () => {
    const claimed = await claim();
    const ended = { ...answer('cancelled', months(1), 1), ended_at: unix('2026-02-01T00:00:10Z') };
    expect(await confirm(claimed, ended)).toBe('changed');
    expect(await toldOf()).toBe('withdrawn');
    expect(await database.rpc('complete_outbox', claimed.token, String(claimed.id))).toEqual({ completed: 1 });
  });

  test('can be resumed while the gateway was read without an answer; the dispatcher then tells nothing', async () => {
    const claimed = await claim();
    expect(await database.rpc('resume_subscription', customer.id)).toMatchObject({ outcome: 'resumed' });
    expect(await confirm(claimed, answer('pending', february, 1))).toBe('changed');
    expect(await toldOf()).toBe('withdrawn');
  });
});

test('the mail about a cancellation under a row that was extended by hand names the end of the cycle, with which it ends', async () => {
  await database.at('01-05');
  await customer.moveEnd('03-10');
  await database.at('01-10');
  await customer.cancel('at the end');
  const mail = "select payload ->> 'access_ends_at' as ends from billing.outbox where kind = 'subscription-cancelled'";
  expect(await database.query(mail)).toEqual([{ ends: '2026-02-01T00:00:00.000Z' }]);
  await customer.event('cancelled', '2026-02-01T00:00:00Z', { planId });
  expect(await customer.state()).toBe('free: basic cancelled to 2026-02-01');
});

test('the mail about a cancellation that the gateway is told later does not wait', async () => {
  await database.at('01-10');
  await customer.cancel('at the end');
  expect(
    await database.query(
      "select from billing.outbox where kind = 'subscription-cancelled' and next_attempt_at <= billing.clock()",
    ),
  ).toHaveLength(1);
});

test('a stop that was tried without an answer and then withdrawn by a resume cannot be queued again, nor told', async () => {
  await database.at('01-31');
  await customer.cancel('at the end');
  const { id, token } = await claim();
  await database.rpc('fail_outbox', token, String(id), 'not read: no answer', false, null);
  expect(await database.rpc('resume_subscription', customer.id)).toMatchObject({ outcome: 'resumed' });
  expect(await toldOf()).toBe('withdrawn');
  const again = actAsOwner(database, { action: 'requeue_mail', reference: String(id) });
  await expect(again).rejects.toMatchObject({ code: 'PS409' });
  // An admin who does it all the same.
  await database.query('select billing.requeue($1)', [id]);
  expect(await confirm(await claim(), answer('active', months(1), 1))).toBe('changed');
  expect(await toldOf()).toBe('withdrawn');
});

test('a stop of a deleted user who is restored before the gateway was told is withdrawn', async () => {
  await database.at('01-10');
  await database.query('delete from auth.users where id = $1', [customer.id]);
  await database.query('insert into auth.users (id, email) values ($1, $2)', [customer.id, customer.email]);
  await database.sweep();
  expect(await confirm(await claim(), answer('active', months(1), 1))).toBe('changed');
  expect(await toldOf()).toBe('withdrawn');
  expect(await customer.tier()).toBe('basic');
});

test('a stop for the end of a cycle that is read after that end is planned again: nothing paid is left', async () => {
  await database.at('01-20');
  await customer.cancel('at the end');
  await database.at('2026-02-01T00:01:00Z');
  const late = await claim();
  expect(late.atCycleEnd).toBe(true);
  expect(await confirm(late, answer('active', months(1), 1))).toBe('changed');
  expect(await toldOf()).toMatch(/^at once/);
});

test.each([
  ['the clock of the gateway is ten minutes ahead', '2026-01-31T23:50:20Z', 'announced'],
  ['the next cycle is debited 36 hours early', '2026-01-30T13:00:00Z', 'announced'],
  ['the next cycle is debited 36 hours early', '2026-01-30T13:00:00Z', 'read after a lost answer'],
])(
  'a cycle whose charge failed before the paid end, since %s, is stopped at once; what is paid remains: %3$s',
  async (_, time, end) => {
    await database.at(time);
    await customer.cancel('at the end');
    const claimed = await claim();
    expect(await confirm(claimed, answer('pending', months(2), 1))).toBe('changed');
    const again = await claim();
    expect(again.atCycleEnd).toBe(false);
    expect(await confirm(again, answer('pending', months(2), 1))).toBe('stands');
    if (end === 'announced') {
      await database.rpc('complete_outbox', again.token, String(again.id));
      await customer.event('cancelled', time);
    } else {
      // The gateway cancelled it, and its answer did not come.
      await database.rpc('fail_outbox', again.token, String(again.id), 'no answer');
      await database.at(new Date(Date.parse(time) + 6000).toISOString());
      const third = await claim();
      await confirm(third, { ...answer('cancelled', months(2), 1), ended_at: unix(time) });
      expect(await database.rpc('complete_outbox', third.token, String(third.id))).toEqual({ completed: 1 });
    }
    expect(await customer.state()).toBe('basic: basic active to 2026-02-01');
    expect(await customer.stateAt('2026-02-01T00:00:01Z')).toMatch(/^free/);
    expect(await customer.findings()).toEqual([]);
  },
);

test.each(['at once', 'at the end', 'by a deletion'] as const)(
  'a stop %s that the gateway did not know, under the key of another account, is told once it is known again',
  async (when) => {
    const stuck = () => database.query("select state from billing.outbox_stuck where destination = 'gateway'");
    await database.at('01-30');
    if (when !== 'by a deletion') await customer.cancel(when);
    else await database.query('delete from auth.users where id = $1', [customer.id]);
    const { id, token, ...claimed } = await claim();
    expect(await confirm({ id, ...claimed }, null)).toBe('changed');
    await database.rpc('fail_outbox', token, String(id), 'the gateway has no such subscription', true, null);
    expect(await stuck()).toEqual([{ state: 'parked' }]);
    await database.at('2026-01-30T06:00:00Z');
    const { subscriptions: [{ id: read }] } = Object(await database.rpc('claim_subscriptions_to_reconcile'));
    await database.rpc('apply_gateway_subscription', read, null);
    expect(await stuck()).toEqual([{ state: 'parked' }]);
    await database.rpc('apply_gateway_subscription', read, JSON.stringify(answer('active', months(1), 1)));
    expect(await stuck()).toEqual([]);
    expect(await confirm(await claim(), answer('active', months(1), 1))).toBe('stands');
  },
);

test('a stop of which the gateway is not told two hours before the end is a finding; told, it ends', async () => {
  const untold = () =>
    database.query(
      "select subject, detail -> 'last_error' as error from billing.findings where finding = 'untold_stop'",
    );
  await database.at('01-20');
  await customer.cancel('at the end');
  await database.at('2026-01-31T21:59:00Z');
  const claimed = await claim();
  await database.rpc('fail_outbox', claimed.token, String(claimed.id), 'not read: no answer');
  expect(await untold()).toEqual([]);
  await database.at('2026-01-31T22:01:00Z');
  expect(await untold()).toEqual([{ subject: customer.gatewayId, error: 'not read: no answer' }]);
  const again = await claim();
  expect(await confirm(again, answer('active', months(1), 1))).toBe('stands');
  await database.rpc('complete_outbox', again.token, String(again.id));
  expect(await untold()).toEqual([]);
});

describe('a stop of a request that was forgotten, and then paid', () => {
  const year = { start: '2026-01-11T00:00:01Z', end: '2027-01-11T00:00:01Z' };
  const id = uniqueId('sub');
  const paid = (notes: unknown) => ({ ...answer('active', year, 1), id, plan_id: 'plan_pro', notes });
  beforeEach(async () => {
    await customer.event('cancelled', '01-10', { planId });
    const made = await database.rpc('create_subscription', customer.id, 'pro');
    await database.rpc('store_subscription', made.id, id, 'https://gateway.example/s/1');
    await database.at(year.start);
    await database.rpc('apply_gateway_subscription', made.id, JSON.stringify({ id, status: 'created' }));
    expect(await told(database, id)).toMatch(/^at once/);
  });

  test('is withdrawn, and the cycle gives access: the notes name the user', async () => {
    const claimed = await claim();
    const entity = paid({ user_id: customer.id });
    expect(await confirm(claimed, entity)).toBe('unnamed');
    const invoices = [{ ...invoice(year, uniqueId('pay')), amount: 99900 }];
    expect(await confirm(claimed, entity, invoices)).toBe('changed');
    expect([await told(database, id), await customer.state()]).toEqual([
      'withdrawn',
      `pro: pro active to ${shortTime(year.end)}`,
    ]);
    expect(await customer.findings()).toEqual([]);
  });

  test.each([[{}], [{ user_id: crypto.randomUUID() }]])(
    'is not told where the notes name no user: %j',
    async (notes) => {
      expect(await confirm(await claim(), paid(notes))).toBe('changed');
      expect(await told(database, id)).toMatch(/^at once/);
    },
  );

  test('stands where the user was deleted, or nothing was paid', async () => {
    const claimed = await claim();
    expect(await confirm(claimed, { id, status: 'created', paid_count: 0, notes: { user_id: customer.id } })).toBe(
      'stands',
    );
    await database.query('delete from auth.users');
    expect(await confirm(claimed, paid({ user_id: customer.id }))).toBe('stands');
  });
});

test('a subscription that nobody here knows is told as it was claimed', async () => {
  await database.at('2026-02-01T00:00:20Z');
  await customer.cancel('at the end');
  await database.query('delete from auth.users');
  const claimed = await claim();
  expect(await confirm(claimed, answer('active', months(2), 2))).toBe('stands');
});
