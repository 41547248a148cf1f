import { presetOf } from '../../../supabase/functions/api/config-presets.ts';
import { type Check, notGiven, pass, warn } from '../check.ts';

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
