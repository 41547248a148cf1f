/** Outbox rows of mails, as the migrations write them. */

export const settings = { appUrl: 'https://app.example.com' };

export function paymentSuccessRow(payload: Record<string, unknown> = {}) {
  return {
    kind: 'payment-success',
    payload: {
      to: 'asha@example.com',
      display_name: 'Asha Rao',
      plan_name: 'Pro Yearly',
      amount: 123456,
      currency: 'INR',
      transaction_id: 'pay_29QQoUBi66xm2f',
      valid_until: '2027-11-20T11:45:40.559Z',
      ...payload,
    },
  };
}

export function paymentFailedRow(payload: Record<string, unknown> = {}) {
  return {
    kind: 'payment-failed',
    payload: {
      to: 'asha@example.com',
      display_name: 'Asha Rao',
      tier: 'premium',
      amount: 99900,
      currency: 'INR',
      reason: 'Card declined by the bank.',
      ...payload,
    },
  };
}

export function paymentPendingRow(payload: Record<string, unknown> = {}) {
  return { kind: 'payment-pending', payload: { ...failedRenewal, ...payload } };
}

export function subscriptionRenewedRow(payload: Record<string, unknown> = {}) {
  const receipt = { ...paymentSuccessRow().payload, next_charge_at: '2027-11-19T11:45:40.559Z' };
  return { kind: 'subscription-renewed', payload: { ...receipt, ...payload } };
}

export function subscriptionHaltedRow(payload: Record<string, unknown> = {}) {
  return { kind: 'subscription-halted', payload: { ...failedRenewal, ...payload } };
}

export function subscriptionCompletedRow(payload: Record<string, unknown> = {}) {
  return {
    kind: 'subscription-completed',
    payload: { ...periodEnd, access_ends_at: periodEnd.ends_at, ...payload },
  };
}

export function subscriptionEndingRow(payload: Record<string, unknown> = {}) {
  return { kind: 'subscription-ending', payload: { ...periodEnd, ...payload } };
}

export function subscriptionEndedRow(payload: Record<string, unknown> = {}) {
  return { kind: 'subscription-ended', payload: { ...periodEnd, ...payload } };
}

const periodEnd = {
  to: 'asha@example.com',
  display_name: 'Asha Rao',
  plan_name: 'Pro Yearly',
  ends_at: '2027-11-20T11:45:40.559Z',
};

const failedRenewal = {
  to: 'asha@example.com',
  display_name: 'Asha Rao',
  plan_name: 'Pro Yearly',
  access_ends_at: '2027-11-20T11:45:40.559Z',
  manage_url: null,
};

/** A row of each kind of mail. */
export function everyRow() {
  return [
    paymentSuccessRow(),
    paymentFailedRow(),
    paymentPendingRow(),
    subscriptionRenewedRow(),
    subscriptionHaltedRow(),
    subscriptionCompletedRow(),
    subscriptionEndingRow(),
    subscriptionEndedRow(),
  ];
}
