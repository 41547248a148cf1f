/** The body of a request is not JSON: an error of its caller, also where the endpoint answers 500. */
export class MalformedJson extends Error {
  override readonly name = 'MalformedJson';
}

/** Reads a body as JSON in UTF-8. @throws MalformedJson */
export function readJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw new MalformedJson();
  }
}
