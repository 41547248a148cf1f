import { cancel, captured, failed, order, reconcile, resume, signUp, type Step, verify } from './acts.ts';

/** Users who bought periods: one, several in a chain, with a delay, after a failure, and until the end. */
export const purchases: readonly Step[] = [
  // Asha bought.
  ['2026-10-26T09:00:00Z', signUp('asha')],
  ['2026-10-26T09:05:00Z', order('asha', 'pro', 'order_asha', 'checkout-1')],
  ['2026-10-26T09:06:00Z', verify('asha', 'order_asha')],
  ['2026-10-26T09:06:05Z', captured('order_asha', 'pro')],

  // Bela paid and closed the browser, and no webhook arrived. Reconciliation found the payment.
  ['2026-08-12T08:00:00Z', signUp('bela')],
  ['2026-08-12T08:05:00Z', order('bela', 'pro', 'order_bela')],
  ['2026-08-12T08:25:00Z', reconcile(['order_bela'], 'pro')],

  // Chand bought three periods, each before the end of the previous one: a chain of early renewals.
  ['2026-08-01T10:00:00Z', signUp('chand')],
  ['2026-08-01T10:05:00Z', order('chand', 'basic', 'order_chand_1')],
  ['2026-08-01T10:06:00Z', verify('chand', 'order_chand_1')],
  ['2026-08-01T10:06:05Z', captured('order_chand_1', 'basic')],
  ['2026-08-28T10:00:00Z', order('chand', 'basic', 'order_chand_2')],
  ['2026-08-28T10:01:00Z', verify('chand', 'order_chand_2')],
  ['2026-08-28T10:01:05Z', captured('order_chand_2', 'basic')],
  ['2026-09-29T10:00:00Z', order('chand', 'basic', 'order_chand_3')],
  ['2026-09-29T10:00:50Z', captured('order_chand_3', 'basic')],
  ['2026-09-29T10:01:00Z', verify('chand', 'order_chand_3', undefined, 'already_applied')],

  // Dev's first attempt failed, the second was captured.
  ['2026-09-10T10:00:00Z', signUp('dev')],
  ['2026-09-10T10:05:00Z', order('dev', 'premium', 'order_dev')],
  ['2026-09-10T10:07:00Z', failed('order_dev', 'premium')],
  ['2026-09-10T10:09:00Z', captured('order_dev', 'premium')],

  // Esha's attempt failed. Another order was never paid.
  ['2026-10-31T09:00:00Z', signUp('esha')],
  ['2026-10-31T09:05:00Z', order('esha', 'pro', 'order_esha_1')],
  ['2026-10-31T09:07:00Z', failed('order_esha_1', 'pro')],
  ['2026-10-31T09:50:00Z', order('esha', 'basic', 'order_esha_2')],

  // Jaya cancelled at the end of her period. Kiran cancelled in the same way, and resumed.
  ['2026-10-03T12:00:00Z', signUp('jaya')],
  ['2026-10-03T12:05:00Z', order('jaya', 'basic', 'order_jaya')],
  ['2026-10-03T12:06:00Z', verify('jaya', 'order_jaya')],
  ['2026-10-03T12:06:05Z', captured('order_jaya', 'basic')],
  ['2026-10-20T12:00:00Z', cancel('jaya', true)],
  ['2026-09-04T12:00:00Z', signUp('kiran')],
  ['2026-09-04T12:05:00Z', order('kiran', 'premium', 'order_kiran')],
  ['2026-09-04T12:06:00Z', verify('kiran', 'order_kiran')],
  ['2026-09-04T12:06:05Z', captured('order_kiran', 'premium')],
  ['2026-09-05T12:00:00Z', cancel('kiran', true)],
  ['2026-09-06T12:00:00Z', resume('kiran')],

  // Uma's period and its days of grace are over.
  ['2026-09-01T07:00:00Z', signUp('uma')],
  ['2026-09-01T07:05:00Z', order('uma', 'basic', 'order_uma')],
  ['2026-09-01T07:06:00Z', verify('uma', 'order_uma')],
  ['2026-09-01T07:06:05Z', captured('order_uma', 'basic')],

  // Vani verified a payment that the gateway never captured. An open finding.
  ['2026-09-05T07:00:00Z', signUp('vani')],
  ['2026-09-05T07:05:00Z', order('vani', 'basic', 'order_vani')],
  ['2026-09-05T07:06:00Z', verify('vani', 'order_vani')],
  ['2026-09-05T07:30:00Z', reconcile([])],
  ['2026-09-11T07:30:00Z', reconcile([])],
];
