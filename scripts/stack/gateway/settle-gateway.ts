import { postJson } from './post-json.ts';

/** The longest wait for the webhooks of one moment; the gateway gives the endpoint 5 s for each of them. */
const PATIENCE_MS = 60_000;
/** The pauses between two looks at what is under way: a look costs the stack as much as a webhook. */
const POLL_MS = { first: 2, longest: 50 };
/** A webhook that fails is sent so many more times at once. After that it keeps the gateway's own pauses. */
const MAX_RETRIES = 3;

/** The event ids of webhooks that failed, and how often `settleGateway` repeated them. */
export type Retries = Map<string, number>;

/** What waits at the simulator. */
export type AtGateway = {
  /** When something is due next, Unix seconds; null: nothing will be. */
  readonly nextAt: number | null;
  /** True if a webhook did not arrive: it was dropped, given up or refused. Only reconciliation finds what it was about. */
  readonly isAnyLost: boolean;
};

/**
 * Makes everything happen at the simulator that is due, such as the charges of subscriptions, and waits until each
 * webhook arrived. One that fails is repeated three times.
 * @param shiftSeconds sets the simulator's clock first
 * @throws Error when the simulator refuses, or the webhooks take over a minute
 */
export async function settleGateway(
  gatewayUrl: string,
  retries: Retries,
  shiftSeconds?: number,
): Promise<AtGateway> {
  const shift = shiftSeconds === undefined ? {} : { shift_seconds: shiftSeconds };
  await postJson(`${gatewayUrl}/simulate/due`, { ...shift, parallel: true });
  const deadline = Date.now() + PATIENCE_MS;
  for (let pause = POLL_MS.first;; pause = Math.min(pause * 2, POLL_MS.longest)) {
    const { next_at, under_way, retrying, is_any_lost } = await readDue(gatewayUrl);
    const repeated = retrying.filter((id) => (retries.get(id) ?? 0) < MAX_RETRIES);
    if (under_way === 0 && repeated.length === 0) return { nextAt: next_at, isAnyLost: is_any_lost };
    if (Date.now() > deadline) {
      throw new Error('the webhooks of the gateway simulator are not delivered after a minute');
    }
    for (const event_id of repeated) {
      retries.set(event_id, (retries.get(event_id) ?? 0) + 1);
      await postJson(`${gatewayUrl}/simulate/retry`, { event_id });
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

type Due = { next_at: number | null; under_way: number; retrying: string[]; is_any_lost: boolean };

async function readDue(gatewayUrl: string): Promise<Due> {
  return await (await fetch(`${gatewayUrl}/simulate/due`)).json();
}
