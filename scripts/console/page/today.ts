/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';
import type { Finding, ServiceState } from '../rows.ts';
import { read } from './api.ts';
import { groups } from './findings.ts';
import { amounts, time } from './format.ts';
import { facts, head } from './parts.ts';
import type { Show } from './view.ts';

type Today = { findings: Finding[]; hasMore: boolean; state: ServiceState };
/** The sweep, which finds what is shown, runs each minute. */
const EVERY_MS = 60_000;

/** What needs a person, and whether the service works. */
export const showToday: Show = async (_url, _id, signal) => {
  const { findings, hasMore, state } = await read<Today>('/today', signal);
  const count = hasMore ? `More than ${findings.length}` : String(findings.length);
  const content = findings.length === 0
    ? [allClear()]
    : [element('p', { className: 'lead' }, `${count} to look at, the oldest first.`), ...groups(findings)];
  return { title: 'Today', content: [head('Today'), service(state), ...content], everyMs: EVERY_MS };
};

function service(state: ServiceState): HTMLElement {
  return facts([
    ['Last webhook', time(state.last_webhook_at, 'none yet', 'ago')],
    ['Last sweep', time(state.last_sweep_at, 'none yet', 'ago')],
    ['Last reconciliation', time(state.last_reconciliation_at, 'none yet', 'ago')],
    ['Gateway read up to', readUntil(state)],
    ['Customers checked', time(state.findings_as_of, 'not yet', 'ago')],
    ['Oldest waiting mail', time(state.oldest_undelivered_mail_at, 'none waits', 'ago')],
    [`Received today (${state.payments_today})`, amounts(state.revenue_today, 'nothing yet')],
  ], 'tiles');
}

/** How far the lists of the gateway were read: what they had, and how much of it no webhook had announced. */
function readUntil({ statement }: ServiceState): Node {
  const until = time(statement?.read_until ?? null, 'not yet', 'ago');
  if (statement === null) return until;
  const { payments, news } = statement;
  const count = `${payments} ${payments === 1 ? 'payment' : 'payments'}, ${news} new`;
  return element('span', { className: 'stack' }, until, element('small', { className: 'soft' }, count));
}

function allClear(): HTMLElement {
  const text = element('div', {}, element('strong', {}, 'Nothing to do'), element('p', {}, 'No finding is open.'));
  return element('div', { className: 'clear' }, element('span', { className: 'tick', ariaHidden: 'true' }, '✓'), text);
}
