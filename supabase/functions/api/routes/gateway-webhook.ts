// @ts-types="../node-crypto.d.ts"
import { createHash } from 'node:crypto';
import { errorAnswer } from '../http/errors.ts';
import type { Route } from '../http/route.ts';
import { toStorableJson } from '../database/storable-json.ts';

/** POST /api/webhooks/gateway: a signed notification of the gateway. SPEC 4 and 6. */
export const gatewayWebhook: Route = {
  method: 'POST',
  path: '/api/webhooks/gateway',
  bodyOf: 'gateway',
  failure: 'webhookFailed',

  async handle({ request, body, config, database, verifyWebhookSignature, dispatchLater }) {
    const signature = request.headers.get(config.signatureHeader);
    if (!signature) return errorAnswer('missingSignature');
    // Not configured: a 500, so that the gateway comes again once a secret is set.
    if (verifyWebhookSignature === null) return { ...errorAnswer('webhookFailed'), outcome: 'webhooksNotConfigured' };
    // Over the bytes: decoding would drop a byte-order mark and with it a genuine signature.
    if (!verifyWebhookSignature(body, signature)) return errorAnswer('invalidSignature');

    const { outcome } = await database.applyGatewayEvent({
      bodySha256: createHash('sha256').update(body).digest('hex'),
      eventId: request.headers.get(config.eventIdHeader),
      body: toStorableJson(new TextDecoder().decode(body)),
    });
    // A cancellation of a subscription unknown here wrote the profile all the same.
    if (['applied', 'unmatched', 'plan_not_found'].includes(outcome)) dispatchLater();
    if (outcome.startsWith('failed: ')) return { ...errorAnswer('webhookFailed'), outcome };
    return { status: 200, body: { received: true }, outcome };
  },
};
