import * as answers from './answers.ts';
import * as checks from './checks.ts';
import * as examples from './examples.ts';
import { ifNoneMatch, type Operation, respondAsync } from './operation.ts';
import * as requests from './requests.ts';

const accepted = {
  description: 'For `prefer: respond-async`: the work continues in the background.',
  headers: ['preference-applied'],
  schema: answers.acceptedAnswer,
  examples: { accepted: examples.accepted },
} as const;

/** The endpoints that no user calls. */
export const serviceOperations = {
  gatewayWebhook: {
    tag: 'Webhooks',
    summary: 'Apply a signed event of the gateway',
    description: checks.webhookChecks,
    access: 'webhookSignature',
    parameters: [{
      name: 'x-gateway-event-id',
      in: 'header',
      description: 'The id of the event, for the ledger. `GATEWAY_EVENT_ID_HEADER` changes the name.',
      schema: { type: 'string' },
    }],
    request: {
      schema: requests.gatewayEvent,
      examples: {
        captured: {
          event: 'payment.captured',
          created_at: 1795339800,
          payload: { payment: { entity: { id: 'pay_NfR5nB9dK3sVhY', order_id: 'order_NfR4mX7cT2pLqW' } } },
        },
      },
    },
    answers: {
      200: {
        description: 'The event is recorded, also one that changes nothing.',
        headers: ['x-webhook-secret'],
        schema: answers.receivedAnswer,
        examples: { received: examples.received },
      },
    },
    errors: ['missingSignature', 'invalidSignature'],
  },
  getHealth: {
    tag: 'Service',
    summary: 'Read the health, for monitors',
    access: 'anyone',
    answers: {
      200: {
        description: 'The database answers.',
        headers: ['x-schema-version'],
        schema: answers.healthAnswer,
        examples: { healthy: examples.healthy },
      },
    },
    errors: [],
  },
  getOpenapi: {
    tag: 'Service',
    summary: 'Read this document',
    access: 'anyone',
    parameters: [ifNoneMatch],
    answers: {
      200: {
        description: 'The description of the API.',
        headers: ['etag'],
        schema: answers.openapiAnswer,
        examples: { document: examples.document },
      },
      304: { description: 'The document is that of `if-none-match`.', headers: ['etag'] },
    },
    errors: [],
  },
  dispatchOutbox: {
    tag: 'Service',
    summary: 'Deliver the side effects that are due, for schedulers',
    description: 'Then it purges old records.',
    access: 'internalKey',
    parameters: [respondAsync],
    answers: {
      200: {
        description: 'What was delivered.',
        schema: answers.dispatchAnswer,
        examples: { dispatched: examples.dispatched },
      },
      202: accepted,
    },
    errors: [],
  },
  reconcilePayments: {
    tag: 'Service',
    summary: 'Read from the gateway what no webhook announced, for schedulers',
    description:
      'Works until nothing is due, for 58 s at most. Only one call works at a time: another waits up to 20 s, ' +
      'then answers zeros. A call that crashed stops the others for 75 s.',
    access: 'internalKey',
    parameters: [respondAsync],
    answers: {
      200: {
        description: 'What was read and applied.',
        schema: answers.reconcileAnswer,
        examples: { reconciled: examples.reconciled },
      },
      202: accepted,
    },
    errors: ['paymentsNotConfigured'],
  },
} satisfies Record<string, Operation>;
