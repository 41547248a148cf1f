import { answer } from './answer.ts';
import type { RunningService } from '../project/targets.ts';

/** The body of a 201 of POST /api/payments/orders. */
export type Ordered = {
  order: { id: string; amount: number; currency: string };
  key_id: string;
  payment_id: string;
  plan: Record<string, unknown>;
  running: { tier: string; until: string; early_renewal: string } | null;
};

/** POST /api/payments/orders with a session. Text is sent unchanged, other values as JSON. */
export function requestOrder(
  service: Pick<RunningService, 'request'>,
  accessToken: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return service.request('/api/payments/orders', {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Creates an order. @throws when it is refused. */
export async function placeOrder(
  service: Pick<RunningService, 'request'>,
  accessToken: string,
  tier = 'pro',
  headers: Record<string, string> = {},
): Promise<Ordered> {
  const response = await requestOrder(service, accessToken, { tier }, headers);
  if (response.status !== 201) throw new Error(`no order: ${JSON.stringify(await answer(response))}`);
  return await response.json();
}
