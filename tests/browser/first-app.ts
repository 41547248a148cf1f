import { build, preview } from 'vite';
import { onTestFinished } from 'vitest';
import { root } from '../../scripts/stack/root.ts';

/**
 * Builds the React app `supabase/docs/first-app.tsx` with Vite, and serves it for the rest of the test. @returns its address
 */
export async function serveFirstApp(env: Record<string, string | undefined>): Promise<string> {
  // Below the project, where its packages are found.
  const folder = await Deno.makeTempDir({ dir: `${root}/supabase/.temp`, prefix: 'first-app-' });
  onTestFinished(() => Deno.remove(folder, { recursive: true }));
  await Deno.mkdir(`${folder}/src`);
  const files = {
    '.env.local':
      `VITE_API_URL=${env.API_URL}\nVITE_PUBLISHABLE_KEY=${env.PUBLISHABLE_KEY}\nVITE_GATEWAY_URL=${env.GATEWAY_URL}\n`,
    // With what the template's page and styles say about phones and dark colours.
    'index.html': `<!doctype html><html lang="en"><title>App</title>
      <meta name="viewport" content="width=device-width, initial-scale=1.0">
      <style>:root { color-scheme: light dark; font-family: system-ui }</style>
      <div id="root"></div><script type="module" src="/src/main.tsx"></script></html>`,
    'src/App.tsx': await Deno.readTextFile(`${root}/supabase/docs/first-app.tsx`),
    'src/subscriptions.ts': await Deno.readTextFile(`${root}/supabase/client/subscriptions.ts`),
    // As in the template.
    'src/main.tsx': `import { createRoot } from 'react-dom/client';
      import App from './App.tsx';
      createRoot(document.getElementById('root')).render(<App />);`,
  };
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, text);
  const config = { root: folder, configFile: false, logLevel: 'error' } as const;
  await build(config);
  const server = await preview({ ...config, preview: { host: '127.0.0.1', port: 0 } });
  onTestFinished(() => server.close());
  return server.resolvedUrls?.local[0] ?? '';
}
