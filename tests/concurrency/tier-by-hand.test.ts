import { expect, test } from 'vitest';
import { openRacers, untilBlocked } from '../helpers/database/racers.ts';
import { callRpc } from '../helpers/database/session.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { readTier } from '../helpers/records/read-records.ts';

const database = useDatabase();

/** As the function does: a deadlock rolled everything back, so the call is repeated once, a moment later. */
const retried = <T>(call: () => Promise<T>) =>
  call().catch(async (error) => {
    if (error.code !== '40P01') throw error;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return await call();
  });

// A row that is written by hand is locked before its user, a request locks the user first.
test.each(['the verification', 'the edit'] as const)(
  'a tier that is edited by hand during a verification, events on: %s waits first; both end, and the last event is true',
  async (first) => {
    await database.set('events = true');
    const order = await placeOrder(database);
    const [admin, customer] = await openRacers(database, 2);
    if (!admin || !customer) throw new Error('no sessions');
    await admin.query('reset role');
    // Postgres rolls back who looks for a deadlock first. On a busy machine that would be a matter of chance.
    if (first === 'the verification') await admin.query("set deadlock_timeout = '1min'");
    await customer.query("reset role; set deadlock_timeout = '2s'; set role service_role");
    await admin.query('begin');
    await admin.query("update public.profiles set subscription_tier = 'basic' where user_id = $1", [order.user.id]);
    const verify = () => verifyPurchase(customer, order);
    const code = ({ code }: { code: string }) => code;
    if (first === 'the edit') {
      await customer.query('begin');
      await customer.query('select billing.lock_user($1)', [order.user.id]);
      const edited = admin.query('commit').then(() => 'committed', code);
      await untilBlocked(database, admin, edited);
      expect(await verify()).toMatchObject({ outcome: 'applied' });
      await customer.query('commit');
      // The admin repeats it.
      expect(await edited).toBe('40P01');
    } else {
      const verified = retried(verify);
      await untilBlocked(database, customer, verified);
      expect(await admin.query('commit').then(() => 'committed', code)).toBe('committed');
      expect(await verified).toMatchObject({ outcome: 'applied' });
    }
    expect(await readTier(database, order.user.id)).toBe('pro');
    const { tier } = await database.one(
      `select o.payload #>> '{data,tier}' as tier from billing.outbox o
       where o.destination = 'event' and o.kind = 'subscription.updated' and o.payload #>> '{data,user_id}' = $1
       order by o.id desc limit 1`,
      [order.user.id],
    );
    expect(tier).toBe('pro');
    expect(await callRpc(database.service, 'get_subscription', order.user.id)).toMatchObject({ currentTier: 'pro' });
  },
);
