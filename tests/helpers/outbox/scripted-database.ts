import type { Failure, OutboxDatabase, OutboxRow } from '../../../supabase/functions/api/ports.ts';

/** A call that settles rows, as the database received it. */
export type Call = {
  readonly name: 'completeOutbox' | 'failOutbox';
  readonly token: string;
  readonly ids: readonly number[];
  readonly failure?: Failure;
  readonly note?: string;
};

type Script = {
  /** The answers to claims of each destination, in order. After them nothing is due. */
  readonly claims?: Record<string, (OutboxRow[] | { rows?: OutboxRow[]; parked: number } | Error)[]>;
  readonly failOutbox?: (call: { ids: readonly number[]; failure: Failure }) => { retried: number; parked: number };
  readonly nextAttemptAt?: string | null;
};

/** A fake database with only an outbox, which answers by the script. Returns it with the recorded calls. */
export function scriptedDatabase({ claims = {}, failOutbox, nextAttemptAt = null }: Script): {
  readonly database: OutboxDatabase;
  readonly calls: Call[];
  /** The destinations of each claim, joined with commas. */
  readonly claimed: string[];
} {
  const calls: Call[] = [];
  const claimed: string[] = [];
  const database: OutboxDatabase = {
    claimOutbox(destinations) {
      claimed.push(destinations.join());
      const answer = { rows: [] as (OutboxRow & { destination: string })[], parked: 0, more: [] as string[] };
      for (const destination of destinations) {
        const next = claims[destination]?.shift() ?? [];
        if (next instanceof Error) return Promise.reject(next);
        const { rows = [], parked } = 'length' in next ? { rows: next, parked: 0 } : next;
        answer.rows.push(...rows.map((row) => ({ ...row, destination })));
        answer.parked += parked;
        if (claims[destination]?.length) answer.more.push(destination);
      }
      return Promise.resolve({ token: `claim-${claimed.length}`, next_attempt_at: nextAttemptAt, ...answer });
    },
    completeOutbox(token, ids, { note, refund } = {}) {
      calls.push({ name: 'completeOutbox', token, ids, ...(note && { note }), ...(refund && { refund }) });
      return Promise.resolve();
    },
    failOutbox(token, ids, failure) {
      calls.push({ name: 'failOutbox', token, ids, failure });
      return Promise.resolve(failOutbox?.({ ids, failure }) ?? { retried: ids.length, parked: 0 });
    },
    nextOutboxAttempt: () => Promise.resolve({ next_attempt_at: nextAttemptAt }),
  };
  return { database, calls, claimed };
}
