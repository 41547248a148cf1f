// @ts-types="../node-crypto.d.ts"
import { createHash } from 'node:crypto';
import { errorAnswer } from '../http/errors.ts';
import type { Route } from './route.ts';
import { toStorableJson } from '../database/storable-json.ts';

/** Applies a signed event of the gateway. Contract: POST /api/webhooks/gateway, "Order of checks". */
export const gatewayWebhook: Route = {
  method: 'POST',
  path: '/api/webhooks/gateway',
  operation: 'gatewayWebhook',
  bodyOf: 'gateway',
  failure: 'webhookFailed',

  async handle(context) {
    const { request, body, config, database, verifyWebhookSignature, dispatchLater, workLater, readDueOrder } = context;
    const signature = request.headers.get(config.signatureHeader);
    if (!signature) return errorAnswer('missingSignature');
    // 500, so that the gateway retries later, when a secret is set.
    if (verifyWebhookSignature === null) return { ...errorAnswer('webhookFailed'), outcome: 'webhooksNotConfigured' };
    // Over the raw bytes: decoding would drop a byte-order mark, and a valid signature would fail.
    const secret = verifyWebhookSignature(body, signature);
    if (secret === null) return errorAnswer('invalidSignature');

    const { outcome, enqueued, read } = await database.applyGatewayEvent({
      bodySha256: createHash('sha256').update(body).digest('hex'),
      eventId: request.headers.get(config.eventIdHeader),
      body: toStorableJson(new TextDecoder().decode(body)),
    });
    if (enqueued) dispatchLater();
    // The payment has another amount than its order, which alone says whether it is paid.
    if (read !== undefined) workLater(() => readDueOrder(read, dispatchLater));
    if (outcome.startsWith('failed: ')) return { ...errorAnswer('webhookFailed'), outcome };
    return { status: 200, body: { received: true }, headers: { 'x-webhook-secret': secret }, outcome };
  },
};
