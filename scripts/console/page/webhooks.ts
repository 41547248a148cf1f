/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';
import type { Page } from '../paging.ts';
import type { Webhook } from '../rows.ts';
import { read } from './api.ts';
import { actionButton } from './dialog.ts';
import { time } from './format.ts';
import { pagedTable } from './paged.ts';
import { badge, code, type Column, empty, facts, head, json, link, section, tabs, type Tone } from './parts.ts';
import type { Show } from './view.ts';

const columns: Column<Webhook>[] = [
  { head: 'Event', cell: ({ body_sha256, event }) => link(`/webhooks/${body_sha256}`, event ?? 'no event') },
  { head: 'Outcome', cell: ({ outcome }) => outcomeBadge(outcome) },
  { head: 'Customer', cell: customer },
  { head: 'Subject', cell: ({ subject_id }) => code(subject_id) },
  { head: 'Deliveries', cell: ({ deliveries }) => String(deliveries), isNumber: true },
  { head: 'Received', cell: ({ received_at }) => time(received_at) },
];

/** The webhooks, newest first: all of them, or those without an effect. */
export const showWebhooks: Show = async (url, _id, signal) => {
  const isOpen = url.searchParams.get('show') === 'open';
  const path = isOpen ? '/webhooks?show=open' : '/webhooks';
  const first = await read<Page<Webhook>>(path, signal);
  const choice = tabs('Which webhooks', [['All', '/webhooks'], ['Without effect', '/webhooks?show=open']], path);
  const none = isOpen
    ? empty('Every webhook had its effect', 'Failed, parked and unmatched webhooks would be here.')
    : empty('No webhook yet', 'Check the address of the endpoint at the gateway: npm run doctor does.');
  const content = first.rows.length === 0 ? [none] : pagedTable('Webhooks', columns, first, path);
  return { title: 'Webhooks', content: [head('Webhooks', choice), element('div', { className: 'panel' }, ...content)] };
};

/** One webhook with its payload, and what can be done about it. */
export const showWebhook: Show = async (_url, id, signal) => {
  const webhook = await read<Webhook>(`/webhooks/${id}`, signal);
  const { event, outcome, subject_id, user_id, deliveries, attempts, received_at, body_sha256, payload } = webhook;
  const proposal = { email: user_id, reference: body_sha256 };
  const who = webhook.email ?? subject_id ?? 'an unknown customer';
  const isSettled = outcome === 'applied' || outcome === 'already' || outcome === null || outcome.startsWith('ignored');
  const names = ['replay_event', 'ignore_event'] as const;
  const buttons = isSettled ? [] : names.map((action) => actionButton({ action, ...proposal }, who));
  const about = facts([
    ['Outcome', outcomeBadge(outcome)],
    ['Customer', customer(webhook)],
    ['Subject', code(subject_id)],
    ['Received', time(received_at)],
    ['Deliveries', String(deliveries)],
    ['Attempts', String(attempts)],
    ['SHA-256', code(body_sha256)],
  ]);
  const aside = element('aside', { className: 'panel', ariaLabel: 'About the webhook' }, about);
  if (buttons.length > 0) aside.append(element('div', { className: 'actions' }, ...buttons));
  const shown = payload === null
    ? empty('The payload was deleted', 'It is kept for 90 days, as long as the event does not wait.')
    : json(payload, 'Payload');
  const back = link('/webhooks', 'All webhooks');
  const columns = element('div', { className: 'columns' }, section('Payload', [shown]), aside);
  return { title: event ?? 'Webhook', content: [head(event ?? 'Webhook', back), columns] };
};

function customer({ user_id, email }: Webhook): Node | string {
  return user_id === null ? '–' : link(`/customers/${user_id}`, email ?? user_id);
}

function outcomeBadge(outcome: string | null): HTMLElement {
  const text = outcome ?? 'waiting';
  return badge(text.replaceAll('_', ' '), toneOf(text));
}

function toneOf(outcome: string): Tone {
  if (outcome === 'applied') return 'good';
  if (/^(failed|parked|plan_not_found|mismatch)/.test(outcome)) return 'bad';
  return /^(unmatched|waiting)/.test(outcome) ? 'wait' : 'quiet';
}
