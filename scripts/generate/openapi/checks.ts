/** What an endpoint checks, in the order in which it does. Contract: "Order of checks". */

const configured = 'The gateway is configured, else 503 `Payment service not configured`';
const session = 'The session is valid, else 401.';
const body = 'The body is JSON, else 500. Its fields are valid, else 400 `Invalid request` with `details`.';
const offer = 'The price is on offer, else 404 `Plan not found`; it is one of the `tier`, else 400 `Invalid request`.';
const gateway = 'The gateway answers within 5 s, else 502: nothing remains, so repeat the request. Its 400 is 500.';

export const orderChecks = inOrder(
  `${configured} (\`GATEWAY_API_URL\`, too).`,
  session,
  body,
  'The key was not used for another price or `start`, else 409 `Idempotency key was used for another order`.',
  offer,
  'With `start` `now` the price covers the credit, else 409 `Only at the end of the period` with `reason` `credit`.',
  'An open order is returned. If another request is still creating it, this one waits up to 3 s, then 409 ' +
    '`Order is being created`.',
  'At most 20 keys name one open order, and the user made fewer than ten payments within the hour, else 429.',
  gateway,
);

export const subscriptionChecks = inOrder(
  `${configured} (\`GATEWAY_API_URL\`, too).`,
  session,
  body,
  'The key was not used for another price, else 409 `Idempotency key was used for another order`.',
  offer,
  'The price has a `gateway_plan_id`, else 404 `Price has no gateway plan`.',
  'The gateway does not bill the user for this price yet, else 409 `Already subscribed`. A subscription that ends with ' +
    'its cycle does not count.',
  'An open subscription is returned: same user, price and API key, no event so far, younger than 30 minutes. If another ' +
    'request is still creating it, this one waits up to 3 s, then 409 `Subscription is being created`.',
  'At most 20 keys name one open subscription, and the user asked for fewer than ten within the hour, else 429.',
  gateway,
);

export const changeChecks = inOrder(
  'The first checks are those of an order.',
  'A tier with a plan runs, else 404 `Subscription not found`.',
  'The gateway does not bill this price yet, else 409 `Already subscribed`.',
  'The change is possible `now`, else 409 `Only at the end of the period` with `reason`.',
  'It is earlier than the last 80 hours of the period, and for an undo the gateway was not told yet, else 409 ' +
    '`Too late to change this period` with `possible_from`.',
  'The other checks are those of an order and of a subscription.',
);

export const verifyChecks = `${
  inOrder(
    `${configured}; for a subscription \`GATEWAY_API_URL\`, too.`,
    session,
    'The body is JSON, else 500. It has the three fields and not both ids, else 400 `Invalid request` with `details`.',
    'The signature is valid, else 400 `Payment verification failed`.',
    "The order is one of the caller's, else 404 `Payment not found`.",
    'The payment was not refunded in full, nor found to be never captured, else 400 `Payment verification failed`.',
    'A plan exists for what was bought, else 500 `Plan not found`. The payment is captured all the same.',
  )
}

The first payment of a subscription is read from the gateway. 400 \`Payment verification failed\` also after a full \
refund or a cancellation at once; 404 \`Subscription not found\` if the caller did not start it here; 502 without a \
usable answer: nothing is granted, so repeat the request.`;

export const returnChecks = `The signature in the form proves the payment. The parameters of the redirect are no proof.

- \`paid\`: the tier is granted.
- \`pending\`: the signature is valid, but the tier is not granted: an unknown order, no plan, or a fault. Read the \
order, and ask for no other payment.
- \`failed\`: no such form, no valid signature, a failed attempt, or a payment refunded in full or never captured.

\`order\` appears only with at most 64 letters, digits, \`_\` and \`-\`. The form has at most 16 KiB, and each field once. \
503 without \`GATEWAY_KEY_ID\`, \`GATEWAY_KEY_SECRET\` or \`APP_URL\`.`;

export const webhookChecks = inOrder(
  'The header of the signature is there, else 400 `Missing signature`.',
  'A webhook secret is set, else 500, so that the gateway retries.',
  'The signature over the raw body is valid, else 400 `Invalid signature`.',
  'The body is JSON, else 500.',
  'The event is applied. Effect and ledger row commit together, else 500.',
);

function inOrder(...checks: string[]): string {
  return checks.map((check, index) => `${index + 1}. ${check}`).join('\n');
}
