import type pg from 'pg';
import type { GatewayReads } from '../../supabase/functions/api/gateway/rate-limit.ts';
import type { GatewayEntity } from '../../supabase/functions/api/ports.ts';

const monthSeconds = 30 * 86_400;
const passSeconds = 10 * 86_400;
const hourSeconds = 3600;
/** The newest minutes are not read. */
const lagSeconds = 600;
/** One payment in so many is refunded, or disputed. */
const every = { payments: 1, refunds: 50, disputes: 1000 } as const;

type List = keyof typeof every;

/** The gateway's lists. `calls`: how many pages were read. */
export type Lists = {
  calls: number;
  readonly read: GatewayReads['listCreated'];
  countOf(pass: 'new' | 'again'): number;
};

/**
 * Loads the payments of the last ten days, each with its webhook in the ledger, and their refunds and disputes. Payment `n`, counted from
 * the newest, was created so many steps before the newest end of a window.
 */
export async function loadStatement(client: pg.Client, size: number, now: number): Promise<void> {
  const run = (sql: string, ...parameters: unknown[]) => client.query(sql, parameters);
  await run('set session_replication_role = replica');
  const created = `to_timestamp($2::float8 - ${lagSeconds} - (n + 0.5) * ${monthSeconds} / $1::int)`;
  await run(
    `insert into public.payments
       (user_id, amount, status, tier, gateway_order_id, gateway_payment_id, captured_at, confirmed_at, fulfilled_at, period_start,
        period_end, next_reconcile_at, created_at)
     select md5('user' || n)::uuid, 4900, 'captured', 'basic', 'order_' || n, 'pay_' || n, at, at, at, at,
       at + interval '1 month', null, at
     from generate_series(0, $1::int / 3) n cross join lateral (select ${created} as at) c`,
    size,
    now,
  );
  await run(
    `insert into billing.gateway_events (body_sha256, event_id, event, subject_id, outcome, received_at)
     select sha256(convert_to('bench' || n, 'UTF8')), 'evt_' || n, 'payment.captured', 'order_' || n, 'applied', ${created}
     from generate_series(0, $1::int / 3) n`,
    size,
    now,
  );
  await run(
    `insert into billing.refunds (refund_id, gateway_payment_id, amount, status, created_at)
     select 'rfnd_' || n, 'pay_' || n, 100, 'processed', ${created}
     from generate_series(0, $1::int / 3, ${every.refunds}) n`,
    size,
    now,
  );
  await run(
    `insert into billing.disputes (dispute_id, gateway_payment_id, phase, amount, status, event_at)
     select 'disp_' || n, 'pay_' || n, 'chargeback', 100, 'open', ${created}
     from generate_series(0, $1::int / 3, ${every.disputes}) n`,
    size,
    now,
  );
  await run('set session_replication_role = origin');
  await run('vacuum (analyze) public.payments');
  await run('vacuum (analyze) billing.gateway_events');
}

/** The lists of the same payments, the newest first, as the gateway answers them. */
export function createLists(size: number, now: number): Lists {
  const step = monthSeconds / size;
  const end = now - lagSeconds;
  const countOf = (list: List, seconds: number) => {
    const payments = Math.min(Math.round(seconds / step), size);
    return Math.ceil(payments / every[list]);
  };
  const names: List[] = ['payments', 'refunds', 'disputes'];
  const windows = { new: hourSeconds, again: passSeconds };
  const lists: Lists = {
    calls: 0,
    countOf: (pass) => names.reduce((sum, list) => sum + countOf(list, windows[pass]), 0),
    read: ({ list, from, to, skip }) => {
      lists.calls += 1;
      if (list === 'settlements') return Promise.resolve({ status: 'found', value: [] });
      const pass = to - from > 2 * hourSeconds ? 'again' : 'new';
      const left = Math.max(countOf(list, windows[pass]) - skip, 0);
      const items = Array.from({ length: Math.min(left, 100) }, (_, index) => {
        const n = (skip + index) * every[list];
        return entityOf(list, n, Math.floor(end - (n + 0.5) * step));
      });
      return Promise.resolve({ status: 'found', value: items });
    },
  };
  return lists;
}

function entityOf(list: List, n: number, created_at: number): GatewayEntity {
  if (list === 'refunds') {
    return {
      id: `rfnd_${n}`,
      entity: 'refund',
      amount: 100,
      currency: 'INR',
      payment_id: `pay_${n}`,
      status: 'processed',
      created_at,
    };
  }
  if (list === 'disputes') {
    return {
      id: `disp_${n}`,
      entity: 'dispute',
      amount: 100,
      payment_id: `pay_${n}`,
      phase: 'chargeback',
      status: 'open',
      created_at,
    };
  }
  return {
    ...{ id: `pay_${n}`, entity: 'payment', amount: 4900, currency: 'INR', status: 'captured', order_id: `order_${n}` },
    ...{
      invoice_id: null,
      international: false,
      method: 'upi',
      amount_refunded: 0,
      refund_status: null,
      captured: true,
    },
    ...{
      description: 'Basic',
      card_id: null,
      bank: null,
      wallet: null,
      vpa: `user${n}@okbank`,
      email: `user${n}@example.com`,
    },
    ...{
      contact: '+919876543210',
      notes: [],
      fee: 98,
      tax: 0,
      error_code: null,
      error_description: null,
      error_source: null,
    },
    ...{ error_step: null, error_reason: null, acquirer_data: { rrn: String(100_000_000_000 + n) }, created_at },
  };
}
