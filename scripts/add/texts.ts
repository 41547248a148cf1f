/** The changes of files that belong to the app: each function returns the text with our part in it. */

/** The two lines around our variables in `.env.example`. */
const [begin, end] = ['# subscriptions: begin (written by `npm run add`)', '# subscriptions: end'];

/** Puts our variables into `supabase/functions/.env.example`, in place of the block that is there. */
export function withVariables(text: string, variables: string): string {
  const block = `${begin}\n${variables.trim()}\n${end}\n`;
  const [before = '', rest] = splitAt(text, begin);
  if (rest === undefined) return joined(text, block);
  const [, after = ''] = splitAt(rest, end);
  return before + inLinesOf(text, block) + after.replace(/^\r?\n/, '');
}

/** Adds the file with our secrets to `supabase/.gitignore`, unless one of these texts ignores it. */
export function withIgnoredSecrets(text: string, others: readonly string[]): string {
  const isIgnored = [text, ...others].some((rules) =>
    /^\s*(?:(?:\*\*\/|\/?supabase\/functions\/|\/?functions\/)?\.env\*?|\*?\.env\*?|\/?(?:supabase\/)?functions\/\*?\.env\*?)\s*$/m
      .test(rules)
  );
  return isIgnored ? text : joined(text, '# Secrets of the functions\nfunctions/.env\n', '');
}

/** Adds a part at the end, after an empty line. */
export function joined(text: string, part: string, gap = '\n'): string {
  if (text.trim() === '') return part;
  return `${text}${/\n$/.test(text) ? '' : inLinesOf(text, '\n')}${inLinesOf(text, gap + part)}`;
}

/** With the line breaks of a text. */
export function inLinesOf(text: string, part: string): string {
  return /\r\n/.test(text) ? part.replaceAll('\n', '\r\n') : part;
}

function splitAt(text: string, line: string): string[] {
  const index = text.indexOf(line);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + line.length)];
}
