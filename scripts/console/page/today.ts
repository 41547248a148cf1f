/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';
import type { Finding, ServiceState } from '../rows.ts';
import { read } from './api.ts';
import { actionButton } from './dialog.ts';
import { amounts, time, words } from './format.ts';
import { code, facts, head, link, section } from './parts.ts';
import { remedyOf } from './remedies.ts';
import type { Show } from './view.ts';

type Today = { findings: Finding[]; hasMore: boolean; state: ServiceState };
/** The findings are a report: with 100,000 paying customers they take seconds. */
const EVERY_MS = 5 * 60_000;

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
    ['Oldest waiting mail', time(state.oldest_undelivered_mail_at, 'none waits', 'ago')],
    ['Payments today', String(state.payments_today)],
    ['Received today', amounts(state.revenue_today, 'nothing yet')],
  ], 'tiles');
}

function allClear(): HTMLElement {
  const text = element('div', {}, element('strong', {}, 'Nothing to do'), element('p', {}, 'No finding is open.'));
  return element('div', { className: 'clear' }, element('span', { className: 'tick', ariaHidden: 'true' }, '✓'), text);
}

function groups(findings: Finding[]): HTMLElement[] {
  const kinds = Object.entries(Object.groupBy(findings, ({ finding }) => finding));
  return kinds.map(([kind, rows = []]) => {
    const count = element('span', { className: 'count' }, String(rows.length));
    // What to do is written once, where it is the same for all.
    const remedies = [...new Set(rows.map(({ remedy }) => remedy))];
    const [common] = remedies.length === 1 ? remedies : [];
    const advice = common ? [element('p', { className: 'advice' }, common)] : [];
    const items = rows.map((row) => one(row, common ? null : row.remedy));
    return section(words(kind), [...advice, element('ul', { className: 'findings' }, ...items)], count);
  });
}

function one(finding: Finding, remedy: string | null): HTMLElement {
  const { user_id, email, subject, since } = finding;
  const who = user_id === null ? subjectOf(finding) : link(`/customers/${user_id}`, email ?? subject);
  const line = element('div', { className: 'row' }, who, time(since, '', 'ago'));
  if (user_id !== null && subject !== user_id) line.append(subjectOf(finding));
  const cause = causeOf(finding);
  if (cause !== null) line.append(element('span', { className: 'soft' }, cause));
  const text = element('div', {}, line, ...remedy ? [element('p', { className: 'soft' }, remedy)] : []);
  const proposal = remedyOf(finding);
  const button = proposal === null ? [] : [actionButton(proposal, email ?? subject)];
  return element('li', {}, text, ...button);
}

/** What the finding is about, linked to its page where it has one. */
function subjectOf({ finding, subject, detail }: Finding): Node {
  if (finding === 'outbox_stuck') return link(`/messages/${detail.id}`, `message ${detail.id}`);
  if (finding === 'failed_events') return link(`/webhooks/${subject}`, `${detail.event ?? 'webhook'}`);
  return code(subject);
}

/** Why it happened, where the finding says so. */
function causeOf({ detail }: Finding): string | null {
  const cause = detail.last_error ?? detail.error ?? detail.reason ?? detail.outcome;
  return typeof cause === 'string' ? cause.replaceAll('_', ' ') : null;
}
