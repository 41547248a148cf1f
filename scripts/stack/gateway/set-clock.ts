import type { ISql } from 'postgres';

/** Sets the simulator's clock to the shift of the stack's clock. @throws Error when the simulator refuses */
export async function setGatewayClock(sql: ISql, gatewayUrl: string): Promise<void> {
  const [row] = await sql`select round(extract(epoch from private.clock() - now()))::float8 as shift_seconds`;
  const response = await fetch(`${gatewayUrl}/simulate/clock`, { method: 'POST', body: JSON.stringify(row) });
  if (!response.ok) throw new Error(`the gateway simulator answered ${response.status}: ${await response.text()}`);
  await response.body?.cancel();
}
