type Details = { status?: number; field?: string; reason?: string; step?: string; source?: string };

/** An error answer in the gateway's shape; 400 unless told otherwise. An unknown id is a 400 there too, not a 404. */
export function gatewayError(description: string, details: Details = {}): Response {
  const { status = 400, field = null, source = 'business', step = 'NA', reason = 'input_validation_failed' } = details;
  const code = status >= 500 ? 'SERVER_ERROR' : 'BAD_REQUEST_ERROR';
  return Response.json({ error: { code, description, field, source, step, reason, metadata: {} } }, { status });
}
