import { type Check, fail, type Outcome, pass, warn } from '../check.ts';
import { checkClock } from '../clock.ts';
import type { Context } from '../context.ts';
import { callGateway, describeRefusal } from '../gateway-api.ts';

/** The gateway accepts the API key, and the key has the right mode: live on a hosted project, test locally. */
export const gatewayKey: Check = {
  name: 'gateway-key',
  needs: ['gateway key'],

  async run(context) {
    const reply = await callGateway(context, 'GET', '/payments?count=1');
    // The simulator can't list payments (404), but it checks the key first.
    const accepted = reply.status === 200 || context.hasSimulator && reply.status === 404;
    return [
      ...accepted ? [] : [describeRefusal(context, reply, 'whether the key is valid')],
      ...checkMode(context),
      // The simulator's clock moves with `npm run clock`.
      ...context.hasSimulator ? [] : checkClock('the gateway', reply.headers.get('date')),
    ];
  },
};

/** Key ids of the gateway contain their mode. */
function checkMode({ mode, environment }: Context): Outcome[] {
  const keyId = environment.GATEWAY_KEY_ID ?? '';
  const ofKey = /^[a-z]+_(test|live)_/.exec(keyId)?.[1];
  if (mode === 'local' && ofKey === 'live') {
    return [fail(`${keyId} is a live key: the local stack would take real money`, 'Set a test key.')];
  }
  if (mode === 'hosted' && ofKey === 'test') {
    return [warn(`${keyId} is a test key: no real money`, 'Set the live key before customers pay.')];
  }
  return [pass(`${keyId} is accepted${ofKey === undefined ? '' : `, a ${ofKey} key`}`)];
}
