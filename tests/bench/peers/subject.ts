import { withClient } from '../../helpers/database/postgres-client.ts';
import { periodSeconds, type Subscriber } from '../gateway-bodies.ts';
import type { Peer } from './peer-process.ts';

/**
 * Requests, each to be sent once, and a check that the database contains all their changes. `untilSettled` waits for work
 * that follows the answers and counts with them.
 */
export type Batch = {
  readonly requests: readonly Uint8Array[];
  untilSettled?(): Promise<void>;
  isApplied(): Promise<boolean>;
};

/** One kind of webhook to one system. */
export type Subject = {
  readonly name: string;
  /** Null for ours. */
  readonly peer: Peer | null;
  readonly server: { readonly pid: number; readonly port: number };
  /** A part of the body of an answer. */
  readonly expected: string;
  /** Creates new webhooks. The count is a multiple of the number of subscribers. */
  createBatch(count: number): Promise<Batch>;
};

/** Running servers, and their subjects. */
export type Started = { readonly subjects: readonly Subject[]; stop(): Promise<void> };

/** The inputs for webhooks about subscriptions and for their check. */
export type Billing = {
  /** Connection URL of the system's database. */
  readonly url: string;
  readonly subscribers: readonly Subscriber[];
  /** @param at start of the new period and time of the event, Unix seconds */
  write(subscriber: Subscriber, at: number): Uint8Array;
  /** A query that counts the subscriptions whose period ends at $1, Unix seconds. */
  readonly count: string;
  /** See createBillingClock. Shared by all batches about the same subscribers. */
  nextRound(): number;
};

/** Batches of webhooks that advance the period of each subscription in turn. */
export function billingBatches({ url, subscribers, write, count, nextRound }: Billing): Subject['createBatch'] {
  return (size) => {
    let at = 0;
    const requests: Uint8Array[] = [];
    while (requests.length < size) {
      at = nextRound();
      requests.push(...subscribers.map((subscriber) => write(subscriber, at)));
    }
    const isApplied = async () => {
      const { rows: [row] } = await withClient(url, (client) => client.query(count, [at + periodSeconds]));
      return Number(row.count) === subscribers.length;
    };
    return Promise.resolve({ requests, isApplied });
  };
}
