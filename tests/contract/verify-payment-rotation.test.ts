import { describe, expect, test } from 'vitest';
import { secrets, sign } from '../helpers/gateway/sign.ts';
import { answer, refusal } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { checkout, verify } from '../helpers/http/requests.ts';
import { poolSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { createPayment } from '../helpers/records/records.ts';

const project = useProject();

describe.each(poolSample)('%s while the API key secret rotates', (target) => {
  const service = useService(target, project, { GATEWAY_KEY_SECRET_PREVIOUS: 'old-key-secret' });

  /** Verifies a new order whose checkout was signed with a secret. */
  async function verifySigned(secret: string) {
    const user = await createCaller(project.database);
    const paid = await checkout((await createPayment(project.database, { userId: user.id })).orderId);
    const gateway_signature = await sign(secret, `${paid.gateway_order_id}|${paid.gateway_payment_id}`);
    return await answer(verify(service, user.accessToken, { ...paid, gateway_signature }));
  }

  test.each([secrets.GATEWAY_KEY_SECRET, 'old-key-secret'])(
    'POST /api/payments/verify signed with "%s" → 200',
    async (secret) => {
      expect(await verifySigned(secret)).toMatchObject({ status: 200 });
    },
  );

  test('POST /api/payments/verify signed with a third secret → 400', async () => {
    expect(await verifySigned('older-key-secret')).toEqual(refusal(400, 'Payment verification failed'));
  });
});
