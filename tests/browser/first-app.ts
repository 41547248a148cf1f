import { build, stop } from 'esbuild';
import { onTestFinished } from 'vitest';
import { root } from '../../scripts/stack/root.ts';

/**
 * Serves the React app of `supabase/docs/gateway.md`, "An app from nothing", for the rest of the test.
 * @returns its address
 */
export async function serveFirstApp(env: Record<string, string | undefined>): Promise<string> {
  const guide = await Deno.readTextFile(`${root}/supabase/docs/gateway.md`);
  const [, app] = /`src\/App\.tsx`:\n\n```tsx\n(.*?)```/s.exec(guide) ?? [];
  if (app === undefined) throw new Error('the guide has no src/App.tsx');
  const settings = {
    VITE_API_URL: env.API_URL,
    VITE_PUBLISHABLE_KEY: env.PUBLISHABLE_KEY,
    VITE_GATEWAY_URL: env.GATEWAY_URL,
  };
  const { outputFiles } = await build({
    // What `src/main.tsx` of the template does.
    stdin: {
      contents: `import { createRoot } from 'react-dom/client';\n${app}
        createRoot(document.getElementById('root')).render(<App />);`,
      loader: 'tsx',
      resolveDir: `${root}/supabase/client`,
    },
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    define: { 'import.meta.env': JSON.stringify(settings), 'process.env.NODE_ENV': '"development"' },
  }).finally(stop);
  const page = '<!doctype html><title>App</title><div id="root"></div><script type="module" src="/app.js"></script>';
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen() {} }, (request) => {
    const isScript = new URL(request.url).pathname === '/app.js';
    const headers = { 'content-type': isScript ? 'text/javascript' : 'text/html' };
    return new Response(isScript ? outputFiles[0]?.text : page, { headers });
  });
  onTestFinished(() => server.shutdown());
  return `http://localhost:${server.addr.port}/`;
}
