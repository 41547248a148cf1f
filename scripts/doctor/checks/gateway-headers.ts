import { presetOf } from '../../../supabase/functions/api/config-presets.ts';
import { type Check, fail, notGiven, pass } from '../check.ts';

const { GATEWAY_API_URL: address = '', ...preset } = presetOf('razorpay');

/** Where the gateway is Razorpay, the function reads the headers that it sends. */
export const gatewayHeaders: Check = {
  name: 'gateway-headers',

  run({ environment }) {
    const url = environment.GATEWAY_API_URL;
    if (!url) return Promise.resolve([notGiven('GATEWAY_API_URL')]);
    const headers = {
      GATEWAY_SIGNATURE_HEADER: environment.GATEWAY_SIGNATURE_HEADER || 'x-gateway-signature',
      GATEWAY_EVENT_ID_HEADER: environment.GATEWAY_EVENT_ID_HEADER || 'x-gateway-event-id',
    };
    const isRazorpay = URL.parse(url)?.hostname === new URL(address).hostname;
    const wrong = Object.entries(headers).filter(([name, value]) => value.toLowerCase() !== preset[name]);
    if (!isRazorpay || wrong.length === 0) return Promise.resolve([pass(Object.values(headers).join(', '))]);
    const names = wrong.map(([, value]) => value).join(', ');
    return Promise.resolve([
      fail(
        `Razorpay does not send ${names}: the function refuses its webhooks`,
        `Set GATEWAY=razorpay, and remove ${wrong.map(([name]) => name).join(', ')}.`,
      ),
    ]);
  },
};
