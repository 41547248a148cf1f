import { expect, test } from 'vitest';
import { postWebhook, sha256 } from '../helpers/gateway/deliver.ts';
import { paymentFailed } from '../helpers/gateway/events.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout, verify } from '../helpers/http/requests.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { readLedger, readOutbox } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

const project = useProject();
const service = useService("served on today's Deno", project);

test('twenty verifies and twenty deliveries of one failed attempt at once → 200, applied once, one mail each', async () => {
  const caller = await createCaller(project.database);
  const [paid, failing] = [
    await createPayment(project.database, { userId: caller.id }),
    await createPayment(project.database, { userId: caller.id }),
  ];
  const body = paymentFailed({ id: uniqueId('pay'), order_id: failing.orderId });
  const confirmation = await checkout(paid.orderId);
  const answersOf = async (request: () => Promise<Response>) => {
    const responses = await Promise.all(Array.from({ length: 20 }, request));
    return await Promise.all(responses.map(async (response) => `${response.status} ${await response.text()}`));
  };
  const [verified, delivered] = await Promise.all([
    answersOf(() => verify(service, caller.accessToken, confirmation)),
    answersOf(() => postWebhook(service, body)),
  ]);
  expect(verified[0]).toMatch(/^200 /);
  expect(verified).toEqual(Array(20).fill(verified[0]));
  expect(delivered).toEqual(Array(20).fill('200 {"received":true}'));
  expect(await readLedger(project.database, sha256(body))).toMatchObject({ deliveries: 20, attempts: 1 });
  const mails = (await readOutbox(project.database, 'email', caller.email)).map(({ kind }) => kind);
  expect(mails.sort()).toEqual(['payment-failed', 'payment-success']);
});
