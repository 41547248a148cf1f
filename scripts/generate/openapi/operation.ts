import type { z } from 'zod';
import type { ErrorName } from '../../../supabase/functions/api/http/errors.ts';

/** The description of one route, from which the API description is generated. */
export type Operation = {
  readonly tag: 'Subscriptions' | 'Payments' | 'Documents' | 'Webhooks' | 'Service';
  readonly summary: string;
  readonly description?: string;
  /** What proves the caller. A session and an internal key also mean the error `Unauthorized`. */
  readonly access: 'anyone' | 'optionalSession' | 'session' | 'internalKey' | 'webhookSignature';
  readonly parameters?: readonly Parameter[];
  readonly request?: Request;
  readonly answers: Readonly<Record<number, Success>>;
  /** The errors of the endpoint's own checks. `failure` of the route and the errors of every endpoint are added. */
  readonly errors: readonly ErrorName[];
};

export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'header';
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
};

type Request = {
  readonly mediaType?: string;
  readonly schema: z.ZodType;
  readonly examples: Readonly<Record<string, unknown>>;
};

/** An answer that is no error. Without a schema it has no body. */
type Success = {
  readonly description: string;
  readonly headers?: readonly HeaderName[];
  readonly mediaType?: string;
  readonly schema?: z.ZodType;
  readonly examples?: Readonly<Record<string, unknown>>;
};

/** Headers of some answers. */
export const headers = {
  'content-disposition': { description: 'The name of the file.', schema: { type: 'string' } },
  'etag': { description: 'For `if-none-match`.', schema: { type: 'string' } },
  'location': { description: 'The page of the app.', schema: { type: 'string', format: 'uri' } },
  'preference-applied': { description: '`respond-async`.', schema: { type: 'string' } },
  'retry-after': { description: 'Seconds.', schema: { type: 'string', pattern: '^[0-9]+$' } },
  'x-request-id': {
    description: 'The id of the log line.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  'x-webhook-secret': {
    description: 'Which of the two made the signature.',
    schema: { enum: ['current', 'previous'] },
  },
  'x-schema-version': { description: 'The newest migration that the function knows.', schema: { type: 'string' } },
} as const;

export type HeaderName = keyof typeof headers;

export const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same key returns the same order or subscription, for seven days.',
  schema: { type: 'string', maxLength: 255 },
};

export const respondAsync: Parameter = {
  name: 'Prefer',
  in: 'header',
  description: '`respond-async`: answer 202 at once and work in the background.',
  schema: { type: 'string' },
};

export const ifNoneMatch: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `etag` of an earlier answer: 304 while it is the same.',
  schema: { type: 'string' },
};
