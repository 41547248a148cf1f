/** Larger than any form of a checkout: three ids, or the texts of an error. */
const maxFormBytes = 16 * 1024;

/** Whether the headers announce a form of at most 16 KiB. Without a content-length the size is not known yet. */
export function mayBeForm({ headers }: Request): boolean {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  return type === 'application/x-www-form-urlencoded' && !(Number(headers.get('content-length')) > maxFormBytes);
}

/** Reads one field of a form; undefined: the form has no such field, or more than one. */
export type ReadField = (name: string) => string | undefined;

/**
 * Reads a form as UTF-8. A charset in its header is ignored. Invalid bytes become U+FFFD, so no signature over them is
 * valid. An empty or too large body is a form without fields.
 */
export function readForm(body: Uint8Array): ReadField {
  const fields = new URLSearchParams(body.length > maxFormBytes ? '' : new TextDecoder().decode(body));
  return (name) => {
    const values = fields.getAll(name);
    return values.length === 1 ? values[0] : undefined;
  };
}
