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

const times = <T>(count: number, work: () => Promise<T>) => Promise.all(Array.from({ length: count }, work));

test('twenty verifies of one payment at once → the same 200 twenty times, one mail', async () => {
  const caller = await createCaller(project.database);
  const { id, orderId } = await createPayment(project.database, { userId: caller.id });
  const paid = await checkout(orderId);
  const responses = await times(20, () => verify(service, caller.accessToken, paid));
  expect(responses.map((response) => response.status)).toEqual(Array(20).fill(200));
  const bodies = await Promise.all(responses.map((response) => response.text()));
  expect(new Set(bodies).size).toBe(1);
  expect(await readOutbox(project.database, 'email', caller.email)).toMatchObject([{ key: `payment-success/${id}` }]);
});

test('twenty deliveries of one event at once → 200 twenty times, applied once', async () => {
  const caller = await createCaller(project.database);
  const { orderId } = await createPayment(project.database, { userId: caller.id });
  const body = paymentFailed({ id: uniqueId('pay'), order_id: orderId });
  const responses = await times(20, () => postWebhook(service, body));
  expect(responses.map((response) => response.status)).toEqual(Array(20).fill(200));
  for (const response of responses) expect(await response.json()).toEqual({ received: true });
  expect(await readLedger(project.database, sha256(body))).toMatchObject({ deliveries: 20, attempts: 1 });
  expect(await readOutbox(project.database, 'email', caller.email)).toHaveLength(1);
});
