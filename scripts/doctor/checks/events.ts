import { Webhook } from 'standardwebhooks';
import { type Check, fail, notGiven, pass } from '../check.ts';
import type { Context } from '../context.ts';
import { Unreachable } from '../request.ts';

const recipe = 'A receiver is in supabase/docs/deployment.md, "Events to the app".';
const statement = 'update billing.settings set events = true';

/** Events are written where they have a receiver, and it accepts only signed ones. */
export const events: Check = {
  name: 'events',
  needs: ['database'],

  async run(context) {
    const { EVENTS_URL: url, EVENTS_SECRET: secret } = context.environment;
    const [row] = await context.query('select events from billing.settings');
    const isOn = row?.events === true;
    if (!url) return [isOn ? notGiven('EVENTS_URL') : pass('off: the app gets no events')];
    if (!isOn) {
      const fix = {
        title: 'turn events on in billing.settings',
        async apply({ change }: Context) {
          await change(statement);
        },
      };
      return [fail('EVENTS_URL is set, and the setting events is off', `Run "${statement};".`, fix)];
    }
    if (!secret) return [notGiven('EVENTS_SECRET')];
    try {
      const unsigned = await post(context, url);
      if (unsigned < 300) return [fail(`${url} accepts an event without a signature`, `Verify it. ${recipe}`)];
      const signed = await post(context, url, secret);
      return [
        signed < 300
          ? pass(`${url}: ${unsigned} without a signature, ${signed} with it`)
          : fail(`${url} answers ${signed} to a signed event`, `Is its secret EVENTS_SECRET? Read its log. ${recipe}`),
      ];
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      return [fail(`nothing answers at ${url}`, 'Start the app, or correct EVENTS_URL.')];
    }
  },
};

/** Sends an event of the type `test`. @returns the status of the answer */
async function post({ request }: Context, url: string, secret?: string): Promise<number> {
  const now = new Date();
  const id = `evt_test_${now.getTime()}`;
  const body = JSON.stringify({ type: 'test', timestamp: now.toISOString(), data: {} });
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': secret === undefined ? 'v1,' : new Webhook(secret).sign(id, now, body),
  };
  const { status } = await request(url, { method: 'POST', headers, body });
  return status;
}
