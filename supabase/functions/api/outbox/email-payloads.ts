import { z } from 'zod';

// What the migrations write into `billing.outbox.payload`: amounts in minor units, times in UTC.

const time = z.iso.datetime();
const recipient = z.object({ to: z.string().min(1), display_name: z.string() });
const payment = recipient.extend({ amount: z.int(), currency: z.string() });
const receipt = payment.extend({
  plan_name: z.string(),
  transaction_id: z.string(),
  valid_until: time,
  /** When the gateway charges the next period; null: never. */
  next_charge_at: time.nullable(),
});
const periodEnd = recipient.extend({ plan_name: z.string(), ends_at: time });
/** When access ends without a further payment; null: the customer has other access. */
const accessEnd = z.object({
  access_ends_at: time.nullable(),
  /** Whether access had ended when the mail was enqueued. Rows of an older schema lack it. */
  is_ended: z.boolean().default(false),
});
const failedRenewal = recipient.extend({
  plan_name: z.string(),
  ...accessEnd.shape,
  /** What was to be charged; null or missing: not known. */
  amount: z.int().nullish(),
  currency: z.string().nullish(),
  /** The gateway's page of the subscription. */
  manage_url: z.string().transform(gatewayPage).nullable(),
});

const changeScheduled = payment.extend({
  plan_name: z.string(),
  interval: z.enum(['month', 'year']),
  interval_count: z.int().positive(),
  starts_at: time,
  /** Null: it cannot be undone any more. */
  undo_until: time.nullable(),
});
const subscriptionCancelled = recipient.extend({
  plan_name: z.string(),
  /** Null: access does not end with what was cancelled. */
  access_ends_at: time.nullable(),
  is_ended: z.boolean(),
  /** Null: it cannot be resumed. */
  resume_until: time.nullable(),
});
/** What the gateway charges next; null: nothing. */
const nextCharge = z.object({ at: time, amount: z.int(), currency: z.string() }).nullable();
const outlook = {
  next_charge: nextCharge,
  /** Whether something may be charged later: an authorisation is open, or the plan is paused or halted. */
  is_open: z.boolean().optional(),
  /** When something is charged whose amount is not known: of an import. */
  next_charge_at: time.optional(),
};
const goingOn = recipient.extend({
  plan_name: z.string(),
  /** Null: what runs has no end. */
  valid_until: time.nullable(),
  /** Of a change that waits. */
  next_plan_name: z.string().optional(),
  ...outlook,
});
const planChanged = payment.extend({
  plan_name: z.string(),
  old_plan_name: z.string(),
  /** Both null: it was changed at the gateway. */
  credit: z.int().nullable(),
  amount: z.int().nullable(),
  valid_until: time,
  ...outlook,
  /** Whether the customer has authorised the next charge. */
  is_authorised: z.boolean(),
});
const paymentRefunded = payment.extend({
  plan_name: z.string(),
  paid_amount: z.int(),
  paid_at: time,
  transaction_id: z.string(),
  /** What the customer has after the refund; null: no plan. */
  access_plan_name: z.string().nullable(),
  /** Null: it has no end. */
  access_ends_at: time.nullable(),
  ...outlook,
});

/** `receipt`: the row of `public.receipts`. */
const receiptIssued = recipient.extend({
  receipt: z.looseObject({
    title: z.string(),
    document_number: z.string(),
    document_date: z.iso.date(),
    currency: z.string(),
    totals: z.looseObject({ total: z.int() }),
  }),
});

/** A row of the outbox that is a mail. */
export const outboxMail = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('payment-success'),
    payload: receipt.extend({ next_charge_at: receipt.shape.next_charge_at.optional(), starts_at: time.optional() }),
  }),
  z.object({
    kind: z.literal('payment-failed'),
    payload: payment.extend({ tier: z.string().optional(), reason: z.string().nullish() }),
  }),
  z.object({ kind: z.literal('payment-pending'), payload: failedRenewal }),
  z.object({ kind: z.literal('payment-refunded'), payload: paymentRefunded }),
  z.object({ kind: z.literal('receipt-issued'), payload: receiptIssued }),
  z.object({ kind: z.literal('subscription-renewed'), payload: receipt }),
  z.object({ kind: z.literal('subscription-halted'), payload: failedRenewal }),
  z.object({ kind: z.literal('subscription-completed'), payload: periodEnd.extend(accessEnd.shape) }),
  z.object({ kind: z.literal('change-scheduled'), payload: changeScheduled }),
  z.object({ kind: z.literal('change-undone'), payload: goingOn }),
  z.object({ kind: z.literal('plan-changed'), payload: planChanged }),
  z.object({ kind: z.literal('subscription-resumed'), payload: goingOn }),
  z.object({ kind: z.literal('subscription-cancelled'), payload: subscriptionCancelled }),
  z.object({
    kind: z.literal('subscription-ending'),
    // Decides which advice the mail gives. Contract: Early renewals.
    payload: periodEnd.extend({
      early_renewal: z.enum(['replace', 'extend']).default('replace'),
      is_on_sale: z.boolean().default(true),
    }).transform(({ is_on_sale, ...rest }) => ({
      ...rest,
      early_renewal: is_on_sale ? rest.early_renewal : 'none' as const,
    })),
  }),
  z.object({
    kind: z.literal('subscription-ended'),
    // What was refunded and is charged next, if the access ended with a refund. When it ended, if later than the period.
    payload: periodEnd.extend({
      ...payment.pick({ amount: true, currency: true }).partial().shape,
      ...z.object(outlook).partial().shape,
      access_ended_at: time.optional(),
    }),
  }),
]);

export type OutboxMail = z.infer<typeof outboxMail>;

/** A customer pays on this page, so it must be encrypted. The simulator's page is http on this machine. */
function gatewayPage(text: string, { addIssue }: { addIssue: (message: string) => void }): string {
  const url = URL.parse(text);
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? '');
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)) return url.href;
  addIssue('is neither an https address nor a loopback http address');
  return z.NEVER;
}
