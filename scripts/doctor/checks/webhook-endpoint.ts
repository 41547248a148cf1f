import { type Check, checkHosted, fail, type Outcome, pass, skip } from '../check.ts';
import type { Context } from '../context.ts';
import { type Endpoint, listEndpoints, registerEndpoint } from '../gateway-endpoints.ts';
import { handledEvents } from '../handled-events.ts';
import { webhookPing } from './webhook-ping.ts';

/** The webhook endpoint is registered at the gateway, active, and has all handled events. */
export const webhookEndpoint: Check = {
  name: 'webhook-endpoint',
  needs: ['gateway key'],

  async run(context) {
    if (context.mode === 'local') return [skip('no gateway reaches this machine', checkHosted)];
    return [await evaluate(context)];
  },
};

async function evaluate(context: Context): Promise<Outcome> {
  const url = `${context.functionsUrl}/api/webhooks/gateway`;
  const listed = await listEndpoints(context);
  if ('refusal' in listed) return skip(`the gateway does not list its endpoints (${listed.refusal})`, byHand(url));
  const { functionName, functionsUrl } = context;
  // Below its own name a function also answers without `/api`.
  const addresses = functionName === 'api' ? [url] : [url, `${functionsUrl}/webhooks/gateway`];
  const ours = listed.endpoints.find((endpoint) => addresses.includes(endpoint.url.replace(/\/+$/, '')));
  const fix = (verb: string) => ({
    title: `${verb} the webhook endpoint ${url} at the gateway, active, with ${handledEvents.length} events`,
    apply: (context: Context) => apply(context, url, ours),
  });
  if (ours === undefined) return fail('the webhook endpoint is not registered', byHand(url), fix('register'));
  if (!ours.active) {
    return fail(
      'the webhook endpoint is switched off',
      'Switch it on in the dashboard of the gateway, or run `npm run doctor -- --fix`.',
      fix('switch on'),
    );
  }
  const missing = handledEvents.filter((event) => !ours.events.includes(event));
  if (missing.length > 0) {
    return fail(
      `the webhook endpoint lacks events: ${missing.join(', ')}`,
      'Add them in the dashboard of the gateway, or run `npm run doctor -- --fix`.',
      fix('complete'),
    );
  }
  return pass(`registered and active, with ${handledEvents.length} events`);
}

/** Registers the endpoint with the secret of this environment, after a check that it is the current one of the function. */
async function apply(context: Context, url: string, present: Endpoint | undefined): Promise<void> {
  const [ping] = await webhookPing.run(context);
  if (ping?.status !== 'pass') throw new Error(`the function must receive a webhook first: ${ping?.message}`);
  await registerEndpoint(context, url, present);
}

function byHand(url: string): string {
  return `In the dashboard of the gateway, under webhooks: ${url}, the secret GATEWAY_WEBHOOK_SECRET, and the events ${
    handledEvents.join(', ')
  }.`;
}
