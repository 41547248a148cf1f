/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';
import type { Page } from '../paging.ts';
import type { Message } from '../rows.ts';
import { read } from './api.ts';
import { actionButton } from './dialog.ts';
import { time, words } from './format.ts';
import { pagedTable } from './paged.ts';
import { badge, code, type Column, empty, facts, head, json, link, section, tabs, type Tone } from './parts.ts';
import { keptText } from './timeline.ts';
import type { Show } from './view.ts';

const tones: Record<Message['state'], Tone> = {
  'delivered': 'good',
  'not sent': 'quiet',
  'queued': 'wait',
  'parked': 'bad',
};
const columns: Column<Message>[] = [
  { head: 'Message', cell: ({ id, kind }) => link(`/messages/${id}`, words(kind)) },
  { head: 'State', cell: ({ state }) => badge(state, tones[state]) },
  { head: 'To', cell: recipientOf },
  { head: 'Attempts', cell: ({ attempts }) => String(attempts), isNumber: true },
  { head: 'Last error', cell: ({ last_error }) => last_error ?? '–' },
  { head: 'Created', cell: ({ created_at }) => time(created_at) },
];
const choices: [string, string][] = [
  ['All', '/messages'],
  ['Queued', '/messages?show=queued'],
  ['Parked', '/messages?show=parked'],
];

/** The mails and other side effects, newest first. */
export const showMessages: Show = async (url, _id, signal) => {
  const path = `/messages${url.search}`;
  const first = await read<Page<Message> & { keptDays: number | null }>(path, signal);
  const note = element('p', { className: 'soft' }, keptText(first.keptDays));
  const none = path === '/messages'
    ? empty('No message yet', 'The first payment sends the first mail.')
    : empty('None in this state', 'Every message is delivered, or in another state.');
  const content = first.rows.length === 0 ? [none] : pagedTable('Messages', columns, first, path);
  const choice = tabs('Which messages', choices, path);
  return {
    title: 'Messages',
    content: [head('Messages', choice), element('div', { className: 'panel' }, ...content), note],
  };
};

/** One message: the mail as the customer sees it, its delivery, and a second attempt. */
export const showMessage: Show = async (_url, id, signal) => {
  const message = await read<Message & { subject: string | null }>(`/messages/${id}`, signal);
  const { kind, state, attempts, last_error, created_at, delivered_at, next_attempt_at, user_id, subject } = message;
  const who = message.recipient ?? words(message.destination);
  const about = facts([
    ['State', badge(state, tones[state])],
    ['To', recipientOf(message)],
    ['Attempts', String(attempts)],
    ['Last error', last_error ?? 'none'],
    ['Created', time(created_at)],
    [state === 'not sent' ? 'Completed' : 'Delivered', time(delivered_at)],
    ['Next attempt', state === 'queued' ? time(next_attempt_at) : '–'],
    ['Number', code(id)],
  ]);
  const aside = element('aside', { className: 'panel', ariaLabel: 'About the message' }, about);
  if (state === 'parked') {
    const button = actionButton({ action: 'requeue_mail', email: user_id, reference: id }, who);
    aside.append(element('div', { className: 'actions' }, button));
  }
  const details = element('details', {}, element('summary', {}, 'Data'), json(message.payload, 'Data'));
  const preview = subject === null
    ? section('Data', [json(message.payload, 'Data')])
    : section(subject, [mailFrame(id), details]);
  const content = element('div', { className: 'columns' }, preview, aside);
  return { title: words(kind), content: [head(words(kind), link('/messages', 'All messages')), content] };
};

/** The rendered mail. Its own policy allows neither scripts nor requests. */
function mailFrame(id: string): HTMLElement {
  const frame = element('iframe', { title: 'The mail', src: `/api/messages/${id}/mail`, className: 'mail' });
  frame.setAttribute('sandbox', '');
  return frame;
}

function recipientOf({ recipient, user_id, destination }: Message): Node | string {
  const text = recipient ?? words(destination);
  return user_id === null ? text : link(`/customers/${user_id}`, text);
}
