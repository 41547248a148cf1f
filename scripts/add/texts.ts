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

/**
 * Adds the section of our function to `supabase/config.toml`.
 * @returns undefined where the app has a section that makes the platform check sessions
 */
export function withFunction(text: string, name: string): string | undefined {
  const section = sectionOf(text, name);
  if (section === undefined) return joined(text, functionSection(name));
  const [, verified] = /^\s*verify_jwt\s*=\s*(\w+)/m.exec(section) ?? [];
  if (verified === undefined) return text.replace(section, () => section.replace(/\n|$/, '\nverify_jwt = false\n'));
  return verified === 'false' ? text : undefined;
}

/** Removes the section of our function under its earlier name, unless the app has changed it. */
export function withoutFunction(text: string, name: string): string {
  return text.replace(inLinesOf(text, `\n${functionSection(name)}`), '');
}

/** Adds the file with our secrets to `supabase/.gitignore`, unless one of these texts ignores it. */
export function withIgnoredSecrets(text: string, others: readonly string[]): string {
  const isIgnored = [text, ...others].some((rules) =>
    /^\s*(?:(?:\*\*\/|\/?supabase\/functions\/|\/?functions\/)?\.env\*?|\*?\.env\*?|\/?(?:supabase\/)?functions\/\*?\.env\*?)\s*$/m
      .test(rules)
  );
  return isIgnored ? text : joined(text, '# Secrets of the functions\nfunctions/.env\n', '');
}

/** The section of our function in `config.toml`. */
export function functionSection(name: string): string {
  return `[functions.${name}]
# The function checks sessions itself, and the gateway's webhooks carry none.
verify_jwt = false
# \`functions deploy --use-api\` uploads what the function imports, and these.
static_files = ["./functions/${name}/deno.lock"]
`;
}

function sectionOf(text: string, name: string): string | undefined {
  return new RegExp(`^[ \\t]*\\[functions\\.(?:${name}|"${name}")\\][^\\n]*(?:\\n(?![ \\t]*\\[)[^\\n]*)*`, 'm').exec(
    text,
  )
    ?.[0];
}

/** Adds a part at the end, after an empty line. */
function joined(text: string, part: string, gap = '\n'): string {
  if (text.trim() === '') return part;
  return `${text}${/\n$/.test(text) ? '' : inLinesOf(text, '\n')}${inLinesOf(text, gap + part)}`;
}

/** With the line breaks of a text. */
function inLinesOf(text: string, part: string): string {
  return /\r\n/.test(text) ? part.replaceAll('\n', '\r\n') : part;
}

function splitAt(text: string, line: string): string[] {
  const index = text.indexOf(line);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + line.length)];
}
