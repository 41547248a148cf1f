import type { Postgres } from '../../../scripts/stack/postgres/postgres.ts';
import { newId } from '../../../scripts/stack/gateway/new-id.ts';
import { poolUrl } from '../../helpers/database/pool-role.ts';
import { withClient } from '../../helpers/database/postgres-client.ts';
import { createBillingClock, type Subscriber } from '../gateway-bodies.ts';
import { httpRequest } from '../http-connection.ts';
import { createOurDatabase, createSubscribers, endSubscriptions, newUsers } from '../our-database.ts';
import { renewals } from '../peers/ours.ts';
import { startReaders } from '../peers/reads.ts';
import type { Batch, Started, Subject } from '../peers/subject.ts';
import { startOurs } from '../systems.ts';

/** Older subscriptions of a customer who came back. Each ended with its first cycle. */
const olderSubscriptions = 5;
/** Mails that wait for their next attempt. */
const waitingMails = 6000;

/** Requests of customers with their first subscription, and of customers who came back; without receivers. */
export async function startCustomers(postgres: Postgres, count: number): Promise<Started> {
  const firsts = newUsers(count).subscribers;
  const returning = newUsers(count).subscribers;
  // Others cancel, so that no renewal is one of who cancelled.
  const cancelling = { firsts: newUsers(count).subscribers, returning: newUsers(count).subscribers };
  const url = await createOurDatabase(postgres, 'customers', newUsers(1000));
  for (let cyclesAgo = olderSubscriptions + 2; cyclesAgo > 2; cyclesAgo -= 1) {
    const older = [...returning, ...cancelling.returning].map(({ userId }) => ({
      userId,
      gatewaySubscriptionId: newId('sub'),
    }));
    await createSubscribers(url, older, cyclesAgo);
    await endSubscriptions(url, older, cyclesAgo);
  }
  const everybody = [...firsts, ...returning, ...cancelling.firsts, ...cancelling.returning];
  await createSubscribers(url, everybody);
  const people = everybody.map(({ userId }) => userId);
  const readers = await startReaders({ buyers: people, subscribers: [] });
  const tokens = new Map(people.map((userId, index) => [userId, readers.tokens[index] ?? '']));
  const server = await startOurs(readers, { DATABASE_POOL_URL: poolUrl(url) });

  const post = (userId: string, path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${tokens.get(userId)}`, 'content-type': 'application/json' };
    return httpRequest('POST', `/api/subscriptions/${path}`, headers, JSON.stringify(body));
  };
  const previews = (whom: readonly Subscriber[]) => (): Promise<Batch> =>
    Promise.resolve({
      requests: whom.map(({ userId }) => post(userId, 'change/preview', { tier: 'premium', when: 'now' })),
      isApplied: () => Promise.resolve(true),
    });
  const cancellations = (whom: readonly Subscriber[], waiting = 0) => async (): Promise<Batch> => {
    const ids = whom.map(({ userId }) => userId);
    await withClient(url, async (client) => {
      await client.query('select public.resume_subscription(id) from unnest($1::uuid[]) u (id)', [ids]);
      await client.query("delete from billing.outbox where key like 'waiting/%'");
      await client.query(
        `insert into billing.outbox (key, destination, kind, payload, next_attempt_at, attempts)
         select 'waiting/' || n, 'email', 'payment-success', '{}', billing.clock() + interval '1 hour', 1
         from generate_series(1, $1) n`,
        [waiting],
      );
      await client.query('vacuum analyze billing.outbox');
    });
    return {
      requests: ids.map((userId) => post(userId, 'cancel', { at_period_end: true })),
      async isApplied() {
        const { rows: [row] } = await withClient(url, (client) =>
          client.query(
            'select count(*) from public.subscriptions s where s.user_id = any ($1) and s.cancel_at_period_end',
            [ids],
          ));
        return Number(row.count) === ids.length;
      },
    };
  };
  const nextRound = createBillingClock();
  const subjects: [string, string, Subject['createBatch']][] = [
    ['a first renewal', '{"received":true}', renewals(url, firsts, nextRound)],
    ['a renewal of who came back', '{"received":true}', renewals(url, returning, nextRound)],
    ['a first preview', '"amount_due"', previews(firsts)],
    ['a preview of who came back', '"amount_due"', previews(returning)],
    ['a first cancellation', '"cancel_at_period_end":true', cancellations(cancelling.firsts)],
    ['a cancellation of who came back', '"cancel_at_period_end":true', cancellations(cancelling.returning)],
    [
      `a first cancellation beside ${waitingMails} mails`,
      '"cancel_at_period_end":true',
      cancellations(cancelling.firsts, waitingMails),
    ],
  ];
  return {
    subjects: subjects.map(([name, expected, createBatch]) => ({ name, peer: null, server, expected, createBatch })),
    async stop() {
      await server.stop();
      await readers.stop();
    },
  };
}
