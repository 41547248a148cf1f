import { readProduct } from './add/product.ts';
import { functionSection } from './add/texts.ts';
import { root } from './stack/root.ts';

/** Where `npm run generate` writes the registry. Git ignores it: it contains every installed file once more. */
export const registryFolder = `${root}/supabase/.temp/registry/r`;

type RegistryFile = { path: string; type: 'registry:file'; target: string; content: string };
type RegistryItem = {
  $schema: string;
  name: string;
  type: 'registry:block';
  title: string;
  description: string;
  files: RegistryFile[];
  docs: string;
};

if (import.meta.main) {
  await Deno.mkdir(registryFolder, { recursive: true });
  for (const [name, text] of await buildRegistry()) await Deno.writeTextFile(`${registryFolder}/${name}`, text);
}

/**
 * Makes the registry for `npx shadcn add <address>/r/subscriptions.json`: the files of `npm run add` under the name `api`.
 * @returns the text of each file by its name
 */
export async function buildRegistry(): Promise<Map<string, string>> {
  const { name, description, homepage = '' }: { name: string; description: string; homepage?: string } = JSON.parse(
    await Deno.readTextFile(`${root}/package.json`),
  );
  const item = await backEnd(description);
  const { $schema: _, ...listed } = { ...item, files: item.files.map(({ content: _, ...file }) => file) };
  const index = { $schema: 'https://ui.shadcn.com/schema/registry.json', name, homepage, items: [listed] };
  return new Map([['registry.json', textOf(index)], [`${item.name}.json`, textOf(item)]]);
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

function textOf(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
