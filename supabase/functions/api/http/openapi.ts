// A static import: a deploy finds no file whose dynamic import has a second argument.
import document from '../generated/openapi.json' with { type: 'json' };

/** The text of the API's description. */
export const openapi = JSON.stringify(document);
