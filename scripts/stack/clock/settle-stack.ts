import type { Sql } from 'postgres';
import { type AtGateway, type Retries, settleGateway } from '../gateway/settle-gateway.ts';
import { type DueWork, readDueWork, type Work } from '../postgres/due-work.ts';
import { sweep } from '../postgres/sweep.ts';

/** A running stack, as its clock needs it. */
export type ClockedStack = {
  /** The database, as its owner. */
  readonly sql: Sql;
  readonly gatewayUrl: string;
  /** The address of the function's internal endpoints. */
  readonly internalUrl: string;
  /** Opens the internal endpoints. */
  readonly secretKey: string;
};

/** What waits after everything due has happened. */
export type Settled = { readonly database: DueWork; readonly gateway: AtGateway };

/** More than any chain of causes: a charge, its mail, a cancellation at the gateway, its webhook. */
const MAX_ROUNDS = 30;

/**
 * Lets everything happen that is due now, to its end: events of the gateway with their webhooks, the sweep, messages,
 * reconciliation. What makes no progress, such as messages for a destination without a key, is left.
 * @param first how far the clock of the simulator is set first, in seconds; and whether the schedule runs once in any
 * case, for what is not counted as due
 * @throws Error when the simulator or the function refuses, or the work does not end
 */
export async function settleStack(
  stack: ClockedStack,
  retries: Retries,
  first: { shiftSeconds?: number; runsSchedule?: boolean } = {},
): Promise<Settled> {
  let shift = first.shiftSeconds;
  let forced: Work[] = first.runsSchedule ? ['sweep', 'outbox', 'reconciliation'] : [];
  let before = '';
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const gateway = await settleGateway(stack.gatewayUrl, retries, shift);
    const database = await readDueWork(stack.sql, gateway.isAnyLost);
    const waiting = JSON.stringify(database.due);
    if (forced.length === 0 && (database.due.length === 0 || waiting === before)) return { database, gateway };
    await runWork(stack, new Set([...forced, ...database.due.map((one) => one.work)]));
    [shift, forced, before] = [undefined, [], waiting];
  }
  throw new Error(`what is due does not end: ${before}`);
}

async function runWork(stack: ClockedStack, work: ReadonlySet<Work>): Promise<void> {
  if (work.has('sweep')) await stack.sql.unsafe(sweep);
  if (work.has('outbox')) await callFunction(stack, 'outbox');
  if (work.has('reconciliation')) await callFunction(stack, 'reconcile');
}

/** Calls an internal endpoint. 503 is no error: without keys of the gateway there is nothing to reconcile. */
async function callFunction({ internalUrl, secretKey }: ClockedStack, endpoint: string): Promise<void> {
  const response = await fetch(`${internalUrl}/${endpoint}`, { method: 'POST', headers: { apikey: secretKey } });
  const body = await response.text();
  if (!response.ok && response.status !== 503) {
    throw new Error(`/api/internal/${endpoint} answered ${response.status}: ${body.slice(0, 200)}`);
  }
}
