import { z } from 'zod';
import type { GatewayConfig } from './config.ts';
import type { Gateway } from './ports.ts';

const timeoutMilliseconds = 5000;

const createdOrder = z.object({ id: z.string().min(1) });

/** The gateway's REST API, over HTTP Basic with key id and key secret; null when it is not configured. */
export function createGateway(config: GatewayConfig | null): Gateway | null {
  if (config === null || config.apiUrl === null) return null;
  const base = `${config.apiUrl.replace(/\/+$/, '')}/v1`;
  const authorization = `Basic ${btoa(`${config.keyId}:${config.keySecret}`)}`;
  return {
    async createOrder({ amount, currency, receipt }) {
      try {
        const response = await fetch(`${base}/orders`, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          // Without automatic capture the money goes back by itself after some days.
          body: JSON.stringify({ amount, currency, receipt, payment_capture: 1 }),
          redirect: 'error',
          signal: AbortSignal.timeout(timeoutMilliseconds),
        });
        const body: unknown = await response.json();
        return response.ok ? createdOrder.parse(body).id : null;
      } catch {
        // No answer, or none that makes sense: whatever it is, there is no order to hand out.
        return null;
      }
    },
  };
}
