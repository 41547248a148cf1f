import { root } from '../stack/root.ts';

/** Checks that the deployed package versions are the tested ones. @returns one line for each that differs. */
export async function checkVersions(): Promise<string[]> {
  const { dependencies } = JSON.parse(
    await Deno.readTextFile(`${root}/package.json`),
  );
  const { imports } = JSON.parse(
    await Deno.readTextFile(`${root}/supabase/functions/api/deno.json`),
  );
  return Object.entries<string>(imports).flatMap(([name, target]) => {
    const version = dependencies[name.replace(/\/$/, '')];
    return new RegExp(`^npm:/?${name.replace(/\/$/, '')}@${version}/?$`).test(
        target,
      )
      ? []
      : [
        `functions/api/deno.json has ${target}, package.json has ${name}@${version}`,
      ];
  });
}
