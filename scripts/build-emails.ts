import { build, stop } from 'esbuild';
import { root } from './stack/root.ts';

/** Where the generated bundle lives. */
export const emailsFile = `${root}/supabase/functions/api/generated/emails.js`;

/** Where its types live. */
export const emailsTypesFile = `${root}/supabase/functions/api/generated/emails.d.ts`;

const header = '// GENERATED from emails/ by `npm run generate`. DO NOT EDIT.';

if (import.meta.main) {
  await Deno.writeTextFile(emailsFile, await buildEmails());
  await Deno.writeTextFile(emailsTypesFile, await emailsTypes());
}

/**
 * Bundles the templates and their renderer into one module: as npm imports they would bring a hundred times its size
 * into the deploy. @returns its text, the same for the same sources and packages.
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
      // React asks for it, and the function may not read every variable.
      define: { 'process.env.NODE_ENV': '"production"' },
      // `react-dom/server` is two renderers; the mails need the one that returns a string.
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
    // Its service process would keep ours alive.
    await stop();
  }
}

/** The text of the bundle's types. */
export async function emailsTypes(): Promise<string> {
  const types = await Deno.readTextFile(`${root}/emails/mails.ts`);
  return `${header}\n\n${types.replace(/^\/\/.*\n+/, '')}\nexport declare const mails: Mails;\n`;
}
