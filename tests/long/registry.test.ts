import { expect, test } from 'vitest';
import { readProduct } from '../../scripts/add/product.ts';
import { buildRegistry, generateRegistry } from '../../scripts/generate/registry.ts';
import { root } from '../../scripts/stack/root.ts';
import { blocksOf } from '../helpers/documents.ts';

// The CLI is no package of this project: `npm install shadcn` in a folder, then SHADCN_CLI=<folder>/node_modules/.bin/shadcn.
const cli = Deno.env.get('SHADCN_CLI');

const none = { light: {}, dark: {} };
/** As the CLI reads it of its own registry, for each project. */
const colours = {
  inlineColors: none,
  cssVars: none,
  cssVarsV4: none,
  inlineColorsTemplate: '',
  cssVarsTemplate: '',
};
const app: Record<string, unknown> = {
  'package.json': { name: 'app', private: true, dependencies: { tailwindcss: '4.0.0' } },
  'tsconfig.json': { compilerOptions: { baseUrl: '.', paths: { '@/*': ['./src/*'] } } },
  'components.json': {
    style: 'new-york',
    rsc: false,
    tsx: true,
    tailwind: { config: '', css: 'src/index.css', baseColor: 'neutral', cssVariables: true },
    aliases: { components: '@/components', utils: '@/lib/utils' },
  },
};

test.skipIf(cli === undefined)('npx shadcn add writes every file of the back end, byte for byte', async () => {
  await using folder = await appWith('subscriptions');
  for (const [path, bytes] of (await readProduct(root, 'api')).files) {
    expect([path, await Deno.readFile(`${folder.path}/${path}`)]).toEqual([path, bytes]);
  }
});

test.skipIf(cli === undefined)(
  'a new app of Vite by the commands of the document alone: it builds with the billing page, and has the back end',
  async () => {
    const blocks = (await blocksOf('sh')).filter(({ mark }) => mark === 'tests/long/registry.test.ts runs it');
    const [add = '', create = ''] = blocks.map(({ code }) =>
      code.replaceAll('../<clone>', root).replaceAll(/npx shadcn@\S+/g, cli ?? '').replaceAll(/ +#.*$/gm, ' --yes')
    );
    expect(blocks).toHaveLength(2);
    await generateRegistry();
    await using server = serveRegistry(new Map());
    const folder = await Deno.makeTempDir({ prefix: 'vite-' });
    try {
      const commands = `set -e\n${create.replaceAll(' --yes', '')}${add}npm run build`;
      await run(folder, 'sh', ['-c', commands], { REGISTRY_URL: server.address, npm_config_yes: 'true' });
      const app = `${folder}/my-app`;
      expect(await Deno.readTextFile(`${app}/src/lib/subscriptions.ts`))
        .toBe(await Deno.readTextFile(`${root}/supabase/client/subscriptions.ts`));
      const sheet = [...Deno.readDirSync(`${app}/dist/assets`)].find(({ name }) => name.endsWith('.css'))?.name;
      expect(await Deno.readTextFile(`${app}/dist/assets/${sheet}`)).toContain('--bp-main');
      for (const path of (await readProduct(root, 'api')).files.keys()) await Deno.stat(`${app}/${path}`);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

/** A server of registry files, and of the colours that the CLI reads from its own registry. */
function serveRegistry(registry: ReadonlyMap<string, string>) {
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen() {} }, ({ url }) => {
    const name = new URL(url).pathname.replace('/r/', '');
    return name === 'colors/neutral.json'
      ? Response.json(colours)
      : new Response(registry.get(name) ?? null, { status: registry.has(name) ? 200 : 404 });
  });
  return { address: `http://127.0.0.1:${server.addr.port}/r`, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** An app to which the CLI added an item from a server of the registry. */
async function appWith(item: string) {
  await using server = serveRegistry(await buildRegistry());
  const path = await Deno.makeTempDir({ prefix: 'shadcn-' });
  const remove = () => Deno.remove(path, { recursive: true });
  try {
    await Deno.mkdir(`${path}/src`);
    await Deno.writeTextFile(`${path}/src/index.css`, '@import "tailwindcss";\n');
    for (const [name, value] of Object.entries(app)) await Deno.writeTextFile(`${path}/${name}`, JSON.stringify(value));
    await run(path, cli ?? '', ['add', `${server.address}/${item}.json`, '--yes'], { REGISTRY_URL: server.address });
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, [Symbol.asyncDispose]: remove };
}

async function run(cwd: string, command: string, args: string[], env: Record<string, string> = {}): Promise<void> {
  const signal = AbortSignal.timeout(120_000);
  const { code, stdout, stderr } = await new Deno.Command(command, { args, cwd, env, stdin: 'null', signal }).output();
  expect(code, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)).toBe(0);
}
