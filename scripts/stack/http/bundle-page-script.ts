import { root } from '../root.ts';

/**
 * Bundles a page's TypeScript for browsers.
 * @param entry path from the project's root folder
 * @param settings become constants, as in an app's own build
 */
export async function bundlePageScript(entry: string, settings: Record<string, string>): Promise<string> {
  // Loaded here, so that the stack starts without it.
  const { build, stop } = await import('esbuild');
  try {
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: [entry],
      bundle: true,
      write: false,
      format: 'esm',
      target: 'es2022',
      minify: true,
      define: Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, JSON.stringify(value)])),
    });
    return outputFiles[0]?.text ?? '';
  } finally {
    await stop(); // ends esbuild's process
  }
}
