type Details = { status?: number; field?: string; reason?: string; step?: string; source?: string };

/** Why the gateway does not do what it was asked. */
export type Refusal = { description: string } & Details;

/** An error answer in the gateway's shape; 400 unless told otherwise. An unknown id is a 400 there too, not a 404. */
export function gatewayError(description: string, details: Details = {}): Response {
  const { status = 400, field = null, source = 'business', step = 'NA', reason = 'input_validation_failed' } = details;
  const code = status >= 500 ? 'SERVER_ERROR' : 'BAD_REQUEST_ERROR';
  return Response.json({ error: { code, description, field, source, step, reason, metadata: {} } }, { status });
}

/** The answer to a request that is refused. */
export function refused({ description, ...details }: Refusal): Response {
  return gatewayError(description, details);
}

/** The answer about an id that the gateway does not know. */
export function unknownId(field?: string): Response {
  return gatewayError('The id provided does not exist', field === undefined ? {} : { field });
}
