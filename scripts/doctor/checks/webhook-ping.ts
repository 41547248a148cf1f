import { createHmac } from 'node:crypto';
import { type Check, fail, notGiven, type Outcome, pass, warn } from '../check.ts';
import type { Context } from '../context.ts';
import { deployCommand } from '../deploy-command.ts';
import { otherServer } from '../other-server.ts';
import { field, type Reply } from '../request.ts';

/** Always the same bytes, so that repeated runs leave one row in the ledger. */
const body = JSON.stringify({ entity: 'event', event: 'doctor.ping', contains: [], payload: {}, created_at: 0 });

/** A signed webhook to the public address reaches the ledger. Contract: POST /api/webhooks/gateway. */
export const webhookPing: Check = {
  name: 'webhook-ping',

  async run(context) {
    const secret = context.environment.GATEWAY_WEBHOOK_SECRET;
    if (!secret) return [notGiven('GATEWAY_WEBHOOK_SECRET')];
    const reply = await context.request(`${context.functionsUrl}/api/webhooks/gateway`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        [signatureHeader(context)]: createHmac('sha256', secret).update(body).digest('hex'),
        [context.environment.GATEWAY_EVENT_ID_HEADER || 'x-gateway-event-id']: 'doctor-ping',
      },
      body,
    });
    return [await evaluate(context, reply)];
  },
};

async function evaluate(context: Context, { status, headers, body }: Reply): Promise<Outcome> {
  if (status === 200) {
    if (field(body, 'received') !== true) return otherServer(context, status);
    if (headers.get('x-webhook-secret') !== 'previous') return pass('a signed doctor.ping is received');
    return warn(
      'GATEWAY_WEBHOOK_SECRET of this environment is the previous one of the function',
      'Set the current one here and at the gateway, before the previous one is removed.',
    );
  }
  const deploy = `Run ${deployCommand(context)}`;
  // The function's errors are {"error": …}, the platform's {"code": …, "message": …}.
  const error = field(body, 'error');
  const message = field(body, 'message');
  const platform = typeof message === 'string' ? `: ${message}` : '';
  if (error === 'Missing signature') {
    return fail(
      `the function reads the signature from another header than ${signatureHeader(context)}`,
      'Set GATEWAY_SIGNATURE_HEADER there and here to the header that the gateway sends.',
    );
  }
  if (error === 'Invalid signature') {
    return fail(
      'the function has another GATEWAY_WEBHOOK_SECRET than this environment',
      'Set the same secret at the gateway, for the function and here.',
    );
  }
  if (error === 'Webhook processing failed') return await diagnoseFault(context);
  // The function itself never answers 401 to a webhook, and each of its answers has an x-request-id.
  if (status === 401) {
    return fail(
      `the platform checks sessions before the function (401${platform})`,
      `${deploy} with this project's config.toml, which turns verify_jwt off.`,
    );
  }
  if (status === 404 && headers.has('x-request-id')) {
    return fail('the function has no webhook path', `${deploy}: it is of another version.`);
  }
  if (status === 404) return fail(`no function answers at ${context.functionsUrl}/api (404${platform})`, `${deploy}.`);
  return fail(`the webhook path answers ${status}${platform}`, 'Read the log of the function.');
}

/** The function answers 500 without a secret and without a database. Its health fails only without a database. */
async function diagnoseFault(context: Context): Promise<Outcome> {
  const health = await context.request(`${context.functionsUrl}/api/health`);
  return health.status === 200
    ? fail(
      'the function has no GATEWAY_WEBHOOK_SECRET',
      'Set it with `npx supabase secrets set`, to the secret of the endpoint at the gateway.',
    )
    : fail('the function does not reach its database', 'Read the log of the function.');
}

function signatureHeader({ environment }: Context): string {
  return environment.GATEWAY_SIGNATURE_HEADER || 'x-gateway-signature';
}
