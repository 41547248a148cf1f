import { describe, expect, test } from 'vitest';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { changeEnvelope, paymentCaptured } from '../helpers/gateway/events.ts';
import { answer } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { restSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { ledgerRow, paymentOfOrder, readRowsBesidesLedger } from '../helpers/records/read-records.ts';
import { createPayment } from '../helpers/records/records.ts';

const project = useProject();
const received = { status: 200, body: { received: true } };

describe.each(restSample)('%s with GATEWAY_ACCOUNT_ID', (target) => {
  const service = useService(target, project, { GATEWAY_ACCOUNT_ID: 'acc_Ours' });

  /** A new order, and the body of its payment.captured with this account_id. */
  async function captureBy(account: string | undefined) {
    const { id: userId } = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId });
    return { orderId, body: changeEnvelope(paymentCaptured({ order_id: orderId }), { account_id: account }) };
  }

  test('POST /api/webhooks/gateway of another account → 200, recorded without its payload, no change', async () => {
    const { body } = await captureBy('acc_Others');
    const before = await readRowsBesidesLedger(project.database);
    for (const deliveries of [1, 2]) {
      expect(await answer(postWebhook(service, body))).toEqual(received);
      expect(await ledgerRow(project.database, body)).toMatchObject({
        event: 'payment.captured',
        outcome: 'ignored: account',
        payload: null,
        subject_id: null,
        deliveries,
      });
    }
    expect(await readRowsBesidesLedger(project.database)).toEqual(before);
  });

  test.each(['acc_Ours', undefined])('POST /api/webhooks/gateway of account %s → 200, applied', async (account) => {
    const { orderId, body } = await captureBy(account);
    expect(await answer(postWebhook(service, body))).toEqual(received);
    expect(await ledgerRow(project.database, body)).toMatchObject({ outcome: 'applied' });
    expect(await paymentOfOrder(project.database, orderId)).toMatchObject({ status: 'captured' });
  });
});
