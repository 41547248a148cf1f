import type { Result } from './database-results.ts';
import type { GatewayEntity } from './gateway.ts';

/** The receiver of a side effect. Each destination has its own queue. `notice`: mails that are not urgent. */
export type Destination = 'email' | 'notice' | 'revalidation' | 'gateway' | 'event';

/** A side effect to deliver. */
export type OutboxRow = Omit<Result<'claim_outbox'>['rows'][number], 'destination'>;

/** What a delivery left. `note`: why nothing was sent, for an admin. `refund`: the refund that the gateway made. */
export type Delivered = { readonly note?: string; readonly refund?: GatewayEntity };

/** The result of an attempt. */
export type Delivery = Delivered & { readonly status: 'delivered' } | Failure;

/** Why rows were not delivered. `error` is for an admin and contains no secret. */
export type Failure =
  /** Retried. */
  | { readonly status: 'failed'; readonly error: string }
  /** Parked, because a retry is useless. */
  | { readonly status: 'refused'; readonly error: string }
  /** Rate limited: retried after some seconds. */
  | { readonly status: 'paused'; readonly error: string; readonly seconds: number };

/** One attempt at some rows. Never throws. */
export type Attempt = { readonly rows: readonly OutboxRow[]; readonly deliver: () => Promise<Delivery> };

/** Plans the delivery of claimed rows to one destination. @returns the attempts to make. */
export type Sender = (rows: readonly OutboxRow[]) => readonly Attempt[];
