import { build, type Metafile, type Plugin, stop } from 'esbuild';
import { root } from '../stack/root.ts';

/** Path of the generated bundle. */
export const emailsFile = `${root}/supabase/functions/api/generated/emails.js`;

/** Path of its types. */
export const emailsTypesFile = `${root}/supabase/functions/api/generated/emails.d.ts`;

const header = '// GENERATED from emails/ by `npm run generate`. DO NOT EDIT.';

/** Writes both files. */
export async function generateEmails(): Promise<void> {
  await Deno.writeTextFile(emailsFile, await buildEmails());
  await Deno.writeTextFile(emailsTypesFile, await emailsTypes());
}

/** The folder of the templates in this project. */
export const emailsFolder = `${root}/emails`;

/**
 * Bundles the templates and their renderer into one module: npm imports would add a hundred times its size to the
 * deploy.
 * @param entry the module with the renderer
 * @param app a folder with packages that this project does not have
 * @returns the text of the module; it depends only on the sources and the packages.
 * @throws Error with the place in a source that can't be bundled
 */
export async function buildEmails(entry = `${emailsFolder}/render.ts`, app = root): Promise<string> {
  try {
    const { outputFiles, metafile } = await build({
      absWorkingDir: root,
      entryPoints: [entry],
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'neutral',
      conditions: ['deno'],
      target: 'deno2.1',
      mainFields: ['module', 'main'],
      plugins: [packagesFrom(app)],
      logLevel: 'silent', // the error has it
      jsx: 'automatic',
      // React reads it, and the function may lack the permission to read it.
      define: { 'process.env.NODE_ENV': '"production"' },
      // `react-dom/server` contains two renderers. The mails need only the one that returns a string.
      alias: { 'react-dom/server': './node_modules/react-dom/cjs/react-dom-server-legacy.browser.production.js' },
      minify: true,
      lineLimit: 120,
      legalComments: 'eof',
      charset: 'utf8', // Hindi is half as long
    });
    const [bundle] = outputFiles;
    if (bundle === undefined) throw new Error('The mails could not be bundled');
    return `${header}\n// Contains ${
      packagesIn(metafile).join(', ')
    }.\n// @ts-self-types="./emails.d.ts"\n${bundle.text}`;
  } finally {
    // The service process of esbuild would keep this process alive.
    await stop();
  }
}

/** Packages of this project, with which the mails are tested, else those of an app. */
function packagesFrom(app: string): Plugin {
  const isOurs = Symbol();
  return {
    name: 'packages',
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, pluginData }) => {
        if (pluginData === isOurs || importer.includes('/node_modules/')) return undefined;
        const found = await build.resolve(path, { kind, resolveDir: root, pluginData: isOurs });
        return found.errors.length === 0 ? found : build.resolve(path, { kind, resolveDir: app, pluginData: isOurs });
      });
    },
  };
}

/** @returns the text of the bundle's types. */
export async function emailsTypes(): Promise<string> {
  const types = await Deno.readTextFile(`${root}/emails/mails.ts`);
  return `${header}\n\n${types.replace(/^\/\/.*\n+/, '')}\nexport declare const mails: Mails;\n`;
}

/** The packages of which the bundle has code, by their paths below `node_modules`. */
function packagesIn({ outputs }: Metafile): string[] {
  const inputs = Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const paths = inputs.flatMap(([path, { bytesInOutput }]) =>
    bytesInOutput > 0 ? /^node_modules\/((?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [] : []
  );
  return [...new Set(paths)].toSorted();
}
