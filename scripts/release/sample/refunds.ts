import { captured, deliver, disputed, money, order, refunded, signUp, statement, type Step, verify } from './acts.ts';
import { paymentEvent, prices, refundEvent } from './gateway-events.ts';

/** The extra payments on the orders of Qadir and Rhea. */
const secondOfQadir = { ...money('order_qadir', 'pro'), id: 'pay_qadir_2' };
const secondOfRhea = { ...money('order_rhea', 'basic'), id: 'pay_rhea_2' };

/** Users with refunds, disputes and extra payments. */
export const refunds: readonly Step[] = [
  // Gita's payment was refunded in full, so her access ended.
  ['2026-09-05T09:00:00Z', signUp('gita')],
  ['2026-09-05T09:05:00Z', order('gita', 'premium', 'order_gita')],
  ['2026-09-05T09:06:00Z', verify('gita', 'order_gita')],
  ['2026-09-05T09:06:05Z', captured('order_gita', 'premium')],
  ['2026-09-09T09:00:00Z', refunded('order_gita', 'premium', prices.premium, 'created')],
  ['2026-09-09T15:00:00Z', refunded('order_gita', 'premium')],

  // Nora's payment was refunded in part and then disputed. The dispute is open.
  ['2026-09-15T09:00:00Z', signUp('nora')],
  ['2026-09-15T09:05:00Z', order('nora', 'pro', 'order_nora')],
  ['2026-09-15T09:06:00Z', captured('order_nora', 'pro')],
  ['2026-09-20T09:00:00Z', refunded('order_nora', 'pro', 20000)],
  ['2026-10-20T09:00:00Z', disputed('order_nora', 'pro', 'created', 'open')],

  // Omar's dispute was lost. An open finding.
  ['2026-09-07T09:00:00Z', signUp('omar')],
  ['2026-09-07T09:05:00Z', order('omar', 'pro', 'order_omar')],
  ['2026-09-07T09:06:00Z', verify('omar', 'order_omar')],
  ['2026-09-07T09:06:05Z', captured('order_omar', 'pro')],
  ['2026-09-20T11:00:00Z', disputed('order_omar', 'pro', 'created', 'open')],
  ['2026-10-25T09:00:00Z', disputed('order_omar', 'pro', 'lost', 'lost')],

  // Pia's dispute was lost, and an admin ended her access. A closed finding.
  ['2026-09-08T09:00:00Z', signUp('pia')],
  ['2026-09-08T09:05:00Z', order('pia', 'pro', 'order_pia')],
  ['2026-09-08T09:06:00Z', verify('pia', 'order_pia')],
  ['2026-09-08T09:06:05Z', captured('order_pia', 'pro')],
  ['2026-10-26T09:30:00Z', disputed('order_pia', 'pro', 'lost', 'lost')],
  [
    '2026-10-27T09:00:00Z',
    statement(`
      insert into billing.support_actions (action, reference, reason)
      values ('end_access', 'order_pia', 'The dispute was lost')`),
  ],

  // Qadir paid an order twice, and the second payment was refunded. A closed finding.
  ['2026-09-11T09:00:00Z', signUp('qadir')],
  ['2026-09-11T09:05:00Z', order('qadir', 'pro', 'order_qadir')],
  ['2026-09-11T09:06:00Z', verify('qadir', 'order_qadir')],
  ['2026-09-11T09:06:05Z', captured('order_qadir', 'pro')],
  ['2026-09-11T09:08:00Z', deliver(paymentEvent('captured', secondOfQadir), 'already')],
  ['2026-09-13T09:00:00Z', deliver(refundEvent(secondOfQadir, prices.pro, 'processed'))],

  // Rhea paid an order twice, and no payment was refunded. An open finding.
  ['2026-10-21T09:00:00Z', signUp('rhea')],
  ['2026-10-21T09:05:00Z', order('rhea', 'basic', 'order_rhea')],
  ['2026-10-21T09:06:00Z', verify('rhea', 'order_rhea')],
  ['2026-10-21T09:06:05Z', captured('order_rhea', 'basic')],
  ['2026-10-21T09:08:00Z', verify('rhea', 'order_rhea', secondOfRhea.id, 'already_applied')],
  ['2026-10-21T09:08:05Z', deliver(paymentEvent('captured', secondOfRhea), 'already')],
];
