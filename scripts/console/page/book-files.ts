/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';
import type { BookJob } from '../book-files.ts';
import { read, send } from './api.ts';
import { time } from './format.ts';
import { type Column, section, table } from './parts.ts';

const POLL_MS = 400;
type MadeFile = BookJob['files'][number];

/** What the files are for, by the beginning of their names. */
const uses: readonly [start: string, use: string][] = [
  ['gstr1.json', 'GST portal: the return'],
  ['gstr1-', 'GST offline tool: for upload only'],
  ['summary', 'GSTR-3B and the bank, in paise'],
  ['sales-register', 'Each document'],
  ['settlements', 'Each bank line'],
  ['settlement-lines', 'The payments of each bank line'],
  ['tally-masters', 'Tally: import it first'],
  ['tally-', 'Tally: vouchers'],
  ['zoho-', 'Zoho Books'],
];

/** The panel of the month's files, which shows how far they are, and the names of those that are made. */
export async function filePanel(month: string, signal: AbortSignal) {
  const path = `/books/${month}/files`;
  const job = await read<BookJob | null>(path, signal);
  const made = new Set(job?.state === 'done' ? job.files.map(({ name }) => name) : []);
  const button = element(
    'button',
    { type: 'button', id: 'make-files' },
    made.size > 0 ? 'Make again' : 'Make the files',
  );
  const state = element('p', { className: 'advice', role: 'status' });
  const bar = element('progress', { ariaLabel: 'Files being made', hidden: true });
  const list = table('Files', columnsOf(month), job?.files ?? []);
  const panel = section('Files', [state, bar, list], button);

  const show = (now: BookJob | null) => {
    button.disabled = now?.state === 'running';
    bar.hidden = now?.state !== 'running';
    list.hidden = now?.state !== 'done';
    if (now && now.done > 0) Object.assign(bar, { max: now.total, value: now.done });
    state.replaceChildren(...textOf(now));
  };
  const follow = async (now: BookJob) => {
    show(now);
    while (now.state === 'running') {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      if (signal.aborted) return;
      now = await read<BookJob>(path, signal);
      show(now);
    }
    if (now.state === 'done') dispatchEvent(new Event('console:changed'));
  };
  const fail = (error: unknown) => {
    if (signal.aborted) return;
    show(null);
    state.replaceChildren(error instanceof Error ? error.message : String(error));
  };
  button.onclick = () => void send<BookJob>(path).then(follow).catch(fail);
  show(job);
  if (job?.state === 'running') void follow(job).catch(fail);
  return { panel, made };
}

function textOf(job: BookJob | null): (string | Node)[] {
  if (job === null) return ['For the accountant: the same files as npm run books. They are not made yet.'];
  if (job.state === 'failed') return [`They could not be made: ${job.error}`];
  if (job.state === 'done') return ['Made on ', time(job.at), ', from one state of the database.'];
  if (job.done === 0) return ['Being made: the return …'];
  return [`Being made: ${job.done.toLocaleString('en-IN')} of ${job.total.toLocaleString('en-IN')} rows.`];
}

const columnsOf = (month: string): Column<MadeFile>[] => [
  { head: 'File', cell: ({ name }) => download(month, name) },
  { head: 'For', cell: ({ name }) => uses.find(([start]) => name.startsWith(start))?.[1] ?? '' },
  { head: 'Size', cell: ({ bytes }) => sizeOf(bytes), isNumber: true },
];

function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function download(month: string, name: string): HTMLAnchorElement {
  return element('a', { href: `/api/books/${month}/files/${name}`, download: `${month}-${name}` }, name);
}

/** A link to a file, or its name where it is not made. */
export function fileLink(month: string, name: string, made: ReadonlySet<string>): Node {
  return made.has(name) ? download(month, name) : element('span', { className: 'soft' }, name);
}
