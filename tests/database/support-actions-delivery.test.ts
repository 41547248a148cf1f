import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { readFindings } from '../helpers/database/findings.ts';
import { openSession, waitUntilBlocked } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver, sha256 } from '../helpers/gateway/deliver.ts';
import { paymentCaptured } from '../helpers/gateway/events.ts';
import { claim, enqueue, fail } from '../helpers/outbox/claims.ts';
import { paymentOf, placeOrder, type Purchase } from '../helpers/records/purchases.ts';
import { readLedger, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { act, openSupport } from '../helpers/records/support-actions.ts';

let database: TestDatabase;
let service: pg.Client, support: pg.Client;
beforeAll(async () => {
  // The ignored event belongs to a payment without a plan.
  database = await createTestDatabase({ findings: { captured_not_fulfilled: 1 } });
  service = await openSession(database, { role: 'service_role' });
  support = await openSupport(database);
});
afterEach(() => setClock(database, null));
afterAll(() => database.close());

describe('requeue_mail', () => {
  /** A parked mail. @returns its id */
  async function park(to: string | null = null): Promise<number> {
    const id = await enqueue(database, 'email', uniqueId('key'));
    if (to !== null) await database.query('update billing.outbox set payload = $2 where id = $1', [id, { to }]);
    const { token, ids } = await claim(service, 'email');
    expect(ids).toEqual([id]);
    await fail(service, token, ids, { error: 'HTTP 422', final: true });
    return id;
  }
  const stateOf = async (
    id: number,
  ) => (await database.one('select state, attempts from billing.messages where id = $1', [id]));
  const drop = (id: number) => database.query('delete from billing.outbox where id = $1', [id]);

  test('queues a parked message again, by its id or key, and names its customer', async () => {
    const user = await createUser(database);
    const id = await park(user.email);
    expect(await act(support, { action: 'requeue_mail', reference: id })).toMatchObject({ user_id: user.id });
    expect(await stateOf(id)).toEqual({ state: 'queued', attempts: 0 });
    await expect(act(support, { action: 'requeue_mail', reference: id })).rejects.toMatchObject({
      code: 'PS409',
      message: expect.stringContaining('is queued already'),
    });
    await drop(id);
  });

  test('of a message that is delivered meanwhile is refused', async () => {
    const id = await park();
    const dispatcher = await database.connect();
    await dispatcher.query('begin');
    await dispatcher.query('update billing.outbox set delivered_at = now(), parked_at = null where id = $1', [id]);
    const requeued = act(support, { action: 'requeue_mail', reference: id });
    requeued.catch(() => {});
    await waitUntilBlocked(database, support);
    await dispatcher.query('commit');
    await expect(requeued).rejects.toMatchObject({
      code: 'PS409',
      message: expect.stringContaining('was delivered at'),
    });
    expect(await stateOf(id)).toMatchObject({ state: 'delivered' });
  });

  test('of a withdrawn or an unknown message is refused', async () => {
    const id = await enqueue(database, 'gateway', uniqueId('cancel'));
    await database.query("update billing.outbox set parked_at = now(), last_error = 'withdrawn' where id = $1", [id]);
    for (const [reference, code] of [[id, 'PS409'], [0, 'PS404'], ['no such key', 'PS404']] as const) {
      await expect(act(support, { action: 'requeue_mail', reference })).rejects.toMatchObject({ code });
    }
    await drop(Number(id));
  });
});

describe('replay_event and ignore_event', () => {
  /** A captured payment of a tier without a plan. */
  async function capture(): Promise<Purchase & { tier: string; hash: string }> {
    const tier = uniqueId('team');
    const order = await placeOrder(database, { tier });
    const body = paymentCaptured(paymentOf(order));
    expect(await deliver(service, body)).toBe('plan_not_found');
    return { ...order, tier, hash: sha256(body) };
  }

  test('a replay after the plan exists grants the tier; another one is refused', async () => {
    const { tier, hash, user } = await capture();
    await database.query("insert into public.plans (tier, name, price) values ($1, 'Team', 99900)", [tier]);
    const action = { action: 'replay_event', reference: hash };
    expect(await act(support, action)).toMatchObject({
      user_id: user.id,
      email: user.email,
      result: 'payment.captured was applied again: applied.',
    });
    expect(await readTier(database, user.id)).toBe(tier);
    await expect(act(support, action)).rejects.toMatchObject({
      code: 'PS409',
      message: 'the outcome of this webhook is final: applied',
    });
  });

  test('an ignored event is no finding, and can be replayed later', async () => {
    const { hash } = await capture();
    const named = async () => (await readFindings(database)).filter(([, subject]) => subject === hash);
    expect(await named()).toEqual([['failed_events', hash, 'plan_not_found']]);
    await act(support, { action: 'ignore_event', reference: `\\x${hash}` });
    expect(await named()).toEqual([]);
    expect(await readLedger(database, hash)).toMatchObject({ outcome: 'ignored: by an admin' });
    await expect(act(support, { action: 'ignore_event', reference: hash })).rejects.toMatchObject({ code: 'PS409' });
    await act(support, { action: 'replay_event', reference: hash });
    expect(await named()).toEqual([['failed_events', hash, 'plan_not_found']]);
    await act(support, { action: 'ignore_event', reference: hash });
  });

  test.each(['', '00', 'g'.repeat(64), '0'.repeat(64)])('a replay of "%s" is refused', async (reference) => {
    await expect(act(support, { action: 'replay_event', reference })).rejects.toMatchObject({ code: 'PS404' });
  });
});

describe('a note ends the findings that have no other end', () => {
  test('unmailed_payment, by its payment', async () => {
    const { user, id, orderId, paymentId } = await placeOrder(database);
    await database.query('delete from public.profiles where user_id = $1', [user.id]);
    await service.query("select public.verify_payment($1, $2, $3, 'signature')", [user.id, orderId, paymentId]);
    const named = async () => (await readFindings(database)).filter(([, subject]) => subject === id);
    expect(await named()).toEqual([['unmailed_payment', id]]);
    await act(support, { action: 'note', reference: id });
    expect(await named()).toEqual([]);
  });

  test('missed_webhook, until reconciliation finds the next one; a webhook ends it, too', async () => {
    const missed = async () => (await readFindings(database)).filter(([finding]) => finding === 'missed_webhook');
    const raise = () =>
      database.query("insert into billing.marks (kind, key) values ('missed_webhook', $1)", [
        uniqueId('order'),
      ]);
    await raise();
    await raise();
    expect(await missed()).toEqual([['missed_webhook', 'webhooks']]);
    await act(support, { action: 'note', reference: 'webhooks' });
    expect(await missed()).toEqual([]);
    await raise();
    expect(await missed()).toEqual([['missed_webhook', 'webhooks']]);
    await deliver(service, paymentCaptured({ id: uniqueId('pay') }));
    expect(await missed()).toEqual([]);
  });
});
