/** What GATEWAY=razorpay sets, where the variable itself is missing or empty. */
const razorpay: Readonly<Record<string, string>> = {
  GATEWAY_API_URL: 'https://api.razorpay.com',
  GATEWAY_SIGNATURE_HEADER: 'x-razorpay-signature',
  GATEWAY_EVENT_ID_HEADER: 'x-razorpay-event-id',
  EMAIL_TIME_ZONE: 'Asia/Kolkata',
};

/** The variables that a value of GATEWAY sets. `config.ts` refuses an unknown value. */
export function presetOf(gateway: string | undefined): Readonly<Record<string, string>> {
  return gateway === 'razorpay' ? razorpay : {};
}

/** Reads a variable, or what GATEWAY sets for it. An empty one counts as missing. */
export function withPreset(environment: (name: string) => string | undefined): (name: string) => string | undefined {
  const preset = presetOf(environment('GATEWAY'));
  return (name) => environment(name) || preset[name];
}
