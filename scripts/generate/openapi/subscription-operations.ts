import * as answers from './answers.ts';
import * as checks from './checks.ts';
import * as examples from './examples.ts';
import { idempotencyKey, ifNoneMatch, type Operation } from './operation.ts';
import * as requests from './requests.ts';

/** The endpoints below /api/subscriptions. */
export const subscriptionOperations = {
  getSubscription: {
    tag: 'Subscriptions',
    summary: 'Read the subscription, the tier and the newest payments of the caller',
    access: 'session',
    answers: {
      200: {
        description: 'The state of the caller.',
        schema: answers.subscriptionAnswer,
        examples: { subscribed: examples.read },
      },
    },
    errors: [],
  },
  listPlans: {
    tag: 'Subscriptions',
    summary: 'List the plans on offer',
    description:
      'With a valid session each plan and price has its `scenario` for the user. One that is missing, invalid, or can not be ' +
      'checked within 2 s gets the public answer.',
    access: 'optionalSession',
    parameters: [ifNoneMatch],
    answers: {
      200: {
        description: 'The plans, the lowest default price first, then by tier. The public answer has an `etag`.',
        headers: ['etag'],
        schema: answers.plansAnswer,
        examples: { public: examples.publicPlans, withSession: examples.plansOfUser },
      },
      304: { description: 'The plans are those of `if-none-match`.', headers: ['etag'] },
    },
    errors: [],
  },
  createSubscription: {
    tag: 'Subscriptions',
    summary: 'Create a subscription that the gateway bills',
    description:
      `It gives no access before the customer authorised it at \`short_url\` or in a checkout.\n\n${checks.subscriptionChecks}`,
    access: 'session',
    parameters: [idempotencyKey],
    request: {
      schema: requests.subscriptionRequest,
      examples: { pro: { tier: 'pro' }, price: { price: 'pro_monthly' } },
    },
    answers: {
      201: {
        description: 'The subscription to authorise, new or open.',
        schema: answers.gatewaySubscriptionAnswer,
        examples: { created: examples.subscribed },
      },
    },
    errors: [
      'paymentsNotConfigured',
      'invalidRequest',
      'idempotencyKeyReused',
      'offerNotFound',
      'priceNotAtGateway',
      'alreadySubscribed',
      'subscriptionInProgress',
      'tooManyOrders',
      'gatewayUnavailable',
    ],
  },
  changeSubscription: {
    tag: 'Subscriptions',
    summary: 'Change the plan or the price, now or at the end of the period',
    description: checks.changeChecks,
    access: 'session',
    request: { schema: requests.changeRequest, examples: { upgrade: { tier: 'pro', when: 'now' } } },
    answers: {
      200: {
        description: 'A change that waited was undone. Nothing is to be paid.',
        schema: answers.undoneChangeAnswer,
        examples: { undone: examples.undone },
      },
      201: {
        description: 'An order to pay, a subscription to authorise, or both.',
        schema: answers.changeAnswer,
        examples: { order: examples.changed },
      },
    },
    errors: [
      'paymentsNotConfigured',
      'invalidRequest',
      'idempotencyKeyReused',
      'offerNotFound',
      'priceNotAtGateway',
      'subscriptionNotFound',
      'alreadySubscribed',
      'onlyAtPeriodEnd',
      'tooLateToChange',
      'orderInProgress',
      'subscriptionInProgress',
      'tooManyOrders',
      'gatewayUnavailable',
    ],
  },
  previewChange: {
    tag: 'Subscriptions',
    summary: 'Read what a change of the plan would cost, and when it begins',
    description: 'Orders nothing. The checks are those of the change.',
    access: 'session',
    request: { schema: requests.changeRequest, examples: { upgrade: { tier: 'pro', when: 'now' } } },
    answers: {
      200: { description: 'The terms.', schema: answers.changeTerms, examples: { upgrade: examples.terms } },
    },
    errors: [
      'invalidRequest',
      'offerNotFound',
      'subscriptionNotFound',
      'alreadySubscribed',
      'onlyAtPeriodEnd',
      'tooLateToChange',
      'gatewayUnavailable',
    ],
  },
  cancelSubscription: {
    tag: 'Subscriptions',
    summary: 'Cancel the subscription, now or at the end of the period',
    description:
      '`true` again is 200 again. 404 where none is active and the gateway can charge nothing that is not already ' +
      'cancelled at once.',
    access: 'session',
    request: { schema: requests.cancelRequest, examples: { atPeriodEnd: { at_period_end: true } } },
    answers: {
      200: {
        description: 'The subscription after the cancellation.',
        schema: answers.changedSubscriptionAnswer,
        examples: { atPeriodEnd: examples.cancelled },
      },
    },
    errors: ['invalidRequest', 'subscriptionNotFound'],
  },
  resumeSubscription: {
    tag: 'Subscriptions',
    summary: 'Withdraw a cancellation at the end of the period',
    description:
      'All of it, or nothing. A subscription that is not to end stays as it is. 404 where the user has none and the ' +
      'gateway can charge nothing; 409 where it has ended, or the gateway has any part of the cancellation.',
    access: 'session',
    answers: {
      200: {
        description: 'The subscription, which continues.',
        schema: answers.changedSubscriptionAnswer,
        examples: { resumed: examples.resumed },
      },
    },
    errors: ['subscriptionNotFound', 'cannotBeResumed'],
  },
} satisfies Record<string, Operation>;
