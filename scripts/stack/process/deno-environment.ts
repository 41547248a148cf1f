/** The environment that Deno itself needs to run a program: its cache folder, no colours, no update check. */
export function denoEnvironment(): Record<string, string> {
  const environment: Record<string, string> = { NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' };
  for (const name of ['HOME', 'DENO_DIR']) {
    const value = Deno.env.get(name);
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
