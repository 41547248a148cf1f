/** An error answer in the shape of the mail API: `{statusCode, name, message}`. */
export function mailError(
  statusCode: number,
  name: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ statusCode, name, message }, { status: statusCode, headers });
}
