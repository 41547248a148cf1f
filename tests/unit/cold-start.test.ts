import { expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';

type Module = {
  specifier: string;
  dependencies?: { specifier: string; code?: { specifier?: string }; isDynamic?: boolean }[];
};

const path = `${root}/supabase/functions/api`;
const folder = `file://${path}`;

/** The modules that are loaded before the first request: static imports, without dynamic ones. */
async function loadedAtStart(): Promise<{ files: string[]; imports: string[] }> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ['info', '--json', '--node-modules-dir=manual', '--config', `${path}/deno.json`, `${path}/index.ts`],
    cwd: root,
  }).output();
  const { modules }: { modules: Module[] } = JSON.parse(new TextDecoder().decode(stdout));
  const files = new Set<string>();
  const imports = new Set<string>();
  const visit = (specifier: string) => {
    if (files.has(specifier)) return;
    files.add(specifier);
    const { dependencies = [] } = modules.find((module) => module.specifier === specifier) ?? {};
    for (const { specifier: name, code, isDynamic } of dependencies) {
      if (isDynamic || code?.specifier === undefined) continue;
      if (code.specifier.startsWith(folder)) visit(code.specifier);
      else imports.add(name);
    }
  };
  visit(`${folder}/index.ts`);
  return { files: [...files].map((file) => file.slice(folder.length + 1)), imports: [...imports].sort() };
}

test('the start loads no database transport and no module that few requests need', async () => {
  const { files, imports } = await loadedAtStart();
  expect(imports).toEqual([
    '@supabase/supabase-js/cors',
    'hono',
    'hono/cors',
    'hono/factory',
    'hono/route',
    'node:crypto',
    'zod',
  ]);
  expect(files).toContain('routes/verify-payment.ts');
  for (
    const later of [
      'database/pool-transport.ts',
      'database/rest-transport.ts',
      'outbox/render-email.ts',
      'generated/emails.js',
      'generated/openapi.json',
      'openapi/operations.ts',
    ]
  ) {
    expect(files).not.toContain(later);
  }
});
