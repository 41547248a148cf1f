import { createHmac } from 'node:crypto';
import { type Check, fail, type Outcome, pass, skip } from '../check.ts';
import type { Context } from '../context.ts';
import { field, type Reply } from '../request.ts';

/** Always the same bytes: the ledger keeps one row of it, however often the doctor runs. */
const body = JSON.stringify({ entity: 'event', event: 'doctor.ping', contains: [], payload: {}, created_at: 0 });

const deploy = 'Run `npx supabase functions deploy api --use-api`';

/** A signed webhook to the public address reaches the ledger. Contract: POST /api/webhooks/gateway. */
export const webhookPing: Check = {
  name: 'webhook-ping',

  async run(context) {
    const secret = context.environment.GATEWAY_WEBHOOK_SECRET;
    if (!secret) return [skip('GATEWAY_WEBHOOK_SECRET not given')];
    const reply = await context.request(`${context.functionsUrl}/api/webhooks/gateway`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        [signatureHeader(context)]: createHmac('sha256', secret).update(body).digest('hex'),
        [context.environment.GATEWAY_EVENT_ID_HEADER || 'x-gateway-event-id']: 'doctor-ping',
      },
      body,
    });
    return [await judge(context, reply)];
  },
};

async function judge(context: Context, { status, headers, body }: Reply): Promise<Outcome> {
  if (status === 200 && field(body, 'received') === true) return pass('a signed doctor.ping is received');
  // The function's errors are {"error": …}, the platform's {"code": …, "message": …}.
  const error = field(body, 'error');
  const message = field(body, 'message');
  const platform = typeof message === 'string' ? `: ${message}` : '';
  if (error === 'Missing signature') {
    return fail(
      `the function reads the signature from another header than ${signatureHeader(context)}`,
      'Set the same GATEWAY_SIGNATURE_HEADER there and here: the one that the gateway sends.',
    );
  }
  if (error === 'Invalid signature') {
    return fail(
      'the function has another GATEWAY_WEBHOOK_SECRET than this environment',
      'Set the secret of the endpoint at the gateway, of the function and here to the same value.',
    );
  }
  if (error === 'Webhook processing failed') return await judgeFault(context);
  // No error of the function is a 401, and each of its answers has a request id.
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
  return fail(`the webhook path answers ${status}${platform}`, 'Look at the log of the function.');
}

/** The function answers 500 without a secret, and without a database: only then its health fails, too. */
async function judgeFault(context: Context): Promise<Outcome> {
  const health = await context.request(`${context.functionsUrl}/api/health`);
  return health.status === 200
    ? fail(
      'the function has no GATEWAY_WEBHOOK_SECRET',
      'Set it with `npx supabase secrets set`, to the secret of the endpoint at the gateway.',
    )
    : fail('the function does not reach its database', 'Look at the log of the function.');
}

function signatureHeader({ environment }: Context): string {
  return environment.GATEWAY_SIGNATURE_HEADER || 'x-gateway-signature';
}
