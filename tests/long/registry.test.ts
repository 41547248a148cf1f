import { expect, test } from 'vitest';
import { readProduct } from '../../scripts/add/product.ts';
import { buildRegistry } from '../../scripts/generate/registry.ts';
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

const react = '19.3.1';
/** A new app of React and Tailwind, with the page as its only content. */
const reactApp: Record<string, string> = {
  'index.html': '<!doctype html><div id="root"></div><script type="module" src="/src/main.tsx"></script>',
  'vite.config.ts': `import tailwindcss from '@tailwindcss/vite';
import { defineConfig } from 'vite';
export default defineConfig({ plugins: [tailwindcss()], resolve: { alias: { '@': import.meta.dirname + '/src' } } });`,
  'src/main.tsx': `import { createRoot } from 'react-dom/client';
import { BillingPage } from '@/components/billing-page/billing-page';
import { createSubscriptions, type SupabaseLike } from '@/lib/subscriptions';
import './index.css';
declare const supabase: SupabaseLike;
const subscriptions = createSubscriptions({ supabase });
createRoot(document.body).render(<BillingPage subscriptions={subscriptions} window={{ name: 'Acme' }} />);`,
  'src/vite-env.d.ts': `/// <reference types="vite/client" />`,
  'package.json': JSON.stringify({
    ...{ name: 'app', private: true, type: 'module' },
    dependencies: { 'react': react, 'react-dom': react, 'tailwindcss': '4.3.5', '@tailwindcss/vite': '4.3.5' },
    devDependencies: {
      ...{ 'vite': '8.3.8', 'typescript': '5.9.3', '@types/react': '19.3.0', '@types/react-dom': '19.3.0' },
    },
  }),
  // As in the template of Vite, without its option for imports with extensions.
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      ...{ target: 'es2022', module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom', 'dom.iterable'] },
      ...{ jsx: 'react-jsx', strict: true, noUnusedLocals: true, noUnusedParameters: true, verbatimModuleSyntax: true },
      ...{ noEmit: true, skipLibCheck: true, erasableSyntaxOnly: true, paths: { '@/*': ['./src/*'] } },
    },
    include: ['src'],
  }),
};

test.skipIf(cli === undefined)('npx shadcn add writes every file of the back end, byte for byte', async () => {
  await using folder = await appWith('subscriptions');
  for (const [path, bytes] of (await readProduct(root, 'api')).files) {
    expect([path, await Deno.readFile(`${folder.path}/${path}`)]).toEqual([path, bytes]);
  }
});

test.skipIf(cli === undefined)(
  'npx shadcn add writes the billing page into an app of React, and it builds',
  async () => {
    await using folder = await appWith('billing-page', reactApp);
    const client = `${folder.path}/src/lib/subscriptions.ts`;
    expect(await Deno.readTextFile(client)).toBe(await Deno.readTextFile(`${root}/supabase/client/subscriptions.ts`));
    await run(folder.path, 'npm', ['install', '--no-audit', '--no-fund']);
    await run(folder.path, 'node_modules/.bin/tsc', []);
    await run(folder.path, 'node_modules/.bin/vite', ['build']);
    const assets = [...Deno.readDirSync(`${folder.path}/dist/assets`)].map(({ name }) => name);
    const sheet = assets.find((name) => name.endsWith('.css'));
    expect(await Deno.readTextFile(`${folder.path}/dist/assets/${sheet}`)).toContain('--bp-main');
  },
);

/** An app to which the CLI added an item from a server of the registry. */
async function appWith(item: string, files: Record<string, string> = {}) {
  const registry = await buildRegistry();
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen() {} }, ({ url }) => {
    const name = new URL(url).pathname.replace('/r/', '');
    return name === 'colors/neutral.json'
      ? Response.json(colours)
      : new Response(registry.get(name) ?? null, { status: registry.has(name) ? 200 : 404 });
  });
  const path = await Deno.makeTempDir({ prefix: 'shadcn-' });
  const address = `http://127.0.0.1:${server.addr.port}/r`;
  const remove = () => Deno.remove(path, { recursive: true });
  try {
    await Deno.mkdir(`${path}/src`);
    await Deno.writeTextFile(`${path}/src/index.css`, '@import "tailwindcss";\n');
    const texts = Object.entries(app).map(([name, value]) => [name, JSON.stringify(value)] as const);
    for (const [name, text] of [...texts, ...Object.entries(files)]) await Deno.writeTextFile(`${path}/${name}`, text);
    await run(path, cli ?? '', ['add', `${address}/${item}.json`, '--yes'], { REGISTRY_URL: address });
  } catch (error) {
    await remove();
    throw error;
  } finally {
    await server.shutdown();
  }
  return { path, [Symbol.asyncDispose]: remove };
}

async function run(cwd: string, command: string, args: string[], env: Record<string, string> = {}): Promise<void> {
  const signal = AbortSignal.timeout(120_000);
  const file = command.includes('node_modules') && !command.startsWith('/') ? `${cwd}/${command}` : command;
  const { code, stdout, stderr } = await new Deno.Command(file, { args, cwd, env, stdin: 'null', signal }).output();
  expect(code, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)).toBe(0);
}
