import { build, stop } from 'esbuild';
import { root } from './stack/root.ts';

/** Path of the generated bundle. */
export const emailsFile = `${root}/supabase/functions/api/generated/emails.js`;

/** Path of its types. */
export const emailsTypesFile = `${root}/supabase/functions/api/generated/emails.d.ts`;

const header = '// GENERATED from emails/ by `npm run generate`. DO NOT EDIT.';

if (import.meta.main) {
  await Deno.writeTextFile(emailsFile, await buildEmails());
  await Deno.writeTextFile(emailsTypesFile, await emailsTypes());
}

/**
 * Bundles the templates and their renderer into one module: npm imports would add a hundred times its size to the
 * deploy.
 * @returns the text of the module; it depends only on the sources and the packages.
 */
export async function buildEmails(): Promise<string> {
  try {
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: ['emails/render.ts'],
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'neutral',
      conditions: ['deno'],
      target: 'deno2.1',
      mainFields: ['module', 'main'],
      jsx: 'automatic',
      // React reads it, and the function may lack the permission to read it.
      define: { 'process.env.NODE_ENV': '"production"' },
      // `react-dom/server` contains two renderers. The mails need only the one that returns a string.
      alias: { 'react-dom/server': './node_modules/react-dom/cjs/react-dom-server-legacy.browser.production.js' },
      minify: true,
      lineLimit: 120,
      legalComments: 'eof',
      banner: { js: `${header}\n// @ts-self-types="./emails.d.ts"` },
    });
    const [bundle] = outputFiles;
    if (bundle === undefined) throw new Error('The mails could not be bundled');
    return bundle.text;
  } finally {
    // The service process of esbuild would keep this process alive.
    await stop();
  }
}

/** @returns the text of the bundle's types. */
export async function emailsTypes(): Promise<string> {
  const types = await Deno.readTextFile(`${root}/emails/mails.ts`);
  return `${header}\n\n${types.replace(/^\/\/.*\n+/, '')}\nexport declare const mails: Mails;\n`;
}
