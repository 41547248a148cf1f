/** Status and JSON body of a response, to compare them as a whole. */
export async function answer(response: Response | Promise<Response>): Promise<{ status: number; body: unknown }> {
  const { status, body } = await fullAnswer(response);
  return { status, body };
}

/** As `answer`, with the headers. */
export async function fullAnswer(
  response: Response | Promise<Response>,
): Promise<{ status: number; headers: Headers; body: unknown }> {
  const received = await response;
  const text = await received.text();
  return { status: received.status, headers: received.headers, body: text === '' ? null : JSON.parse(text) };
}

/** An error answer. Contract: Errors. */
export function refusal(status: number, error: string): { status: number; body: { error: string } } {
  return { status, body: { error } };
}
