// Refreshes cached pages: app/api/revalidate/route.ts of a Next.js app.
import { createHash, timingSafeEqual } from 'node:crypto';
import { revalidatePath } from 'next/cache';

const digest = (text: string) => createHash('sha256').update(text).digest();

export async function POST(request: Request) {
  const secret = process.env.REVALIDATE_SECRET;
  const given = request.headers.get('x-revalidate-secret') ?? '';
  if (!secret || !timingSafeEqual(digest(given), digest(secret))) {
    return Response.json({ error: 'Unauthorized' }, { status: 401 });
  }
  const { paths } = await request.json();
  if (!Array.isArray(paths) || !paths.every((path) => typeof path === 'string')) {
    return Response.json({ error: 'Invalid request' }, { status: 400 });
  }
  for (const path of paths) revalidatePath(path);
  return Response.json({ revalidated: true });
}
