import { presetOf } from '../../../supabase/functions/api/config-presets.ts';
import { type Check, notGiven, pass, skip, warn } from '../check.ts';

const { GATEWAY_API_URL: address = '', EMAIL_TIME_ZONE: zone } = presetOf('razorpay');

/** Where the gateway is Razorpay, whose cycles end at midnight in India, mails name the days of that time zone. */
export const timeZone: Check = {
  name: 'time-zone',

  run({ environment }) {
    const url = environment.GATEWAY_API_URL;
    if (!url) return Promise.resolve([notGiven('GATEWAY_API_URL')]);
    const given = environment.EMAIL_TIME_ZONE;
    const isRazorpay = URL.parse(url)?.hostname === new URL(address).hostname;
    if (given || !isRazorpay) return Promise.resolve([pass(`mails name the days of ${given || 'UTC'}`)]);
    return Promise.resolve([
      warn(
        'EMAIL_TIME_ZONE is not set: mails name the day before, since cycles end at midnight in India, 18:30 in UTC',
        `Set GATEWAY=razorpay, or EMAIL_TIME_ZONE=${zone}.`,
      ),
    ]);
  },
};

/** Months are those of the days that mails name. Contract: Months and days. */
export const sellerTimeZone: Check = {
  name: 'seller-time-zone',
  needs: ['database'],

  async run({ environment, query }) {
    const [row] = await query('select time_zone from billing.settings');
    const value = String(row?.time_zone);
    const wanted = environment.EMAIL_TIME_ZONE;
    if (!wanted) return [pass(`months are those of ${value}`)];
    const [is, mails] = [canonical(value), canonical(wanted)];
    if (mails === null) return [skip('EMAIL_TIME_ZONE is invalid', `Set it to an IANA name, such as ${zone}.`)];
    if (is === mails) return [pass(`months are those of ${value}, as the days in mails`)];
    const statement = `update billing.settings set time_zone = '${wanted}'`;
    return [
      warn(
        `months are those of ${value}, and mails name the days of ${wanted}: a month from the 1st may end days early`,
        `Before the first sale run "${statement};", or correct EMAIL_TIME_ZONE.`,
        {
          title: `set time_zone to ${wanted} in billing.settings`,
          async apply(context) {
            await context.change('update billing.settings set time_zone = $1', [wanted]);
          },
        },
      ),
    ];
  },
};

/** One name for the names of a zone, such as Asia/Kolkata and Asia/Calcutta. Null: it is none. */
function canonical(timeZone: string): string | null {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}
