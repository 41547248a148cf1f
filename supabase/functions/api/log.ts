/** One JSON object a line. Callers pass no secret, token, signature or address. */
export type Log = (entry: Readonly<Record<string, unknown>>) => void;

/** Logs to the console, which the platform collects. */
export const consoleLog: Log = (entry) => {
  // deno-lint-ignore no-console
  console.log(JSON.stringify(entry));
};
