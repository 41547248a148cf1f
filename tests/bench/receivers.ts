import { receiverEnvironment } from '../helpers/outbox/test-dispatcher.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { startBenchProcess } from './bench-process.ts';

/** The receivers of mails and revalidations, in a process of their own, and the environment of a function that uses them. */
export async function startReceivers() {
  const { REVALIDATE_SECRET = '' } = receiverEnvironment('');
  const { port, stop } = await startBenchProcess('receiver-server.ts', { REVALIDATE_SECRET });
  return { environment: receiverEnvironment(`http://127.0.0.1:${port}`), stop };
}

/** How often the schedule calls the function: a dispatch leaves to the next one what its time does not suffice for. */
const scheduleMilliseconds = 10_000;

/**
 * Waits until the function at a port has delivered what is due in the database.
 * @throws when that takes longer than two minutes
 */
export async function untilDelivered(url: string, port: number): Promise<void> {
  const { INTERNAL_KEY = '' } = receiverEnvironment('');
  let calledAt = performance.now();
  await withClient(url, async (client) => {
    for (const until = performance.now() + 120_000; performance.now() < until;) {
      const { rows: [row] } = await client.query(
        `select count(*) as due from billing.outbox
         where destination in ('email', 'notice', 'revalidation') and delivered_at is null and parked_at is null
           and next_attempt_at < billing.clock() + interval '30 minutes'`,
      );
      if (Number(row.due) === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
      if (performance.now() - calledAt < scheduleMilliseconds) continue;
      calledAt = performance.now();
      const call = { method: 'POST', headers: { 'x-internal-key': INTERNAL_KEY } };
      const answer = await fetch(`http://127.0.0.1:${port}/api/internal/outbox`, call);
      await answer.body?.cancel();
      if (!answer.ok) throw new Error(`the dispatch answered ${answer.status}`);
    }
    throw new Error('mails and revalidations were not delivered within two minutes');
  });
}
