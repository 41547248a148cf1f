import type pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { waitUntilBlocked } from '../helpers/database/session.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { disputeEvent, type Fields, orderPaid } from '../helpers/gateway/events.ts';
import { attempt, told } from '../helpers/gateway/told.ts';
import { claim, fail } from '../helpers/outbox/claims.ts';
import { type CustomerOrder, subscribe } from '../helpers/records/customer.ts';
import { paymentOf } from '../helpers/records/purchases.ts';
import { readAllRows } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';
import { act, actAsOwner, endAccess, openSupport, type SupportAction } from '../helpers/records/support-actions.ts';
import { months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);
let support: pg.Client;
let dispatcher: pg.Client;
beforeAll(async () => {
  [support, dispatcher] = [await openSupport(database), await database.connect()];
});

const price = 99900;
const buy = () => customer.buy('pro', { at: '01-01' });
const refund = ({ paymentId }: Pick<CustomerOrder, 'paymentId'>, amount?: number, session = support) =>
  act(session, { action: 'refund', reference: paymentId, amount });
const left = async ({ paymentId }: CustomerOrder) =>
  Number(
    (await database.one('select refundable_amount from billing.customer_payments where gateway_payment_id = $1', [
      paymentId,
    ])).refundable_amount,
  );

const effect = async ({ paymentId }: Pick<CustomerOrder, 'paymentId'>) =>
  (await database.one('select refund_effect from billing.customer_payments where gateway_payment_id = $1', [paymentId]))
    .refund_effect;

/** Answers what waits for the gateway as it does: the row becomes a refund of this status. */
async function answer(status: string, id = uniqueId('rfnd'), fields: Fields = {}): Promise<unknown> {
  const client = await database.connect();
  const { rows: [{ claimed }] } = await client.query("select public.claim_outbox('gateway') as claimed");
  const [row] = claimed.rows;
  const { gateway_payment_id: payment_id, amount } = row.payload;
  const made = JSON.stringify({ id, entity: 'refund', payment_id, amount, status, ...fields });
  await client.query('select public.complete_outbox($1, $2, null, $3)', [claimed.token, String(row.id), made]);
  await client.end();
  return row;
}
const send = () => claim(dispatcher, 'gateway');
/** Sends what waits, and gets no refund for it. @returns the ids of the rows */
async function failToSend(how?: Parameters<typeof fail>[3]): Promise<readonly number[]> {
  const { token, ids } = await send();
  await fail(dispatcher, token, ids, how);
  return ids;
}
/** The gateway refuses what waits. @returns the id of the row */
const refuse = async () => String((await failToSend({ error: 'HTTP 400: balance', final: true }))[0]);
/** The kinds of findings, without messages that wait for a dispatcher. */
const kinds = async () =>
  (await database.query(
    `select distinct finding from billing.service_findings where detail ->> 'state' is distinct from 'due' order by 1`,
  )).map(({ finding }) => finding);
async function refused(action: SupportAction, code: string, message: RegExp, session = support): Promise<void> {
  const before = await readAllRows(database);
  await expect(act(session, action)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  expect(await readAllRows(database)).toEqual(before);
}

describe('refund', () => {
  test('that was refused after a try without an answer may have been made: it is not asked for twice', async () => {
    const pro = await buy();
    await refund(pro, 60000);
    await failToSend({ error: 'no answer' });
    await database.at('2026-01-01T01:00:00Z');
    await refuse();
    await refused(
      { action: 'refund', reference: pro.paymentId, amount: 60000 },
      'PS409',
      /399\.00 INR can be refunded/,
    );
    expect(await kinds()).toEqual(['outbox_stuck']);
    await database.query('update billing.outbox set delivered_at = billing.clock() where kind = $1', ['refund']);
  });

  test('that fails after another one of the same amount was processed is a finding', async () => {
    const pro = await buy();
    await pro.capture();
    await pro.refund(20000, { id: 'rfnd_first' });
    await pro.refund(20000);
    await database.at('01-05');
    await pro.refund(20000, { id: 'rfnd_first', status: 'failed' });
    expect(await kinds()).toEqual(['refund_failed']);
    await pro.refund(20000);
    expect(await kinds()).toEqual([]);
  });

  test('is listed with its state and the id that the gateway gave it', async () => {
    const pro = await buy();
    const listed = 'select * from billing.refund_requests where payment_id = $1 order by action_id';
    const requests = () => database.query(listed, [pro.id]);
    const first = await refund(pro, 40000);
    const row = {
      action_id: first.id,
      payment_id: pro.id,
      amount: '40000',
      currency: 'INR',
      created_at: expect.any(Date),
    };
    const pending = { ...row, refund_id: null, status: 'pending', last_error: null };
    expect(await requests()).toEqual([pending]);
    await refuse();
    const failed = { ...row, refund_id: null, status: 'failed', last_error: 'HTTP 400: balance' };
    expect(await requests()).toEqual([failed]);
    const { id: action_id } = await refund(pro, 40000);
    await answer('pending', 'rfnd_listed');
    const again = { ...pending, action_id, refund_id: 'rfnd_listed' };
    expect(await requests()).toEqual([failed, again]);
    await pro.refund(40000, { id: 'rfnd_listed' });
    expect(await requests()).toEqual([failed, { ...again, status: 'processed' }]);
  });

  test('that the webhook tells before its answer is known by its notes', async () => {
    const pro = await buy();
    const { id } = await refund(pro);
    await pro.refund(price, { id: 'rfnd_noted', notes: { support_action: String(id) } });
    const made = 'select refund_id, status from billing.refund_requests where action_id = $1';
    expect(await database.one(made, [id])).toEqual({ refund_id: 'rfnd_noted', status: 'processed' });
  });

  test.each<[Partial<SupportAction>, RegExp]>([
    [{}, /needs reference/],
    [{ reference: 'pay_1', amount: 0 }, /amount above 0/],
    [{ reference: 'pay_1', amount: -1 }, /amount above 0/],
  ])('needs a payment and an amount above 0: %j', async (fields, message) => {
    await refused({ action: 'refund', ...fields }, 'PS400', message);
  });

  test('of a payment asks the gateway for all that is left, and access ends with its answer', async () => {
    const pro = await buy();
    const row = await refund(pro);
    expect(row).toMatchObject({ amount: String(price), reference: pro.paymentId, user_id: customer.id });
    expect(row.result).toBe(
      `The gateway is asked to refund 999.00 INR of payment ${pro.paymentId}. Its access ends when the refund is processed. ` +
        'Nothing is charged next.',
    );
    expect([await customer.tier(), await left(pro)]).toEqual(['pro', 0]);
    expect(await answer('processed')).toMatchObject({
      kind: 'refund',
      key: expect.stringMatching(/^refund-[\w-]{36}$/),
      payload: { gateway_payment_id: pro.paymentId, amount: price, currency: 'INR', support_action: String(row.id) },
    });
    expect([await customer.tier(), await left(pro)]).toEqual(['free', 0]);
  });

  test('of parts, in any state, adds up to what was paid and no more', async () => {
    const pro = await buy();
    const id = uniqueId('rfnd');
    expect(await refund(pro, 40000)).toMatchObject({ result: expect.stringContaining('Access stays.') });
    expect(await left(pro)).toBe(59900);
    await refused(
      { action: 'refund', reference: pro.paymentId, amount: 59901 },
      'PS409',
      /599\.00 INR can be refunded/,
    );
    await answer('pending', id);
    expect([await left(pro), (await pro.row()).refunded_amount]).toEqual([59900, '0']);
    await pro.refund(40000, { id });
    await pro.refund(10000);
    expect(await left(pro)).toBe(49900);
    await refund(pro);
    await refused({ action: 'refund', reference: pro.paymentId }, 'PS409', / 0\.00 INR can be refunded/);
    expect(await customer.tier()).toBe('pro');
    await answer('processed');
    expect(await customer.tier()).toBe('free');
  });

  test('that failed, before or after it was processed, can be asked for again', async () => {
    const pro = await buy();
    const id = uniqueId('rfnd');
    await refund(pro);
    await answer('processed', id);
    await pro.refund(price, { id, status: 'failed' });
    expect([await customer.tier(), await left(pro)]).toEqual(['pro', price]);
    await refund(pro);
    expect(await left(pro)).toBe(0);
  });

  test('whose webhook comes before the answer counts once', async () => {
    const pro = await buy();
    const id = uniqueId('rfnd');
    await refund(pro, 30000);
    await pro.refund(30000, { id });
    await answer('processed', id);
    expect([await left(pro), (await pro.row()).refunded_amount]).toEqual([69900, '30000']);
  });

  test('whose webhook comes before the answer leaves the rest to another one, which is sent', async () => {
    const pro = await buy();
    await pro.capture();
    const { id } = await refund(pro, 40000);
    await send();
    await refund(pro, 59900);
    await pro.refund(40000, { id: uniqueId('rfnd'), notes: { support_action: String(id) } });
    expect(await send()).toMatchObject({ ids: [expect.anything()] });
  });

  test('that waits counts against a newer one alone: of two the older one is sent where only one fits', async () => {
    const pro = await buy();
    await pro.capture();
    await refund(pro, 40000);
    await refund(pro, 59900);
    await pro.refund(10000);
    expect(await answer('processed')).toMatchObject({ payload: { amount: 40000 } });
    expect(await left(pro)).toBe(49900);
  });

  test('that the gateway refuses does not count; it may be queued again, and is a finding until then', async () => {
    const pro = await buy();
    await refund(pro);
    const reference = await refuse();
    expect([await left(pro), await kinds()]).toEqual([price, ['outbox_stuck']]);
    const again = await act(support, { action: 'requeue_mail', reference });
    expect(again).toMatchObject({ user_id: customer.id });
    expect([await left(pro), await kinds()]).toEqual([0, []]);
    await answer('processed');
    expect(await customer.tier()).toBe('free');
  });

  test.each(['here', 'at the gateway'])('that was refused and was repeated %s is not sent again', async (where) => {
    const pro = await buy();
    await refund(pro);
    const reference = await refuse();
    await database.at('01-02');
    await (where === 'here' ? refund(pro, price) : pro.refund());
    expect(await kinds()).toEqual([]);
    await refused({ action: 'requeue_mail', reference }, 'PS409', /no longer left to refund/);
  });

  test('of more than the gateway says was paid is refused, and what was paid can be asked for', async () => {
    const pro = await buy();
    await refund(pro);
    await refuse();
    await database.send(
      orderPaid({ id: pro.paymentId, amount: 89910 }, { id: pro.orderId, amount: price, status: 'paid' }),
    );
    expect(await refund(pro)).toMatchObject({ amount: '89910' });
  });

  test.each(['first try', 'retry'])('of what a dispute took since is not sent at the %s', async (which) => {
    const pro = await buy();
    await pro.capture();
    await refund(pro);
    if (which === 'retry') {
      await failToSend();
      await database.at('2026-01-01T01:00:00Z');
    }
    await pro.dispute('lost');
    expect(await send()).toMatchObject({ ids: [], parked: 1 });
    expect(await kinds()).toEqual([]);
    await endAccess(database, pro.paymentId);
  });

  test('is not tried again where a dispute left less than it', async () => {
    const pro = await buy();
    await pro.capture();
    await refund(pro, 60000);
    await failToSend();
    await database.send(disputeEvent('lost', 'lost', { id: pro.paymentId, amount: 50000 }));
    await database.at('2026-01-01T01:00:00Z');
    expect(await send()).toMatchObject({ ids: [], parked: 1 });
    await endAccess(database, pro.paymentId);
  });

  test('without an answer is tried again, although the gateway made it, and counts when it is given up', async () => {
    const pro = await buy();
    await refund(pro, 60000);
    const ids = await failToSend();
    await pro.refund(60000);
    await database.at('2026-01-01T01:00:00Z');
    expect((await send()).ids).toEqual(ids);
    await database.at('01-03');
    expect(await send()).toMatchObject({ ids: [], parked: 1 });
    expect(await kinds()).toEqual(['outbox_stuck']);
    expect(await left(pro)).toBe(0);
    await database.query('update billing.outbox set delivered_at = billing.clock() where id = $1', [ids[0]]);
  });

  test.each(['pending', 'processed'])(
    'that fails after it was %s is a finding until it is repeated',
    async (status) => {
      const pro = await buy();
      const id = uniqueId('rfnd');
      await refund(pro, 40000);
      await answer(status, id);
      expect(await kinds()).toEqual([]);
      await database.at('01-05');
      await pro.refund(40000, { id, status: 'failed' });
      expect(await kinds()).toEqual(['refund_failed']);
      await database.at('01-06');
      await pro.refund(10000);
      expect(await kinds()).toEqual(['refund_failed']);
      await refund(pro, 40000);
      expect(await kinds()).toEqual([]);
    },
  );

  test('that failed is a finding until a newer note', async () => {
    const pro = await buy();
    const note = () => act(support, { action: 'note', reference: pro.paymentId });
    await note();
    await database.at('01-05');
    await pro.refund(price, { status: 'failed' });
    expect(await kinds()).toEqual(['refund_failed']);
    await note();
    expect(await kinds()).toEqual([]);
  });

  test.each<[string, string, Fields]>([
    ['of an unknown status', 'initiated', {}],
    ['without its amount', 'pending', { amount: undefined }],
    ['without its payment', 'pending', { payment_id: undefined }],
  ])('that is answered %s was made', async (_, status, fields) => {
    const pro = await buy();
    await refund(pro, 40000);
    await answer(status, uniqueId('rfnd'), fields);
    expect(await left(pro)).toBe(59900);
  });

  test('of an unknown status leaves no more than the rest to another one', async () => {
    const pro = await buy();
    await refund(pro, 60000);
    await answer('initiated');
    await refused(
      { action: 'refund', reference: pro.paymentId, amount: 60000 },
      'PS409',
      / 399\.00 INR can be refunded/,
    );
  });

  test('that is processed at once is the reason of the event and the cause in the log', async () => {
    await database.set('events = true');
    const pro = await buy();
    await refund(pro);
    await answer('processed');
    const { reason } = await database.one(
      "select payload #>> '{data,reason}' as reason from billing.outbox where kind = 'subscription.updated' order by id desc limit 1",
    );
    const { cause, reference } = await database.one(
      'select cause, reference from billing.tier_changes where user_id = $1 order by id desc limit 1',
      [customer.id],
    );
    expect([reason, cause, reference]).toEqual(['refund', 'refund.processed', pro.paymentId]);
    await database.set('events = false');
  });

  test('by two admins at once asks for no more than was paid', async () => {
    const pro = await buy();
    const other = await openSupport(database);
    await support.query('begin');
    await refund(pro, 60000);
    const second = refund(pro, 60000, other);
    second.catch(() => {});
    await waitUntilBlocked(database, other);
    await support.query('commit');
    await expect(second).rejects.toMatchObject({ code: 'PS409' });
    expect(await left(pro)).toBe(39900);
  });

  test('of a cycle says what is charged next, and of a second payment on an order that access stays', async () => {
    const cycle = months(1);
    await customer.bill(cycle, 'pro');
    const reference = `pay_${cycle.start.slice(0, 7)}_${customer.gatewayId}`;
    expect((await act(support, { action: 'refund', reference })).result).toMatch(/Next charge: .* INR on /);
    const buyer = await database.customer();
    const pro = await buyer.buy('pro');
    const extra = buyer.again(pro);
    await pro.capture();
    await extra.capture();
    expect((await refund(extra)).result).toMatch(/Access does not depend on it/);
  });

  test('of a purchase says that what it replaced goes on', async () => {
    await customer.bill(months(1), 'basic');
    await database.at('01-02');
    const pro = await buy();
    expect(await effect(pro)).toBe('resumes_replaced');
    const { result } = await refund(pro);
    expect(result).toMatch(/Its access ends when the refund is processed, and what it replaced goes on\.$/);
    await answer('processed');
    const { billing } = await database.rpc('get_subscription', customer.id);
    expect(billing).toMatchObject({ next_charge_at: '2026-02-01T00:00:00+00:00' });
  });

  test.each(['', ', extended since'])(
    'of a purchase says that what waits goes on, beside an import that was stopped%s',
    async (since) => {
      await database.at('01-05');
      await database.query(
        `insert into public.subscriptions (user_id, plan_id, tier, status, current_period_end, gateway_subscription_id)
         select $1, p.id, p.tier, 'active', $2, $3 from public.plans p where p.tier = 'basic' and p.lookup_key is null`,
        [customer.id, months(1).end, customer.gatewayId],
      );
      const asked = await subscribe(database, customer, 'pro');
      await asked.event('authenticated', '01-10', { planId: 'plan_pro' });
      const premium = await customer.buy('premium', { at: '01-12', start: 'after_current' });
      await attempt(database, customer.gatewayId);
      await database.at('01-13');
      if (since !== '') await customer.moveEnd('02-20');
      expect(await told(database, asked.gatewayId)).toMatch(/^at cycle end/);
      expect(await effect(premium)).toBe('resumes_replaced');
      expect((await refund(premium)).result).toMatch(/what it replaced goes on\.$/);
      await premium.refund();
      expect(await told(database, asked.gatewayId)).toBe('withdrawn');
    },
  );

  test('of a purchase brings nothing back that the gateway was told to stop', async () => {
    await customer.bill(months(1), 'basic');
    await database.at('01-02');
    const pro = await buy();
    await attempt(database, customer.gatewayId);
    expect(await effect(pro)).toBeNull();
    expect((await refund(pro)).result).toMatch(/Its access ends when .* processed\. Nothing is charged next\.$/);
  });

  test.each(['purchase', 'cycle'])(
    'of a %s that was credited says that the credit is not covered then',
    async (kind) => {
      const payment = { id: uniqueId('pay'), amount: 4900 };
      if (kind === 'cycle') await customer.bill(months(1), 'basic', { payment });
      const basic = kind === 'cycle' ? { paymentId: payment.id } : await customer.buy('basic', { at: '01-01' });
      const pro = await customer.buy('pro', { at: '01-11', start: 'now' });
      expect(await pro.row()).toMatchObject({ credit: '3319' });
      expect(await effect(basic)).toBe('uncovers_credit');
      const told =
        `Access stays: its unused time was credited to payment ${pro.paymentId}, which is not covered then (unearned_credit).`;
      for (const amount of [100, undefined]) {
        expect((await refund(basic, amount)).result).toContain(told);
        await answer('processed');
      }
      expect(await customer.findings()).toEqual([`unearned_credit ${pro.id}`]);
    },
  );

  test('of one of two purchases over a subscription says that nothing is charged', async () => {
    await customer.bill(months(1), 'basic');
    await database.at('01-02');
    const first = await buy();
    await database.at('01-03');
    const second = await buy();
    expect([await effect(first), await effect(second)]).toEqual([null, null]);
    expect((await refund(second)).result).toMatch(/Its access ends when .* processed\. Nothing is charged next\.$/);
    await answer('processed');
    expect(await database.one('select billing.next_charge_answer($1) as charge', [customer.id])).toEqual({
      charge: null,
    });
    expect(await effect(first)).toBe('resumes_replaced');
  });

  test('of one of two payments on an order is of that one, also if the other one counts by then', async () => {
    const pro = await buy();
    const extra = customer.again(pro);
    await pro.capture();
    await extra.capture();
    const holder = await database.connect();
    await holder.query('begin');
    await holder.query('select billing.lock_gateway_payment($1)', [pro.paymentId]);
    const asked = refund(pro);
    asked.catch(() => {});
    await waitUntilBlocked(database, support);
    // As billing.count_best_payment exchanges them.
    for (
      const [from, to] of [[pro.paymentId, 'pay_moved'], [extra.paymentId, pro.paymentId], [
        'pay_moved',
        extra.paymentId,
      ]]
    ) {
      await holder.query('update public.payments set gateway_payment_id = $2 where gateway_payment_id = $1', [
        from,
        to,
      ]);
    }
    await holder.query('commit');
    expect(await asked).toMatchObject({ reference: pro.paymentId, result: expect.stringMatching(/does not depend/) });
    expect(await answer('processed')).toMatchObject({ payload: { gateway_payment_id: pro.paymentId } });
  });

  test('of nothing, of what was not captured, or of another customer is refused', async () => {
    const pro = await buy();
    const { email } = await database.customer();
    const { orderId } = await createPayment(database, { userId: customer.id });
    const { id } = await createPayment(database, { userId: customer.id });
    await database.query("update public.payments set status = 'captured' where id = $1", [id]);
    await refused({ action: 'refund', reference: 'pay_unknown' }, 'PS404', /no payment "pay_unknown"/);
    await refused({ action: 'refund', reference: pro.paymentId, email }, 'PS404', /no payment/);
    for (const reference of [orderId, id]) await refused({ action: 'refund', reference }, 'PS409', /not captured/);
  });

  test('of less than the gateway refunds is refused', async () => {
    const pro = await buy();
    await refused({ action: 'refund', reference: pro.paymentId, amount: 99 }, 'PS400', /refunds 1\.00 INR at least/);
    expect(await refund(pro, 100)).toMatchObject({ amount: '100' });
  });

  test('that the webhook told is no finding when its message is given up', async () => {
    const pro = await buy();
    const { id } = await refund(pro, 40000);
    await failToSend();
    await pro.refund(40000, { notes: { support_action: String(id) } });
    await database.at('01-03');
    expect(await send()).toMatchObject({ ids: [], parked: 1 });
    expect(await kinds()).toEqual([]);
  });

  test('while a dispute is open says so; both together are a finding until a note', async () => {
    const pro = await buy();
    await pro.capture();
    await database.send(disputeEvent('created', 'open', paymentOf(pro)));
    const { result } = await refund(pro);
    expect(result).toContain(`Dispute disp_of_${pro.paymentId} of it is open: if it is lost, the money is gone twice.`);
    await answer('processed');
    expect(await customer.findings()).toEqual([]);
    await database.at('01-05');
    await pro.dispute('lost');
    const twice = await database.one("select detail from billing.findings_of($1) where finding = 'returned_too_much'", [
      customer.id,
    ]);
    expect(twice.detail).toMatchObject({ paid: price, refunded: price, lost: price });
    expect(await customer.findings()).toEqual([`returned_too_much ${pro.paymentId}`]);
    await act(support, { action: 'note', reference: pro.paymentId });
    expect(await customer.findings()).toEqual([]);
  });

  test('of more than was paid, at the gateway, is a finding until it fails', async () => {
    const pro = await buy();
    await pro.capture();
    await pro.refund(price + 1, { id: 'rfnd_more' });
    expect(await customer.findings()).toEqual([`returned_too_much ${pro.paymentId}`]);
    await pro.refund(price + 1, { id: 'rfnd_more', status: 'failed' });
    expect(await customer.findings()).toEqual(['refund_failed rfnd_more']);
    await act(support, { action: 'note', reference: pro.paymentId });
  });

  test.each(['another payment', 'another amount'])('that names %s than before changes nothing', async (what) => {
    const pro = await buy();
    await pro.capture();
    await pro.refund(40000, { id: 'rfnd_known', status: 'pending' });
    const before = await database.query('select * from billing.refunds');
    const [named, amount] = what === 'another payment'
      ? [await (await database.customer()).buy('pro', { at: '01-01' }), 40000]
      : [pro, 50000];
    expect(await named.refund(amount, { id: 'rfnd_known' })).toBe('mismatch');
    expect(await database.query('select * from billing.refunds')).toEqual(before);
    expect([(await pro.row()).refunded_amount, await kinds()]).toEqual(['0', ['failed_events']]);
    const { subject } = await database.one(
      "select subject from billing.service_findings where finding = 'failed_events'",
    );
    await actAsOwner(database, { action: 'ignore_event', reference: String(subject) });
    expect(await pro.refund(40000, { id: 'rfnd_known' })).toBe('applied');
  });

  test('by support is limited by a setting; the owner may refund more', async () => {
    const pro = await buy();
    await database.query('update billing.settings set support_refund_amount = 50000');
    await refused({ action: 'refund', reference: pro.paymentId }, 'PS403', /setting support_refund_amount/);
    await refund(pro, 40000);
    await refused(
      { action: 'refund', reference: pro.paymentId, amount: 10001 },
      'PS403',
      /500\.00 INR of a payment at most/,
    );
    await refuse();
    await refund(pro, 50000);
    await actAsOwner(database, { action: 'refund', reference: pro.paymentId });
    await database.query('update billing.settings set support_refund_amount = null');
    expect(await left(pro)).toBe(0);
  });
});
