import { expect, test } from 'vitest';
import { readProduct } from '../../scripts/add/product.ts';
import { buildRegistry } from '../../scripts/registry.ts';
import { root } from '../../scripts/stack/root.ts';

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
  const registry = await buildRegistry();
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen() {} }, ({ url }) => {
    const name = new URL(url).pathname.replace('/r/', '');
    return name === 'colors/neutral.json'
      ? Response.json(colours)
      : new Response(registry.get(name) ?? null, { status: registry.has(name) ? 200 : 404 });
  });
  const folder = await Deno.makeTempDir({ prefix: 'shadcn-' });
  const address = `http://127.0.0.1:${server.addr.port}/r`;
  try {
    await Deno.mkdir(`${folder}/src`);
    await Deno.writeTextFile(`${folder}/src/index.css`, '@import "tailwindcss";\n');
    for (const [name, value] of Object.entries(app)) {
      await Deno.writeTextFile(`${folder}/${name}`, JSON.stringify(value));
    }
    const { code, stdout, stderr } = await new Deno.Command(cli ?? '', {
      args: ['add', `${address}/subscriptions.json`, '--yes'],
      cwd: folder,
      env: { REGISTRY_URL: address },
      stdin: 'null',
      signal: AbortSignal.timeout(90_000),
    }).output();
    expect(code, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)).toBe(0);
    for (const [path, bytes] of (await readProduct(root, 'api')).files) {
      expect([path, await Deno.readFile(`${folder}/${path}`)]).toEqual([path, bytes]);
    }
  } finally {
    await server.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
});
