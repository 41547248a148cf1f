import { functionSection } from '../add/config-toml.ts';
import { pathsBelow, readProduct } from '../add/product.ts';
import { root } from '../stack/root.ts';

/** Where `npm run generate` writes the registry. Git ignores it: it contains every installed file once more. */
export const registryFolder = `${root}/supabase/.temp/registry/r`;

const blockFolder = `${root}/supabase/client/blocks/billing-page`;
const clientFile = `${root}/supabase/client/subscriptions.ts`;

type RegistryFile = {
  path: string;
  type: 'registry:file' | 'registry:component';
  target: string;
  content: string;
};
type RegistryItem = {
  $schema: string;
  name: string;
  type: 'registry:block';
  title: string;
  description: string;
  files: RegistryFile[];
  docs: string;
};

/** Writes the files of the registry. */
export async function generateRegistry(): Promise<void> {
  await Deno.mkdir(registryFolder, { recursive: true });
  for (const [name, text] of await buildRegistry()) await Deno.writeTextFile(`${registryFolder}/${name}`, text);
}

/**
 * Makes the registry for `npx shadcn add <address>/r/<name>.json`: `subscriptions`, the files of `npm run add` under the
 * name `api`, and `billing-page`, a page for React with the client.
 * @returns the text of each file by its name
 */
export async function buildRegistry(): Promise<Map<string, string>> {
  const { name, description, homepage = '' }: { name: string; description: string; homepage?: string } = JSON.parse(
    await Deno.readTextFile(`${root}/package.json`),
  );
  const items = [await backEnd(description), await billingPage()];
  const listed = items.map(({ $schema: _, ...item }) => (
    { ...item, files: item.files.map(({ content: _, ...file }) => file) }
  ));
  const index = { $schema: 'https://ui.shadcn.com/schema/registry.json', name, homepage, items: listed };
  return new Map([
    ['registry.json', textOf(index)],
    ...items.map((item) => [`${item.name}.json`, textOf(item)] as const),
  ]);
}

async function backEnd(description: string): Promise<RegistryItem> {
  const { files, variables } = await readProduct(root, 'api');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  return {
    $schema: 'https://ui.shadcn.com/schema/registry-item.json',
    name: 'subscriptions',
    type: 'registry:block',
    title: 'Subscriptions',
    description,
    files: [...files].map(([path, bytes]) => ({
      path,
      type: 'registry:file',
      target: `~/${path}`,
      content: decoder.decode(bytes),
    })),
    docs: `Add to supabase/config.toml:\n\n${functionSection('api')}\n` +
      `Add to supabase/functions/.env.example, and supabase/functions/.env to .gitignore:\n\n${variables}`,
  };
}

async function billingPage(): Promise<RegistryItem> {
  const files = (await pathsBelow(blockFolder)).map(async (name): Promise<RegistryFile> => ({
    path: `components/billing-page/${name}`,
    type: 'registry:component',
    target: `@components/billing-page/${name}`,
    content: forApps(await Deno.readTextFile(`${blockFolder}/${name}`)),
  }));
  // The CLI changes components and libraries, and removes their first comments. A file it leaves as it is.
  const client: RegistryFile = {
    path: 'lib/subscriptions.ts',
    type: 'registry:file',
    target: '@lib/subscriptions.ts',
    content: await Deno.readTextFile(clientFile),
  };
  return {
    $schema: 'https://ui.shadcn.com/schema/registry-item.json',
    name: 'billing-page',
    type: 'registry:block',
    title: 'Billing page',
    description:
      'Prices by month and year, the current plan, changes with preview, cancellation, payments, receipts and billing details',
    files: [...await Promise.all(files), client],
    docs: await Deno.readTextFile(`${root}/scripts/generate/registry/billing-page.md`),
  };
}

/** With the imports of an app: bundlers and TypeScript find files without extensions, and the CLI adapts the alias. */
function forApps(source: string): string {
  const withoutReference = source.replace('/// <reference lib="dom" />\n', ''); // for Deno
  return withoutReference.replaceAll("'../../subscriptions.ts'", "'@/lib/subscriptions'").replace(
    /(from '\.\/[^']+)\.tsx?'/g,
    "$1'",
  );
}

function textOf(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
