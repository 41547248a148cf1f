import { root } from '../root.ts';

const contentTypes: Record<string, string> = {
  css: 'text/css',
  ico: 'image/x-icon',
  js: 'text/javascript',
  woff2: 'font/woff2',
};

/** Answers a request for a file of Studio, `/static/…`; undefined for any other path. */
export function serveStudioAsset(request: Request): Promise<Response> | undefined {
  const { pathname } = new URL(request.url);
  if (!pathname.startsWith('/static/')) return undefined;
  // The pattern allows no `..`, so no path leads out of the folder.
  const [, path, extension] = /^\/static\/((?:assets\/)?[\w-]+\.(\w+))$/.exec(pathname) ?? [];
  return readAsset(path, contentTypes[extension ?? '']);
}

async function readAsset(path: string | undefined, contentType: string | undefined): Promise<Response> {
  const notFound = new Response('Not found', { status: 404 });
  if (path === undefined || contentType === undefined) return notFound;
  try {
    const file = await Deno.open(`${root}/node_modules/@supabase/lite/dist/static/${path}`);
    return new Response(file.readable, { headers: { 'content-type': contentType } });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return notFound;
    throw error;
  }
}
