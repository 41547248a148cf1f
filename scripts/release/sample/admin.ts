import { billed, captured, deliver, money, order, signUp, statement, type Step, verify } from './acts.ts';
import { type Cycle, paymentEvent, subscriptionEvent } from './gateway-events.ts';
import { userId } from './users.ts';

const cycleOfXena: Cycle = {
  user: 'xena',
  id: 'sub_xena',
  start: '2026-10-18T00:00:00Z',
  end: '2026-11-18T00:00:00Z',
};
const cycleOfZoya: Cycle = {
  user: 'zoya',
  id: 'sub_zoya',
  start: '2026-10-31T00:00:00Z',
  end: '2026-11-30T00:00:00Z',
};

const grant = `insert into billing.support_actions (action, email, tier, until, reason)
  values ('grant', $1, $2, $3, $4)`;

/** Acts of admins and of the app, deleted users, events that wait, and undelivered side effects. */
export const admin: readonly Step[] = [
  // The gateway also bills the plan basic, which is sold by the year, too.
  ['2026-07-01T00:00:00Z', statement("update public.plans set gateway_plan_id = 'plan_basic' where tier = 'basic'")],
  [
    '2026-07-01T00:00:00Z',
    statement(
      `insert into public.plans (tier, lookup_key, name, price, duration_months)
       values ('basic', 'basic_yearly', 'Basic, yearly', 49000, 12)`,
    ),
  ],

  // Lata has a complimentary tier. A second grant was revoked.
  ['2026-09-14T10:00:00Z', signUp('lata')],
  [
    '2026-09-14T10:05:00Z',
    statement(grant, userId('lata'), 'premium', '2027-01-01', 'Beta tester'),
  ],
  [
    '2026-09-15T10:00:00Z',
    statement(grant, userId('lata'), 'pro', '2027-06-01', 'A mistake'),
  ],
  [
    '2026-09-15T10:01:00Z',
    statement(
      `insert into billing.support_actions (action, reference, reason)
       select 'revoke_grant', g.id, 'For another customer' from billing.grants g where g.reason = 'A mistake'`,
    ),
  ],

  [
    '2026-09-15T10:02:00Z',
    statement(
      `insert into billing.support_actions (action, email, reason)
       values ('note', 'lata@example.com', 'The second grant was for another customer')`,
    ),
  ],

  // Zara's subscription row was written by hand, without a payment. An open finding.
  ['2026-09-16T10:00:00Z', signUp('zara')],
  [
    '2026-09-16T10:05:00Z',
    statement(
      `with written as (
         insert into public.subscriptions (user_id, tier, status, current_period_start, current_period_end)
         values ($1, 'pro', 'active', '2026-09-16', '2027-09-16')
       )
       update billing.profiles set subscription_tier = 'pro' where user_id = $1`,
      userId('zara'),
    ),
  ],

  // Wali was deleted more than 90 days ago, so his remaining data was erased. Xena was deleted recently, and the gateway
  // cancels her subscription.
  ['2026-07-05T10:00:00Z', signUp('wali')],
  ['2026-07-05T10:05:00Z', order('wali', 'pro', 'order_wali')],
  ['2026-07-05T10:06:00Z', captured('order_wali', 'pro')],
  ['2026-07-10T10:00:00Z', statement('delete from auth.users where id = $1', userId('wali'))],
  ['2026-10-18T00:00:00Z', signUp('xena')],
  ['2026-10-18T00:01:00Z', billed('activated', cycleOfXena)],
  ['2026-10-18T00:02:00Z', billed('charged', cycleOfXena, 'pay_xena')],
  ['2026-10-25T10:00:00Z', statement('delete from auth.users where id = $1', userId('xena'))],

  // The app sold Yash a tier without a plan. Two open findings: the payment, and its event.
  ['2026-09-17T10:00:00Z', signUp('yash')],
  [
    '2026-09-17T10:05:00Z',
    statement(
      `insert into public.payments (user_id, amount, gateway_order_id, meta)
       values ($1, 4900, 'order_yash', '{"tier": "gold"}')`,
      userId('yash'),
    ),
  ],
  ['2026-09-17T10:06:00Z', captured('order_yash', 'basic', 'plan_not_found')],

  // Two events wait: one for an unknown order, and one for Zoya, who has not signed up.
  ['2026-10-31T08:00:00Z', deliver(paymentEvent('captured', money('order_unknown', 'pro')), 'unmatched')],
  ['2026-10-31T08:05:00Z', deliver(subscriptionEvent('activated', cycleOfZoya), 'unmatched')],

  // Sara's mail is refused and parked: an open finding. Tara's mail is retried. Side effects of the last minute are due.
  ['2026-10-28T10:00:00Z', signUp('sara')],
  ['2026-10-28T10:05:00Z', order('sara', 'pro', 'order_sara')],
  ['2026-10-28T10:06:00Z', verify('sara', 'order_sara')],
  ['2026-10-28T10:06:05Z', captured('order_sara', 'pro')],
  ['2026-10-31T11:50:00Z', signUp('tara')],
  ['2026-10-31T11:58:00Z', order('tara', 'pro', 'order_tara_1')],
  ['2026-10-31T11:58:50Z', verify('tara', 'order_tara_1')],
  ['2026-10-31T11:59:10Z', order('tara', 'basic', 'order_tara_2')],
  ['2026-10-31T11:59:30Z', verify('tara', 'order_tara_2')],
];
