import { z } from 'zod';
import type { RevalidationConfig } from '../config.ts';
import type { Delivery, OutboxRow, Sender } from '../ports.ts';
import { attemptTimeoutMilliseconds, readStatus } from './outbox.ts';

const payload = z.object({ paths: z.array(z.string()) });

/** Calls the app to refresh cached pages, once for all claimed rows, with merged paths. Contract: Cached pages. */
export function createRevalidator(config: RevalidationConfig): Sender {
  return (rows) => [{ rows, deliver: () => revalidate(config, rows) }];
}

/** For an app without cached pages: marks rows as delivered without a call. */
export const nothingToRevalidate: Sender = (rows) => [
  { rows, deliver: () => Promise.resolve({ status: 'delivered' }) },
];

async function revalidate({ url, secret }: RevalidationConfig, rows: readonly OutboxRow[]): Promise<Delivery> {
  try {
    const paths = new Set(rows.flatMap((row) => payload.parse(row.payload).paths));
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-revalidate-secret': secret },
      body: JSON.stringify({ paths: [...paths] }),
      // A redirect may lead to a page that answers 200 and refreshes nothing.
      redirect: 'manual',
      signal: AbortSignal.timeout(attemptTimeoutMilliseconds),
    });
    await response.body?.cancel();
    return readStatus(response.status, `HTTP ${response.status}`, response.headers.get('retry-after'));
  } catch (error) {
    return { status: 'failed', error: error instanceof Error ? error.name : 'unknown' };
  }
}
