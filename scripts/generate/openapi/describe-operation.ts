import { errorAnswer, type ErrorName } from '../../../supabase/functions/api/http/errors.ts';
import type { Route } from '../../../supabase/functions/api/routes/route.ts';
import type { HeaderName, Operation } from './operation.ts';
import { errorExample, errorSchema, referenceTo } from './schemas.ts';

/** The errors of the limits for bodies. Contract: Errors. */
const errorsOfEveryRoute: readonly ErrorName[] = ['bodyTimedOut', 'payloadTooLarge', 'tooManyBodies'];

/** The errors whose answers say when to try again. */
const withRetryAfter: readonly ErrorName[] = [
  'receiptNotIssued',
  'orderInProgress',
  'subscriptionInProgress',
  'tooManyOrders',
  'tooManyBodies',
];

export const securitySchemes = {
  session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The access token of a session.' },
  internalKey: { type: 'apiKey', in: 'header', name: 'x-internal-key', description: '`INTERNAL_KEY`.' },
  secretKey: { type: 'apiKey', in: 'header', name: 'apikey', description: "The project's secret key." },
  webhookSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'x-gateway-signature',
    description: 'HMAC-SHA256 of the raw body, as hexadecimal digits. `GATEWAY_SIGNATURE_HEADER` changes the name.',
  },
};

const security: Readonly<Record<Operation['access'], Partial<Record<keyof typeof securitySchemes, []>>[]>> = {
  anyone: [],
  optionalSession: [{}, { session: [] }],
  session: [{ session: [] }],
  internalKey: [{ internalKey: [] }, { secretKey: [] }],
  webhookSignature: [{ webhookSignature: [] }],
};

/** Responses that several operations have, by name. */
export type SharedResponses = Partial<Record<ErrorName, unknown>>;

/** A route as an operation of OpenAPI. Adds the responses that the operation refers to. */
export function describeOperation(
  route: Route,
  operation: Operation,
  shared: SharedResponses,
): Record<string, unknown> {
  const { tag, summary, description, access, parameters, request } = operation;
  return {
    tags: [tag],
    operationId: route.operation,
    summary,
    ...(description && { description }),
    security: security[access],
    ...(parameters && { parameters: parameters.map((one) => ({ ...one, required: one.in === 'path' })) }),
    ...(request && {
      requestBody: {
        required: true,
        content: content(referenceTo(request.schema), request.examples, request.mediaType),
      },
    }),
    responses: { ...successes(operation), ...failures(route, operation, shared) },
  };
}

function successes({ answers }: Operation): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, headers, schema, examples = {}, mediaType }]) => [status, {
      description,
      headers: headersOf(headers),
      ...(schema && { content: content(referenceTo(schema), examples, mediaType) }),
    }]),
  );
}

/** An error that is alone on its status becomes one of the shared responses, which many operations refer to. */
function failures(
  route: Route,
  { access, errors }: Operation,
  shared: SharedResponses,
): Record<string, unknown> {
  const names = new Set<ErrorName>([
    ...access === 'session' || access === 'internalKey' ? ['unauthorized' as const] : [],
    ...errors,
    route.failure,
    ...errorsOfEveryRoute,
  ]);
  // The failure of a route with a session passes on the `retry-after` of the auth server.
  const mayRetry = access === 'session' ? [...withRetryAfter, route.failure] : withRetryAfter;
  const byStatus = Map.groupBy(names, (name) => errorAnswer(name).status);
  return Object.fromEntries([...byStatus].map(([status, names]) => {
    const response = describeErrors(names, names.some((name) => mayRetry.includes(name)));
    const [only, ...others] = names;
    if (only === undefined || others.length > 0) return [status, response];
    shared[only] = response;
    return [status, { $ref: `#/components/responses/${only}` }];
  }));
}

function describeErrors(names: readonly ErrorName[], mayRetry: boolean): Record<string, unknown> {
  const schemas = names.map((name) => referenceTo(errorSchema(name)));
  const examples = Object.fromEntries(names.map((name) => [name, errorExample(name)]));
  return {
    description: names.map((name) => errorExample(name).error).join('; '),
    headers: headersOf(mayRetry ? ['retry-after'] : []),
    content: content(schemas.length === 1 ? { ...schemas[0] } : { anyOf: schemas }, examples),
  };
}

function headersOf(names: readonly HeaderName[] = []): Record<string, unknown> {
  return Object.fromEntries(
    (['x-request-id', ...names] as const).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

function content(
  schema: Record<string, unknown>,
  examples: Readonly<Record<string, unknown>>,
  mediaType = 'application/json',
): Record<string, unknown> {
  const named = Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
  return { [mediaType]: { schema, examples: named } };
}
