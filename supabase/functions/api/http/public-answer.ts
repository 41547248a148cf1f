// @ts-types="../node-crypto.d.ts"
import { createHash } from 'node:crypto';
import type { Answer } from './answer.ts';

/** An answer that any cache may keep: 200 with an `etag`, or 304 where the caller has it. */
export function publicAnswer(
  { headers: requested }: Request,
  { json, outcome, maxAge, headers }: {
    readonly json: string;
    readonly outcome: string;
    /** Seconds. */
    readonly maxAge: number;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Answer {
  const etag = weakTag(json);
  const cached = { etag, 'cache-control': `public, max-age=${maxAge}`, ...headers };
  const known = requested.get('if-none-match')?.split(',').map((tag) => tag.trim()) ?? [];
  // A weak comparison: a cache may have turned the weak tag into a strong one.
  if (known.some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag.replace(/^W\//, ''))) {
    return { status: 304, body: undefined, outcome: 'unchanged', headers: cached };
  }
  return { status: 200, json, outcome, headers: cached };
}

function weakTag(text: string): string {
  return `W/"${createHash('sha256').update(text).digest('hex').slice(0, 16)}"`;
}
