import * as answers from './answers.ts';
import * as checks from './checks.ts';
import * as examples from './examples.ts';
import { idempotencyKey, type Operation } from './operation.ts';
import * as requests from './requests.ts';

const signature = '5f1d7a84a1f9c4f0b7e0a7d6f2a5c8e35f1d7a84a1f9c4f0b7e0a7d6f2a5c8e3';
const paymentId = 'pay_NfR5nB9dK3sVhY';

/** The endpoints below /api/payments. */
export const paymentOperations = {
  createOrder: {
    tag: 'Payments',
    summary: 'Create an order at the gateway, or return the open one',
    description: checks.orderChecks,
    access: 'session',
    parameters: [idempotencyKey],
    request: {
      schema: requests.orderRequest,
      examples: { pro: { tier: 'pro' }, withCredit: { tier: 'pro', start: 'now' }, price: { price: 'pro_monthly' } },
    },
    answers: {
      201: {
        description: 'What a checkout needs.',
        schema: answers.orderAnswer,
        examples: { created: examples.ordered, withCredit: examples.orderedWithCredit },
      },
    },
    errors: [
      'paymentsNotConfigured',
      'invalidRequest',
      'idempotencyKeyReused',
      'tooManyOrders',
      'offerNotFound',
      'onlyAtPeriodEnd',
      'orderInProgress',
      'gatewayUnavailable',
    ],
  },
  getOrder: {
    tag: 'Payments',
    summary: "Read the state of one of the caller's orders",
    description:
      'For a page whose checkout closed without an answer: poll every 5 s. So often, 20 times at most and within five ' +
      'days, an order that is not paid is read from the gateway. Otherwise, and without an answer within 5 s, the answer is ' +
      'what is known.',
    access: 'session',
    parameters: [
      { name: 'order_id', in: 'path', description: "The gateway's id of the order.", schema: { type: 'string' } },
    ],
    answers: {
      200: { description: 'The order.', schema: answers.orderStateAnswer, examples: { paid: examples.orderState } },
    },
    errors: ['orderNotFound'],
  },
  verifyPayment: {
    tag: 'Payments',
    summary: 'Turn what a checkout returned into a tier',
    description: checks.verifyChecks,
    access: 'session',
    request: {
      schema: requests.verifyRequest,
      examples: {
        order: {
          gateway_order_id: 'order_NfR4mX7cT2pLqW',
          gateway_payment_id: paymentId,
          gateway_signature: signature,
        },
        subscription: {
          gateway_subscription_id: 'sub_NfR8rT1vH4wEjU',
          gateway_payment_id: paymentId,
          gateway_signature: signature,
        },
      },
    },
    answers: {
      200: {
        description: 'The tier is granted, or the subscription is authorised.',
        schema: answers.verifyAnswer,
        examples: { activated: examples.verified, authorised: examples.authorised },
      },
    },
    errors: [
      'paymentsNotConfigured',
      'invalidRequest',
      'paymentVerificationFailed',
      'paymentNotFound',
      'subscriptionNotFound',
      'planNotFound',
      'gatewayUnavailable',
    ],
  },
  verifyReturnedPayment: {
    tag: 'Payments',
    summary: 'Verify the form of a redirect checkout and send the browser to the app',
    description: checks.returnChecks,
    access: 'anyone',
    request: {
      mediaType: 'application/x-www-form-urlencoded',
      schema: requests.returnForm,
      examples: {
        paid: {
          razorpay_order_id: 'order_NfR4mX7cT2pLqW',
          razorpay_payment_id: paymentId,
          razorpay_signature: signature,
        },
      },
    },
    answers: {
      303: {
        description: '`{APP_URL}/dashboard?payment=paid|pending|failed&order=…`',
        headers: ['location'],
      },
    },
    errors: ['paymentsNotConfigured'],
  },
} satisfies Record<string, Operation>;
