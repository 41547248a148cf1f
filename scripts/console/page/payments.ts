/// <reference lib="dom" />
import { element, money } from '../../stack/shop/element.ts';
import type { Payment } from '../rows.ts';
import { actionButton } from './dialog.ts';
import { monthsText, time } from './format.ts';
import { badge, code, type Column, type Tone } from './parts.ts';

const tones: Record<string, Tone> = { captured: 'good', failed: 'bad', created: 'quiet' };

/** The columns of a customer's payments, with what can be done to each. */
export const paymentColumns = (id: string, who: string): Column<Payment>[] => [
  { head: 'When', cell: ({ at }) => time(at) },
  { head: 'Tier', cell: sold },
  { head: 'Amount', cell: ({ amount, currency }) => amount === null ? '–' : money(amount, currency), isNumber: true },
  { head: 'Status', cell: status },
  { head: 'Attempts', cell: attemptsOf },
  { head: 'Order or subscription, payment', cell: ids },
  { head: 'Refund', cell: (payment) => refundButton(payment, id, who) },
];

function sold({ tier, price_key, months }: Payment): Node {
  const price = [price_key !== tier && price_key, months && monthsText(months)].filter(Boolean).join(', ');
  return element('span', { className: 'stack' }, tier ?? '–', element('span', { className: 'soft' }, price));
}

function status({ status, kind, refunded_amount, currency, disputes }: Payment): Node {
  const made = element('span', { className: 'row tight' }, badge(status, tones[status] ?? 'wait'));
  if (kind === 'extra_payment') made.append(element('span', { className: 'soft' }, 'a further payment on the order'));
  if (refunded_amount) made.append(badge(`refunded ${money(refunded_amount, currency)}`, 'wait'));
  for (const { id, phase, amount, status } of disputes ?? []) {
    const told = [id, phase?.replaceAll('_', ' '), amount === null ? '' : money(amount, currency)];
    made.append(
      badge(`dispute ${status}`, 'bad'),
      element('span', { className: 'soft' }, told.filter(Boolean).join(', ')),
    );
  }
  return made;
}

function attemptsOf({ attempts, last_error }: Payment): Node | string {
  const count = String(attempts ?? '–');
  return last_error
    ? element('span', { className: 'stack' }, count, element('span', { className: 'soft' }, last_error))
    : count;
}

function ids({ gateway_order_id, gateway_payment_id, kind, source_id }: Payment): Node {
  const given = [kind === 'cycle' ? source_id : gateway_order_id, gateway_payment_id].filter((id) => id !== null);
  return element('span', { className: 'stack' }, ...given.map(code));
}

function refundButton(payment: Payment, email: string, who: string): Node | string {
  const { gateway_payment_id: reference, refundable_amount } = payment;
  return refundable_amount > 0 ? actionButton({ action: 'refund', email, reference }, who) : '';
}
