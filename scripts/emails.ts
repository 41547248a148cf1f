/**
 * `npm run emails`: shows the mails of this project, or of the folder of an app, with sample values. `--bundle` writes what
 * the function sends. Exit code 1: the templates can't be rendered. 2: wrong arguments.
 */
import { resolve } from 'node:path';
import { type Installed, readIfExists, readInstalled, recordPath } from './add/installed.ts';
import { type Product, readProduct } from './add/product.ts';
import { writeSteps } from './add/write-steps.ts';
import { portOf, readArguments } from './command-line.ts';
import { bundlePath, findEditedMails, mailsRoom, readAppMails, withMails } from './emails/app-mails.ts';
import { createPreview } from './emails/preview.ts';
import { renderSamples } from './emails/render-samples.ts';
import { generateEmails } from './generate/emails.ts';
import { readEnvironment } from './stack/function/environment.ts';
import { writeLine } from './stack/process/child.ts';
import { onParentEnd } from './stack/process/parent.ts';
import { root } from './stack/root.ts';

const usage = `Usage: npm run emails -- [FOLDER] [--port N] [--bundle]
  serves a page with the mails until Ctrl-C
  FOLDER     the folder of an app with the service: the mails of its supabase/emails/. Default: emails/ of this project
  --port N   the port of the page that shows the mails (3030)
  --bundle   show nothing: write what the function sends, as npm run add and npm run generate do`;

const { folder, port, bundle } = readArguments(
  usage,
  { port: { type: 'string', default: '3030' }, bundle: { type: 'boolean', default: false } },
  (values, [given, ...more]) => {
    if (more.length > 0) throw new Error('Name one folder');
    // npm starts scripts in the folder of package.json.
    const folder = given === undefined ? undefined : resolve(Deno.env.get('INIT_CWD') ?? Deno.cwd(), given);
    return { folder: folder === root ? undefined : folder, port: portOf(values.port, 0), bundle: values.bundle };
  },
);
try {
  const installed = folder === undefined ? undefined : await readInstalled(folder);
  if (folder !== undefined && installed === undefined) {
    throw new Error(`${folder}/${recordPath} is missing: run \`npm run add -- <folder>\` first`);
  }
  const product = await readProduct(root, installed?.function ?? 'api');
  if (!bundle) await show(folder ?? root, installed, product);
  else if (folder === undefined || installed === undefined) await generateEmails();
  else await writeBundle(folder, installed, product);
  Deno.exit(0);
} catch (error) {
  writeLine(error instanceof Error ? error.message : String(error));
  Deno.exit(1);
}

async function writeBundle(folder: string, installed: Installed, product: Product): Promise<void> {
  if (installed.version !== product.version) {
    throw new Error(
      `The app has version ${installed.version}, this is ${product.version}: run \`npm run add -- <folder>\``,
    );
  }
  const path = bundlePath(installed.function);
  const mails = await readAppMails(folder, installed, product);
  const bytes = mails.bundle ?? product.files.get(path);
  if (bytes === undefined || mails.problem !== undefined) throw new Error(mails.problem);
  const kind = await readIfExists(`${folder}/${path}`) === undefined ? 'add' : 'change';
  await writeSteps(folder, [{ path, kind, bytes }]);
  writeLine(
    `${path} is made from ${mailsRoom}. To send it: npx supabase functions deploy ${installed.function} --use-api`,
  );
}

/** Serves the mails until a signal. The templates are read for each page. */
async function show(folder: string, installed: Installed | undefined, product: Product): Promise<void> {
  const ended = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] satisfies Deno.Signal[]) {
    Deno.addSignalListener(signal, () => ended.resolve());
  }
  onParentEnd(() => ended.resolve());
  const preview = createPreview(port, async () => {
    const variables = await readEnvironment(Deno.env.toObject(), {}, `${folder}/supabase/functions/.env`);
    const { EMAIL_BRAND: brand, EMAIL_LOGO_URL: logoUrl, EMAIL_FOOTER: footer, EMAIL_ACCENT: accent } = variables;
    const locale = variables.EMAIL_LOCALE === 'hi' ? 'hi' as const : 'en' as const;
    const look = { brand, logoUrl, footer: footer?.replaceAll('\\n', '\n'), accent, locale };
    const edited = installed === undefined ? [] : await findEditedMails(folder, installed, product);
    return await withMails(folder, product, edited, (entry) => renderSamples(entry, folder, look));
  });
  await preview.start();
  const lines = [
    `The mails of ${
      folder === root ? 'emails/' : `${folder}/${mailsRoom}`
    }, with sample values and the EMAIL_… variables:`,
    `EMAILS_URL=${JSON.stringify(preview.url)}`,
    'Edit a template and reload the page. Ctrl-C ends it.',
    'ready',
  ];
  Deno.stdout.writeSync(new TextEncoder().encode(`${lines.join('\n')}\n`));
  await ended.promise;
  await preview.stop();
}
