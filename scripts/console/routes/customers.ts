import { Hono } from 'hono';
import type { SupportDatabase } from '../database.ts';
import { PAGE_ROWS, pageOf, readCursor } from '../paging.ts';
import type {
  Commitment,
  Customer,
  Finding,
  IssuedDocument,
  Payment,
  Period,
  ServiceState,
  TimelineEntry,
} from '../rows.ts';

/** The customers: search, one customer, the older part of a timeline and of the payments; what is left of a payment. */
export function customerRoutes(database: SupportDatabase): Hono {
  const routes = new Hono();

  routes.get('/customers', async (c) => {
    const query = (c.req.query('q') ?? '').trim();
    return c.json(query === '' ? [] : await database.read('select * from billing.search_customers($1)', [query]));
  });

  routes.get('/customers/:id{[0-9a-f-]{36}}', async (c) => {
    const id = c.req.param('id');
    const [[customer], commitments, findings, periods, payments, timeline, documents, [state]] = await Promise.all([
      database.read<Customer>('select * from billing.customers where user_id = $1', [id]),
      database.read<Commitment>(
        `select c.kind, c.id, c.tier, c.starts_at, c.ends_at, c.charge_at, c.stops_at, c.stop_reason,
          (c.next).asked_tier as next_tier, c.undo_until, coalesce((c.sold).lookup_key, c.tier) as lookup_key,
          (c.sold).amount, (c.sold).currency, (c.sold).months
        from billing.commitments($1) c
        order by coalesce(c.charge_at, c.starts_at), c.id`,
        [id],
      ),
      database.read<Omit<Finding, 'user_id' | 'email'>>(
        'select finding, subject, since, detail, remedy from billing.findings_of($1) order by since nulls first',
        [id],
      ),
      database.read<Period>(
        `select kind, source_id, tier, starts_at, ends_at, ended_at, is_ruling
        from billing.periods
        where user_id = $1
        order by starts_at desc, source_id
        limit $2`,
        [id, PAGE_ROWS],
      ),
      readPayments(id, undefined),
      readTimeline(id, undefined),
      readDocuments(id, undefined),
      database.read<Pick<ServiceState, 'messages_kept_days'>>('select messages_kept_days from billing.service_state'),
    ]);
    if (customer === undefined) return c.json({ error: 'There is no customer with this id.' }, 404);
    const { email } = customer;
    const about = findings.map((finding): Finding => ({ ...finding, user_id: id, email }));
    const keptDays = state?.messages_kept_days ?? null;
    return c.json({ customer, commitments, findings: about, periods, payments, timeline, documents, keptDays });
  });
  routes.get(
    '/customers/:id{[0-9a-f-]{36}}/payments',
    async (c) => c.json(await readPayments(c.req.param('id'), c.req.query('older'))),
  );
  routes.get(
    '/customers/:id{[0-9a-f-]{36}}/timeline',
    async (c) => c.json(await readTimeline(c.req.param('id'), c.req.query('older'))),
  );
  routes.get(
    '/customers/:id{[0-9a-f-]{36}}/documents',
    async (c) => c.json(await readDocuments(c.req.param('id'), c.req.query('older'))),
  );
  routes.get('/payments/:id', async (c) => {
    const [payment] = await database.read(
      `select c.currency, c.kind, c.refundable_amount, c.refund_effect
      from billing.customer_payments c
      where c.gateway_payment_id = $1`,
      [c.req.param('id')],
    );
    return payment ? c.json(payment) : c.json({ error: 'There is no payment with this id.' }, 404);
  });
  return routes;

  async function readDocuments(id: string, older: string | undefined) {
    const rows = await database.read<IssuedDocument>(
      `select r.id, r.kind, r.title, r.document_number, r.issued_at, r.document_date, r.currency, (r.totals ->> 'total')::bigint as total,
        (select p.gateway_payment_id from public.payments p where p.id = r.payment_id) as gateway_payment_id,
        r.kind = 'receipt'
          and not exists (select from public.receipts n where n.reissue_of = r.id)
          and (r.totals ->> 'total')::bigint > (
            select coalesce(sum((n.totals ->> 'total')::bigint), 0) from public.receipts n where n.receipt_id = r.id
          ) as can_be_reissued
      from public.receipts r
      where r.user_id = $1 and ($2::timestamptz is null or (r.issued_at, r.id::text) < ($2, $3))
      order by r.issued_at desc, r.id::text desc
      limit $4`,
      [id, ...readCursor(older, 2), PAGE_ROWS + 1],
    );
    return pageOf(rows, ({ issued_at, id }) => [issued_at, id]);
  }

  async function readPayments(id: string, older: string | undefined) {
    const rows = await database.read<Payment>(
      `select c.gateway_order_id, c.gateway_payment_id, c.at, c.tier, c.amount, c.currency, c.status, c.attempts,
        c.last_error, c.refunded_amount, c.disputes, c.kind, c.source_id, c.refundable_amount, c.price_key, c.months
      from billing.customer_payments c
      where c.user_id = $1
        and ($2::timestamptz is null or (c.at, c.source_id, coalesce(c.gateway_payment_id, '')) < ($2, $3, $4))
      order by c.at desc, c.source_id desc, coalesce(c.gateway_payment_id, '') desc
      limit $5`,
      [id, ...readCursor(older, 3), PAGE_ROWS + 1],
    );
    return pageOf(rows, ({ at, source_id, gateway_payment_id }) => [at, source_id, gateway_payment_id ?? '']);
  }

  async function readTimeline(id: string, older: string | undefined) {
    const rows = await database.read<TimelineEntry>(
      `select at, rank, what, reference, detail, link
      from billing.timeline
      where user_id = $1
        and ($2::timestamptz is null or (at, rank, what, coalesce(reference, ''), detail) < ($2, $3::integer, $4, $5, $6))
      order by at desc, rank desc, what desc, coalesce(reference, '') desc, detail desc
      limit $7`,
      [id, ...readCursor(older, 5), PAGE_ROWS + 1],
    );
    return pageOf(rows, ({ at, rank, what, reference, detail }) => [at, rank, what, reference ?? '', detail]);
  }
}
