type Details = { status?: number; field?: string; reason?: string; step?: string; source?: string };

/** Why the gateway refuses a request. */
export type Refusal = { description: string } & Details;

/** An error answer in the gateway's format; default status 400, which the gateway also uses for an unknown id. */
export function gatewayError(description: string, details: Details = {}): Response {
  const { status = 400, field = null, source = 'business', step = 'NA', reason = 'input_validation_failed' } = details;
  const code = status >= 500 ? 'SERVER_ERROR' : 'BAD_REQUEST_ERROR';
  return Response.json({ error: { code, description, field, source, step, reason, metadata: {} } }, { status });
}

export function refused({ description, ...details }: Refusal): Response {
  return gatewayError(description, details);
}

export function unknownId(field?: string): Response {
  return gatewayError('The id provided does not exist', field === undefined ? {} : { field });
}
