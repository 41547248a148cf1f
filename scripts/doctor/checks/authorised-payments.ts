import { type Check, pass, warn } from '../check.ts';
import { listPayments } from '../gateway-api.ts';

/** No payment stays authorised: the gateway returns the money of an uncaptured payment to the customer. */
export const authorisedPayments: Check = {
  name: 'authorised-payments',
  needs: ['gateway key'],

  async run(context) {
    const listed = await listPayments(context);
    if ('outcome' in listed) return [listed.outcome];
    const left = listed.payments.filter(({ status }) => status === 'authorized');
    if (left.length === 0) return [pass('no payment is left authorised')];
    const examples = left.slice(0, 3).map(({ id }) => id).join(', ');
    return [
      warn(
        `payments authorised for more than an hour and not captured: ${left.length} (${examples})`,
        'Capture them in the dashboard of the gateway, and set automatic capture in its payment settings.',
      ),
    ];
  },
};
