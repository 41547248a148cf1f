import { createHash } from 'node:crypto';
import type pg from 'pg';
import { secrets, sign } from './sign.ts';
import { callRpc } from '../database/session.ts';
import { rawBody } from '../http/requests.ts';
import type { RunningService } from '../project/targets.ts';
import { uniqueId } from '../records/records.ts';

/** The ledger's key of a body, as the route computes it: SHA-256 in hex. */
export function sha256(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

/** Delivers a body to the RPC, as the webhook route does after checking it. @returns the outcome */
export async function deliver(
  session: pg.Client,
  body: string,
  eventId: string | null = null,
): Promise<unknown> {
  const { outcome } = await callRpc(session, 'apply_gateway_event', sha256(body), eventId, body);
  return outcome;
}

/** POST /api/webhooks/gateway, signed with `secret`, or with exactly `headers`. The body as `rawBody` takes it. */
export async function postWebhook(
  service: Pick<RunningService, 'request'>,
  body: unknown,
  { secret = secrets.GATEWAY_WEBHOOK_SECRET, eventId = uniqueId('evt'), headers }: {
    secret?: string;
    eventId?: string;
    headers?: Record<string, string>;
  } = {},
): Promise<Response> {
  const raw = rawBody(body);
  return await service.request('/api/webhooks/gateway', {
    method: 'POST',
    headers: headers ?? { 'x-gateway-signature': await sign(secret, raw), 'x-gateway-event-id': eventId },
    body: raw,
  });
}
