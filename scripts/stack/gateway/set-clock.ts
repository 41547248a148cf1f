import type { ISql } from 'postgres';

/** Shifts the simulator's clock as far as the stack's; throws when the simulator does not do it. */
export async function setGatewayClock(sql: ISql, gatewayUrl: string): Promise<void> {
  const [row] = await sql`select round(extract(epoch from private.clock() - now()))::float8 as shift_seconds`;
  const response = await fetch(`${gatewayUrl}/simulate/clock`, { method: 'POST', body: JSON.stringify(row) });
  if (!response.ok) throw new Error(`the gateway simulator answered ${response.status}: ${await response.text()}`);
  await response.body?.cancel();
}
