const bytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0').toUpperCase());

/** A number of 16 bits as four hexadecimal digits: a glyph in a content stream. */
export function hex(id: number): string {
  return `${bytes[id >> 8]}${bytes[id & 0xff]}`;
}

/** A text in UTF-16, as hexadecimal digits. */
export function utf16(text: string): string {
  let codes = '';
  for (let index = 0; index < text.length; index++) codes += hex(text.charCodeAt(index));
  return codes;
}
