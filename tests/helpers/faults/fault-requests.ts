import { expect } from 'vitest';
import type { FaultProject } from './fault-project.ts';
import type { TestDatabase } from '../database/test-database.ts';
import { postWebhook } from '../gateway/deliver.ts';
import { paymentFailed } from '../gateway/events.ts';
import { createCaller } from '../http/caller.ts';
import { checkout, requestSubscription, verify } from '../http/requests.ts';
import type { SignedUpUser } from '../project/project.ts';
import { createPayment, uniqueId } from '../records/records.ts';
import { repeatUntil } from '../project/repeat-until.ts';

/** A request and its answer. */
export type Attempt = {
  endpoint: Endpoint;
  status: number;
  body: unknown;
  retryAfter: string | null;
  milliseconds: number;
};

const failures = {
  read: { error: 'Failed to get subscription' },
  verify: { error: 'Failed to verify payment' },
  webhook: { error: 'Webhook processing failed' },
};
type Endpoint = keyof typeof failures;

/** A customer with a paid checkout, and three requests. Each request may be sent again. */
export type Customer = {
  readonly user: SignedUpUser;
  readonly send: Readonly<Record<Endpoint, () => Promise<Attempt>>>;
};

/** A new customer of the project. */
export async function createCustomer(project: Pick<FaultProject, 'database' | 'request'>): Promise<Customer> {
  const user = await createCaller(project.database);
  const paid = await checkout((await createPayment(project.database, { userId: user.id })).orderId);
  const failing = await createPayment(project.database, { userId: user.id });
  const event = paymentFailed({ id: uniqueId('pay'), order_id: failing.orderId });

  const timed = (endpoint: Endpoint, request: () => Promise<Response>) => async (): Promise<Attempt> => {
    const started = performance.now();
    const response = await request();
    const body: unknown = await response.json();
    const retryAfter = response.headers.get('retry-after');
    return { endpoint, status: response.status, body, retryAfter, milliseconds: performance.now() - started };
  };
  return {
    user,
    send: {
      read: timed('read', () => requestSubscription(project, user.accessToken)),
      verify: timed('verify', () => verify(project, user.accessToken, paid)),
      webhook: timed('webhook', () => postWebhook(project, event)),
    },
  };
}

/**
 * An answer to an outage comes within 5 s. Contract: Errors. The function's deadline is 4.5 s; a busy machine takes the rest
 * to run the test. Without a deadline there is no answer at all.
 */
export const outageMilliseconds = 10_000;

/** During an outage a request gets 200, or the endpoint's 500. */
export function expectAnswer({ endpoint, status, body, milliseconds }: Attempt): void {
  if (status !== 200) expect({ endpoint, status, body }).toEqual({ endpoint, status: 500, body: failures[endpoint] });
  expect(milliseconds).toBeLessThan(outageMilliseconds);
}

/** Repeats the request until it gets 200. */
export async function retryUntilSuccess(send: () => Promise<Attempt>): Promise<Attempt> {
  let attempt = await send();
  await repeatUntil(`${attempt.endpoint} answers 200`, 600, async () => {
    if (attempt.status === 200) return true;
    expectAnswer(attempt);
    await new Promise((resolve) => setTimeout(resolve, 50));
    attempt = await send();
    return false;
  });
  return attempt;
}

/** Each payment has all of its effects (capture, period, subscription, tier, mail) or none. */
export async function expectNothingHalfDone(database: TestDatabase): Promise<void> {
  const rows = await database.query(
    `select p.id
     from public.payments p
     left join public.subscriptions s on s.id = p.subscription_id
     left join public.profiles pr on pr.user_id = p.user_id
     left join billing.outbox o on o.key = 'payment-success/' || p.id
     where (case when p.status = 'captured'
       then num_nulls(p.fulfilled_at, p.period_end, s.id, o.id) > 0
         or s.status <> 'active' or s.current_period_end <> p.period_end or pr.subscription_tier <> s.tier
       else num_nonnulls(p.fulfilled_at, p.period_end, s.id, o.id, p.gateway_payment_id) > 0
     end) is not false`,
  );
  expect(rows).toEqual([]);
}
