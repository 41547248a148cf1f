/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';
import type { FileJob } from '../file-maker.ts';
import { read, send } from './api.ts';
import { time } from './format.ts';
import { type Column, section, table } from './parts.ts';

const POLL_MS = 400;
type MadeFile = FileJob['files'][number];

/** What makes files: the path of its API, and what they are. */
export type FileKind = { path: string; title: string; text: string; uses: readonly [start: string, use: string][] };

/** The files of the books, and what they are for, by the beginning of their names. */
const bookUses: readonly [start: string, use: string][] = [
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

const kinds = {
  books: {
    path: '/books',
    title: 'Files',
    text: 'For the accountant: the same files as npm run books. They are not made yet.',
    uses: bookUses,
  },
  revenue: {
    path: '/revenue',
    title: 'Tables for a spreadsheet',
    text:
      'Payments and refunds of the month, and all customers and subscriptions, as CSV and as .xlsx. They are not made yet.',
    uses: [
      ['payments', 'Captured in the month, with the gateway’s fees once they are settled'],
      ['refunds', 'Refunded or lost in a dispute in the month'],
      ['customers', 'All, as they are now: a row for each currency'],
      ['subscriptions', 'All, as they are now'],
    ],
  },
} satisfies Record<string, FileKind>;

/** The panel of the month's files, which shows how far they are, and the names of those that are made. */
export async function filePanel(of: keyof typeof kinds, month: string, signal: AbortSignal, ...beside: Node[]) {
  const kind: FileKind = kinds[of];
  const path = `${kind.path}/${month}/files`;
  const job = await read<FileJob | null>(path, signal);
  const made = new Set(job?.state === 'done' ? job.files.map(({ name }) => name) : []);
  const button = element(
    'button',
    { type: 'button', id: 'make-files' },
    made.size > 0 ? 'Make again' : 'Make the files',
  );
  const state = element('p', { className: 'advice', role: 'status' });
  const bar = element('progress', { ariaLabel: 'Files being made', hidden: true });
  const list = table('Files', columnsOf(kind, month), job?.files ?? []);
  const panel = section(kind.title, [state, bar, list], ...beside, button);

  const show = (now: FileJob | null) => {
    button.disabled = now?.state === 'running';
    bar.hidden = now?.state !== 'running';
    list.hidden = now?.state !== 'done';
    if (now && now.done > 0) Object.assign(bar, { max: now.total, value: now.done });
    state.replaceChildren(...textOf(kind, now));
  };
  const follow = async (now: FileJob) => {
    show(now);
    while (now.state === 'running') {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      if (signal.aborted) return;
      now = await read<FileJob>(path, signal);
      show(now);
    }
    if (now.state === 'done') dispatchEvent(new Event('console:changed'));
  };
  const fail = (error: unknown) => {
    if (signal.aborted) return;
    show(null);
    state.replaceChildren(error instanceof Error ? error.message : String(error));
  };
  button.onclick = () => void send<FileJob>(path).then(follow).catch(fail);
  show(job);
  if (job?.state === 'running') void follow(job).catch(fail);
  return { panel, made };
}

function textOf(kind: FileKind, job: FileJob | null): (string | Node)[] {
  if (job === null) return [kind.text];
  if (job.state === 'failed') return [`They could not be made: ${job.error}`];
  if (job.state === 'done') return ['Made on ', time(job.at), ', from one state of the database.'];
  if (job.done === 0) return ['Being made …'];
  return [`Being made: ${job.done.toLocaleString('en-IN')} of ${job.total.toLocaleString('en-IN')} rows.`];
}

const columnsOf = (kind: FileKind, month: string): Column<MadeFile>[] => [
  { head: 'File', cell: ({ name }) => download(kind, month, name) },
  { head: 'For', cell: ({ name }) => kind.uses.find(([start]) => name.startsWith(start))?.[1] ?? '' },
  { head: 'Size', cell: ({ bytes }) => sizeOf(bytes), isNumber: true },
];

function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function download({ path }: FileKind, month: string, name: string): HTMLAnchorElement {
  return element('a', { href: `/api${path}/${month}/files/${name}`, download: `${month}-${name}` }, name);
}

/** A link to a file, or its name where it is not made. */
export function fileLink(month: string, name: string, made: ReadonlySet<string>): Node {
  return made.has(name) ? download(kinds.books, month, name) : element('span', { className: 'soft' }, name);
}
