import { isDeepStrictEqual } from 'node:util';
import { parse, patch } from '@decimalturn/toml-patch';
import { inLinesOf, joined } from './texts.ts';

/** The file of the app in which the platform's CLI finds the functions. */
export const configPath = 'supabase/config.toml';

type Table = Record<string, unknown>;

/** The section of our function in `config.toml`. */
export function functionSection(name: string): string {
  return `[functions.${name}]
# The function checks sessions itself, and the gateway's webhooks carry none.
verify_jwt = false
# \`functions deploy --use-api\` uploads what the function imports, and these.
static_files = ["./functions/${name}/deno.lock"]
`;
}

/**
 * Adds the section of our function to the text of `config.toml`, in whichever of TOML's notations the app has it.
 * @returns undefined where the app makes the platform check sessions
 * @throws Error where the text is no TOML, or can't be changed so that it has our section and is otherwise the same
 */
export function withFunction(text: string, name: string): string | undefined {
  const wanted = parseConfig(text);
  const added = tableOf(parseConfig(functionSection(name)).functions, 'functions');
  const functions = tableOf(wanted.functions ??= added, 'functions');
  const isNamed = functions !== added && name in functions;
  const section = tableOf(functions[name] ??= added[name], `functions.${name}`);
  if (isNamed && 'verify_jwt' in section) return section.verify_jwt === false ? text : undefined;
  section.verify_jwt = false;
  // A section at the end carries its comments. It is no TOML where the app has its functions in one inline table.
  const candidates = [...(isNamed ? [] : [() => joined(text, functionSection(name))]), () => patch(text, wanted)];
  const found = candidates.map((change) => resultOf(change))
    .find((after) => after !== undefined && isDeepStrictEqual(resultOf(() => parse(after)), wanted));
  if (found !== undefined) return found;
  throw new Error(
    `${configPath} can't be changed. Way out: add \`verify_jwt = false\` to functions.${name} there, and run again.`,
  );
}

/** Removes the section of our function under its earlier name, unless the app has changed it. */
export function withoutFunction(text: string, name: string): string {
  return text.replace(inLinesOf(text, `\n${functionSection(name)}`), '');
}

/** @throws Error where a text is no TOML */
function parseConfig(text: string): Table {
  try {
    return parse(text) as Table;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${configPath} is not valid TOML. Way out: mend it, and run again.\n${reason}`);
  }
}

function tableOf(value: unknown, key: string): Table {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Table;
  throw new Error(`${key} of ${configPath} is not a table. Way out: mend it, and run again.`);
}

function resultOf<T>(change: () => T): T | undefined {
  try {
    return change();
  } catch {
    return undefined;
  }
}
