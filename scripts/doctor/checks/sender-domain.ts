import { z } from 'zod';
import { type Check, checkHosted, fail, notGiven, type Outcome, pass, skip, warn } from '../check.ts';
import type { Context } from '../context.ts';
import { field } from '../request.ts';

const list = z.object({ data: z.array(z.object({ name: z.string(), status: z.string() })) });

/** The domain of EMAIL_FROM is verified at Resend. */
export const senderDomain: Check = {
  name: 'sender-domain',

  async run(context) {
    const { RESEND_API_KEY, EMAIL_FROM, RESEND_BASE_URL } = context.environment;
    if (context.hasMailbox) return [skip('the local mailbox accepts every sender', checkHosted)];
    if (!RESEND_API_KEY || !EMAIL_FROM) return [notGiven('RESEND_API_KEY', 'EMAIL_FROM')];
    const domain = domainOf(EMAIL_FROM);
    if (domain === null) {
      return [fail('EMAIL_FROM is not an address', 'Use this form: Acme <billing@acme.example>.')];
    }
    if (domain === 'resend.dev') {
      return [warn('EMAIL_FROM is the test domain: mails reach only your own address', 'Use your own domain.')];
    }
    const base = (RESEND_BASE_URL || 'https://api.resend.com').replace(/\/+$/, '');
    return [await evaluate(context, `${base}/domains`, RESEND_API_KEY, domain)];
  },
};

async function evaluate(context: Context, url: string, key: string, domain: string): Promise<Outcome> {
  const { status, body } = await context.request(url, { headers: { authorization: `Bearer ${key}` } });
  if (status === 401 && field(body, 'name') === 'restricted_api_key') {
    return skip(
      `RESEND_API_KEY may only send, as it should: it does not show whether ${domain} is verified`,
      "Check it in Resend's dashboard, under domains.",
    );
  }
  if ([400, 401, 403].includes(status)) {
    return fail(`Resend refuses RESEND_API_KEY (${status})`, "Set a key that is active in Resend's dashboard.");
  }
  const parsed = list.safeParse(body);
  if (status !== 200 || !parsed.success) return warn(`Resend answers ${status}`, "Check it in Resend's dashboard.");
  const found = parsed.data.data.find(({ name }) => name.toLowerCase() === domain);
  if (found === undefined) {
    return fail(
      `Resend has no domain ${domain}, of EMAIL_FROM`,
      "Add it in Resend's dashboard and verify it.",
    );
  }
  return found.status === 'verified'
    ? pass(`${domain} is verified`)
    : fail(`${domain} is ${found.status} at Resend, not verified`, 'Set the DNS records that its dashboard shows.');
}

/** The domain in lower case; null for an invalid address. */
function domainOf(from: string): string | null {
  return /@([\w-]+(?:\.[\w-]+)+)>?\s*$/.exec(from)?.[1]?.toLowerCase() ?? null;
}
