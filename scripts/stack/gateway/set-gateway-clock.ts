import type { ISql } from 'postgres';

/** The longest wait for the first delivery of a webhook; the gateway gives the endpoint 5 s for each of them. */
const PATIENCE_MS = 30_000;

/**
 * Sets the simulator's clock to the shift of the stack's clock. What is due by then happens at `settleGateway`.
 * @throws Error when the simulator refuses
 */
export async function setGatewayClock(sql: ISql, gatewayUrl: string): Promise<void> {
  const [row] = await sql`select round(extract(epoch from private.clock() - now()))::float8 as shift_seconds`;
  await post(`${gatewayUrl}/simulate/clock`, { ...row, settle: false });
}

/**
 * Makes everything happen at the simulator that is due, such as the charges of subscriptions, and waits until each
 * webhook about it was delivered once. @throws Error when the simulator refuses, or the deliveries take too long
 */
export async function settleGateway(gatewayUrl: string): Promise<void> {
  const { event_ids } = await post(`${gatewayUrl}/simulate/due`, {});
  const deadline = Date.now() + PATIENCE_MS;
  for (const id of event_ids) {
    while (await isPending(`${gatewayUrl}/simulate/deliveries/${id}`)) {
      if (Date.now() > deadline) throw new Error(`webhooks of the gateway simulator are not delivered yet`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

async function isPending(url: string): Promise<boolean> {
  const { state } = await (await fetch(url)).json();
  return state === 'pending';
}

async function post(url: string, body: unknown) {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`the gateway simulator answered ${response.status}: ${await response.text()}`);
  return await response.json();
}
