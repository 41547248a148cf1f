import { isStorableText } from '../database/storable-json.ts';
import type { Answer } from '../http/answer.ts';
import { errorAnswer } from '../http/errors.ts';
import { readJson } from '../http/read-json.ts';
import { parseRequest } from '../http/validation.ts';
import type { PriceRequest } from '../ports.ts';
import type { z } from 'zod';

/** How long a request waits while another request creates the same order. */
const waitMilliseconds = 3000;
const pauseMilliseconds = 200;

/** The request of an order or a subscription, or the answer that refuses it. Contract: their "Order of checks". */
export type ReadOrder<Body> =
  | Body & { readonly idempotencyKey: string | null; readonly refusal?: undefined }
  | { readonly refusal: Answer };

/** Reads body and `Idempotency-Key`. @throws MalformedJson */
export function readOrderRequest<Body extends PriceRequest>(
  schema: z.ZodType<Body>,
  { headers }: Request,
  body: Uint8Array,
): ReadOrder<Body> {
  const parsed = parseRequest(schema, readJson(body));
  if (!parsed.ok) return { refusal: errorAnswer('invalidRequest', parsed.details) };
  const idempotencyKey = headers.get('idempotency-key') || null;
  if (idempotencyKey !== null && idempotencyKey.length > 255) {
    const details = { formErrors: [], fieldErrors: { 'idempotency-key': ['At most 255 characters'] } };
    return { refusal: errorAnswer('invalidRequest', details) };
  }
  return mayExist(parsed.request) ? { ...parsed.request, idempotencyKey } : { refusal: errorAnswer('offerNotFound') };
}

/** Whether Postgres can store the names. */
export function mayExist({ tier = '', price = '' }: PriceRequest): boolean {
  return isStorableText(tier) && isStorableText(price);
}

/** Calls again while another request creates the same order. */
export async function waitWhileInFlight<T extends { outcome: string }>(create: () => Promise<T>): Promise<T> {
  const until = performance.now() + waitMilliseconds;
  for (;;) {
    const result = await create();
    if (result.outcome !== 'in_flight' || performance.now() > until) return result;
    await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
  }
}
