// What the pages read. Times are ISO 8601 with an offset, amounts are minor units.

/** A currency and its amount in minor units. */
export type Amounts = Record<string, number>;

/** A row of `billing.customers`. */
export type Customer = {
  user_id: string;
  email: string | null;
  name: string | null;
  tier: string;
  why: string | null;
  source_kind: string | null;
  source_id: string | null;
  until: string | null;
  /** After `until`: the end of the days of grace. Null: the gateway is asked for a charge first. */
  grace_until: string | null;
  billing: string | null;
  /** What the gateway charges next, in minor units. Null: nothing. */
  next_charge: { at: string; amount: number; currency: string } | null;
  last_payment_at: string | null;
  lifetime_amounts: Amounts | null;
  open_findings: number;
  signed_up_at: string;
};

/** A row of `billing.search_customers`. */
export type FoundCustomer = Pick<Customer, 'user_id' | 'email' | 'name' | 'tier'> & { found_by: string };

/** A row of `billing.timeline`. */
export type TimelineEntry = {
  at: string;
  /** Orders rows of the same time: a cause before its effect. */
  rank: number;
  what: string;
  reference: string | null;
  detail: string;
  link: string | null;
};

/** A row of `billing.periods`. */
export type Period = {
  kind: string;
  source_id: string;
  tier: string | null;
  starts_at: string | null;
  ends_at: string | null;
  ended_at: string | null;
  is_ruling: boolean;
};

/** A row of `billing.customer_payments`, with what was sold. */
export type Payment = {
  gateway_order_id: string | null;
  gateway_payment_id: string | null;
  at: string;
  tier: string | null;
  /** The price that was sold, and its calendar months. Null: not known. */
  price_key: string | null;
  months: number | null;
  /** Null: the gateway named none. */
  amount: number | null;
  currency: string;
  status: string;
  attempts: number | null;
  last_error: string | null;
  refunded_amount: number | null;
  /** Each dispute about it, the newest last; amounts in minor units. Null: none. */
  disputes: { id: string; phase: string | null; amount: number | null; status: string }[] | null;
  kind: string;
  source_id: string;
  /** What may still be asked back, in minor units. */
  refundable_amount: number;
};

/** A row of `public.receipts`: a receipt, a tax invoice or a credit note. */
export type IssuedDocument = {
  id: string;
  kind: 'receipt' | 'credit_note';
  title: string;
  document_number: string;
  issued_at: string;
  /** As the document says it: a day in India, in any zone of the seller. */
  document_date: string;
  currency: string;
  /** In minor units. */
  total: number;
  gateway_payment_id: string | null;
  /** A receipt of which something is left, and that no other one replaces. */
  can_be_reissued: boolean;
};

/** A price as it was sold: minor units, calendar months. All null: nothing was sold by a price. */
export type SoldPrice = {
  lookup_key: string | null;
  amount: number | null;
  currency: string | null;
  months: number | null;
};

/** A row of `billing.commitments`: what the customer pays for, and what follows. */
export type Commitment = SoldPrice & {
  kind: 'subscription' | 'renewal' | 'change' | 'purchase';
  id: string;
  tier: string | null;
  starts_at: string | null;
  ends_at: string | null;
  /** When the gateway charges it next. Null: it does not. */
  charge_at: string | null;
  /** From then on the gateway must not charge it, and why. Null: it may. */
  stops_at: string | null;
  stop_reason: string | null;
  /** The tier of the change that begins at its end. Null: none. */
  next_tier: string | null;
  /** Until when that change can be undone. Null: it cannot. */
  undo_until: string | null;
};

/** A row of `billing.findings`. */
export type Finding = {
  finding: string;
  subject: string;
  user_id: string | null;
  email: string | null;
  since: string | null;
  detail: Record<string, unknown>;
  remedy: string | null;
};

/** The row of `billing.service_state`. */
export type ServiceState = {
  last_webhook_at: string | null;
  last_sweep_at: string | null;
  last_reconciliation_at: string | null;
  oldest_undelivered_mail_at: string | null;
  /** When the last complete pass over all customers began. Null: the first one runs. */
  findings_as_of: string | null;
  revenue_as_of: string | null;
  /** How far the lists of the gateway were read. Null: not yet. */
  statement: { read_until: string; payments: number; news: number } | null;
  /** How long delivered messages are kept. Null: not known yet. */
  messages_kept_days: number | null;
  payments_today: number;
  revenue_today: Amounts | null;
};

/** A row of `billing.webhooks`; the payload is read with the single row only. */
export type Webhook = {
  body_sha256: string;
  received_at: string;
  event: string | null;
  subject_id: string | null;
  user_id: string | null;
  email: string | null;
  deliveries: number;
  attempts: number;
  outcome: string | null;
  payload?: unknown;
};

/** A row of `billing.messages`; the payload is read with the single row only. */
export type Message = {
  id: number;
  kind: string;
  destination: string;
  recipient: string | null;
  user_id: string | null;
  state: 'queued' | 'delivered' | 'not sent' | 'parked';
  attempts: number;
  last_error: string | null;
  created_at: string;
  delivered_at: string | null;
  next_attempt_at: string | null;
  payload?: unknown;
};

/** What a person does: a row of `billing.support_actions`. */
export type SupportAction = {
  action: string;
  /** The e-mail address or the id of the customer. */
  email?: string | null;
  tier?: string;
  until?: string;
  /** Of a grant: JSON. */
  entitlements?: string;
  /** Of a refund: minor units. */
  amount?: number;
  /** Of a cancellation: when the paid period ends, or now. */
  at_period_end?: boolean;
  /** Of a reissue: the settings of then had a mistake. */
  corrects_seller?: boolean;
  reference?: string | null;
  reason: string;
};
