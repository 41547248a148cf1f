/** Outbox rows of mails, as the migrations write them. */

export const settings = { appUrl: 'https://app.example.com' };

const customer = { to: 'asha@example.com', display_name: 'Asha Rao' };
const end = '2027-11-20T11:45:40.559Z';
const periodEnd = { ...customer, plan_name: 'Pro Yearly', ends_at: end };
const failedRenewal = { ...customer, plan_name: 'Pro Yearly', access_ends_at: end, manage_url: null };
const receipt = {
  ...customer,
  plan_name: 'Pro Yearly',
  amount: 123456,
  currency: 'INR',
  transaction_id: 'pay_29QQoUBi66xm2f',
  valid_until: end,
};
const failedPayment = {
  ...customer,
  tier: 'premium',
  amount: 99900,
  currency: 'INR',
  reason: 'Card declined by the bank.',
};

/** Makes rows of a kind with these fields, of which some may be changed. */
const rowOf = (kind: string, fields: Record<string, unknown>) => (changes: Record<string, unknown> = {}) => ({
  kind,
  // A copy: what a test changes in it is not changed for the others.
  payload: structuredClone({ ...fields, ...changes }),
});

export const paymentSuccessRow = rowOf('payment-success', receipt);
export const paymentFailedRow = rowOf('payment-failed', failedPayment);
export const paymentPendingRow = rowOf('payment-pending', failedRenewal);
export const paymentRefundedRow = rowOf('payment-refunded', {
  ...customer,
  plan_name: 'Pro Yearly',
  amount: 49900,
  currency: 'INR',
  paid_amount: 123456,
  paid_at: '2027-11-01T11:45:40.559Z',
  transaction_id: 'pay_29QQoUBi66xm2f',
  access_plan_name: 'Pro Yearly',
  access_ends_at: end,
  next_charge: null,
});
export const changeScheduledRow = rowOf('change-scheduled', {
  ...customer,
  plan_name: 'Pro Yearly',
  amount: 123456,
  currency: 'INR',
  interval: 'month',
  interval_count: 3,
  starts_at: end,
  undo_until: '2027-11-18T11:45:40.559Z',
});
const goingOn = {
  ...customer,
  plan_name: 'Pro Yearly',
  valid_until: end,
  next_charge: { at: end, amount: 123456, currency: 'INR' },
};
export const changeUndoneRow = rowOf('change-undone', goingOn);
export const subscriptionResumedRow = rowOf('subscription-resumed', goingOn);
export const planChangedRow = rowOf('plan-changed', {
  ...goingOn,
  old_plan_name: 'Basic',
  credit: 4900,
  amount: 118556,
  currency: 'INR',
  is_authorised: false,
});
export const subscriptionCancelledRow = rowOf('subscription-cancelled', {
  ...customer,
  plan_name: 'Pro Yearly',
  access_ends_at: end,
  is_ended: false,
  resume_until: '2027-11-18T11:45:40.559Z',
});
export const subscriptionRenewedRow = rowOf('subscription-renewed', {
  ...receipt,
  next_charge_at: '2027-11-19T11:45:40.559Z',
});
export const subscriptionHaltedRow = rowOf('subscription-halted', failedRenewal);
export const subscriptionCompletedRow = rowOf('subscription-completed', { ...periodEnd, access_ends_at: end });
export const subscriptionEndingRow = rowOf('subscription-ending', periodEnd);
export const subscriptionEndedRow = rowOf('subscription-ended', periodEnd);

export const receiptIssuedRow = rowOf('receipt-issued', {
  ...customer,
  receipt: {
    title: 'Tax invoice',
    kind: 'receipt',
    document_number: '2728/000102',
    document_date: '2027-11-20',
    tax_period: '2027-11-01',
    category: 'b2b',
    place_of_supply: '27',
    currency: 'INR',
    seller: { name: 'Example Software LLP', address: '12 Sample Road', gstin: '29AAAAA0000A1ZY', state: '29' },
    buyer: { name: 'Konkan Traders', address: null, gstin: '27AAPFU0939F1ZV', state: '27', country: 'IN' },
    lines: [{ description: 'Pro, 20 Nov 2027 – 20 Nov 2028', sac: '998315', quantity: 1, amount: 77777 }],
    totals: { taxable: 65913, taxes: [{ name: 'IGST', rate: 1800, amount: 11864 }], total: 77777 },
  },
});

export const rows = [
  paymentSuccessRow,
  paymentFailedRow,
  paymentPendingRow,
  paymentRefundedRow,
  receiptIssuedRow,
  changeScheduledRow,
  changeUndoneRow,
  planChangedRow,
  subscriptionResumedRow,
  subscriptionCancelledRow,
  subscriptionRenewedRow,
  subscriptionHaltedRow,
  subscriptionCompletedRow,
  subscriptionEndingRow,
  subscriptionEndedRow,
];

/** A row of each kind of mail. */
export const everyRow = () => rows.map((row) => row());
