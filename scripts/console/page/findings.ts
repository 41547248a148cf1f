/// <reference lib="dom" />
import { element, money } from '../../stack/shop/element.ts';
import type { Finding } from '../rows.ts';
import { actionButton } from './dialog.ts';
import { time, words } from './format.ts';
import { code, link, section } from './parts.ts';
import { remedyOf } from './remedies.ts';

/** Findings by their kind, each with what to do. */
export function groups(findings: Finding[]): HTMLElement[] {
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
  const { amount, currency } = finding.detail;
  if (typeof amount === 'number' && typeof currency === 'string') {
    line.append(element('span', {}, money(amount, currency)));
  }
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
  // Of a payment of ours support knows the gateway's id.
  const { payment_id, gateway_payment_id: known } = detail;
  return code(payment_id === subject && typeof known === 'string' ? known : subject);
}

/** Why it happened, where the finding says so. */
function causeOf({ detail }: Finding): string | null {
  const cause = detail.last_error ?? detail.error ?? detail.reason ?? detail.outcome;
  return typeof cause === 'string' ? cause.replaceAll('_', ' ') : null;
}
