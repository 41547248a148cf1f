import { receiverEnvironment } from '../helpers/outbox/test-dispatcher.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { startBenchProcess } from './bench-process.ts';

/** The receivers of mails and revalidations, in a process of their own, and the environment of a function that uses them. */
export async function startReceivers() {
  const { REVALIDATE_SECRET = '' } = receiverEnvironment('');
  const { port, stop } = await startBenchProcess('receiver-server.ts', { REVALIDATE_SECRET });
  return { environment: receiverEnvironment(`http://127.0.0.1:${port}`), stop };
}

/** Waits until the function has delivered what is due. @throws when that takes longer than two minutes */
export async function untilDelivered(url: string): Promise<void> {
  await withClient(url, async (client) => {
    for (const until = performance.now() + 120_000; performance.now() < until;) {
      const { rows: [row] } = await client.query(
        `select count(*) as due from billing.outbox
         where destination in ('email', 'notice', 'revalidation') and delivered_at is null and parked_at is null
           and next_attempt_at < billing.clock() + interval '30 minutes'`,
      );
      if (Number(row.due) === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('mails and revalidations were not delivered within two minutes');
  });
}
