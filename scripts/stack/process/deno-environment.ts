/** What Deno itself needs of this process's environment to run another program: its cache, no colours, no update check. */
export function denoEnvironment(): Record<string, string> {
  const environment: Record<string, string> = { NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' };
  for (const name of ['HOME', 'DENO_DIR']) {
    const value = Deno.env.get(name);
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}
