type Attributes = Readonly<Record<string, string>>;

/**
 * Writes an element of XML. A content is the text of the element, a list the elements in it, of which false and an empty one
 * are left out. What is not ASCII becomes a reference, so that the encoding of the file does not matter; what XML cannot hold,
 * a space.
 */
export function element(
  name: string,
  content: string | readonly (string | false)[],
  attributes: Attributes = {},
): string {
  const head = Object.entries(attributes).map(([key, value]) => ` ${key}="${escape(value)}"`).join('');
  const inner = typeof content === 'string' ? escape(content) : content.filter((one) => one).join('');
  return `<${name}${head}>${inner}</${name}>`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escape(text: string): string {
  return text.replace(/[^\x20-\x7e]|[&<>"]/gu, (one) => entities[one] ?? reference(one.codePointAt(0) ?? 0));
}

/** https://www.w3.org/TR/xml/#charsets */
function reference(code: number): string {
  const isChar = code === 0x9 || code === 0xa || code === 0xd || code >= 0x20 && code <= 0xd7ff ||
    code >= 0xe000 && code <= 0xfffd || code >= 0x10000;
  return isChar ? `&#${code};` : ' ';
}
