import { createHmac } from 'node:crypto';
import { type Check, fail, type Outcome, pass, skip } from '../check.ts';
import type { Context } from '../context.ts';
import { field, type Reply } from '../request.ts';

/** Always the same bytes: the ledger keeps one row of it, however often the doctor runs. */
const body = JSON.stringify({ entity: 'event', event: 'doctor.ping', contains: [], payload: {}, created_at: 0 });

const deploy = 'Run `npx supabase functions deploy api --use-api`';

/** A signed webhook passes from the public address to the ledger, as the gateway's do. Contract: POST /api/webhooks/gateway. */
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
  // The function's own errors are {"error": …} under a request id; the platform's are {"code": …, "message": …}.
  const error = headers.has('x-request-id') ? field(body, 'error') : undefined;
  const message = field(body, 'message');
  const platform = typeof message === 'string' ? `: ${message}` : '';
  if (status === 401 && error === undefined) {
    return fail(
      `the platform checks sessions before the function (401${platform})`,
      `${deploy} with this project's config.toml, which turns verify_jwt off.`,
    );
  }
  if (status === 404 && error === undefined) {
    return fail(`no function answers at ${context.functionsUrl}/api (404${platform})`, `${deploy}.`);
  }
  if (status === 404) {
    return fail('the function does not know the webhook path', `${deploy}: it is of another version.`);
  }
  if (error === 'Missing signature') {
    return fail(
      `the function reads the signature from another header than ${signatureHeader(context)}`,
      'Set the same GATEWAY_SIGNATURE_HEADER there and here: the one that the gateway sends.',
    );
  }
  if (error === 'Invalid signature') {
    return fail(
      'the function has another GATEWAY_WEBHOOK_SECRET than this environment',
      "Set the endpoint's secret at the gateway, in the function and here to the same value.",
    );
  }
  if (status === 500 && error !== undefined) return await judgeFault(context);
  return fail(`the webhook path answers ${status}${platform}`, "Look at the function's log.");
}

/** Without a secret the function answers 500 as it does without a database; its health tells the two apart. */
async function judgeFault(context: Context): Promise<Outcome> {
  const health = await context.request(`${context.functionsUrl}/api/health`);
  return health.status === 200
    ? fail(
      'the function has no GATEWAY_WEBHOOK_SECRET',
      'Set it with `npx supabase secrets set`, to the secret of the endpoint at the gateway.',
    )
    : fail('the function does not reach its database', "Look at the function's log.");
}

function signatureHeader({ environment }: Context): string {
  return environment.GATEWAY_SIGNATURE_HEADER || 'x-gateway-signature';
}
