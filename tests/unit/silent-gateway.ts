import type { Gateway } from '../../supabase/functions/api/ports.ts';

/** A gateway that answers nothing. */
export const silentGateway: Gateway = {
  hasModeOf: () => true,
  now: () => null,
  createOrder: () => Promise.resolve({ status: 'unanswered' }),
  createSubscription: () => Promise.resolve({ status: 'unanswered' }),
  cancelSubscription: () => Promise.resolve({ status: 0, retryAfter: null }),
  refundPayment: () => Promise.resolve({ status: 0, retryAfter: null, refund: null, reason: null }),
  readSubscription: () => Promise.resolve({ status: 'unanswered' }),
  listOrderPayments: () => Promise.resolve({ status: 'unanswered' }),
  readOrder: () => Promise.resolve({ status: 'unanswered' }),
  readPayment: () => Promise.resolve({ status: 'unanswered' }),
  listRefunds: () => Promise.resolve({ status: 'unanswered' }),
  listInvoices: () => Promise.resolve({ status: 'unanswered' }),
  listCreated: () => Promise.resolve({ status: 'unanswered' }),
  listSettlementLines: () => Promise.resolve({ status: 'unanswered' }),
  readInvoice: () => Promise.resolve({ status: 'unanswered' }),
};
