/// <reference lib="dom" />
import { minorUnits } from '../../../supabase/client/subscriptions.ts';
import { element, money } from '../../stack/shop/element.ts';
import type { Page } from '../paging.ts';
import type { TimelineEntry } from '../rows.ts';
import { time, words } from './format.ts';
import { olderButton } from './paged.ts';
import { code, link, section } from './parts.ts';

/** Those of a cycle arrive within hours, those of the next one a week later at the earliest. */
const CYCLE_MS = 12 * 3_600_000;
/** What had its effect, or needed none. A problem of a subscription is shown by itself. */
const usual =
  /^(?!subscription\.(pending|halted|paused|resumed|cancelled|completed)\b)\S+: (applied|already|stale|ignored)\b/;

/** Everything that happened to a customer, the newest first. @param keptDays how long delivered messages are kept */
export function timelinePanel(first: Page<TimelineEntry>, path: string, keptDays: number | null): HTMLElement {
  const list = element('ol', { className: 'timeline' }, ...linesOf(first.rows));
  const older = olderButton<TimelineEntry>(first, path, (rows) => list.append(...linesOf(rows)));
  return section('Timeline', [element('p', { className: 'advice' }, keptText(keptDays)), list, ...older]);
}

/** Says for how long delivered messages are there. */
export function keptText(days: number | null): string {
  const end = days === null ? 'for OUTBOX_RETENTION_DAYS' : `for ${days} days`;
  return `Mails and events to the app are kept ${end} after their delivery; older ones are gone.`;
}

/** Gathers the webhooks of a cycle that had their usual effect, at the place of the newest. */
export function byCycle(rows: TimelineEntry[]): (TimelineEntry | TimelineEntry[])[] {
  const shown: (TimelineEntry | TimelineEntry[])[] = [];
  let cycle: TimelineEntry[] = [];
  for (const row of rows) {
    const isUsual = (row.what === 'webhook' || row.what === 'reconciliation') && usual.test(row.detail);
    if (!isUsual) {
      shown.push(row);
      continue;
    }
    const [newest] = cycle;
    if (newest === undefined || Date.parse(newest.at) - Date.parse(row.at) > CYCLE_MS) shown.push(cycle = []);
    cycle.push(row);
  }
  return shown;
}

function linesOf(rows: TimelineEntry[]): HTMLElement[] {
  return byCycle(rows).map((line) => Array.isArray(line) ? folded(line) : entry(line));
}

function folded(rows: TimelineEntry[]): HTMLElement {
  const names = rows.map(({ detail }) => detail.split(':')[0]).toReversed().join(', ');
  const count = rows.length === 1 ? '1 webhook' : `${rows.length} webhooks`;
  const title = element('strong', {}, `${count} as usual`);
  const summary = element('summary', {}, title, ' ', time(rows[0]?.at ?? null), ' ', element('small', {}, names));
  const list = element('ol', { className: 'timeline' }, ...rows.map(entry));
  return element('li', { className: 'webhook' }, element('details', {}, summary, list));
}

/** What a word of the database means to a reader who does not know it. */
const titles: Record<string, string> = { cancellation: 'Stop of the subscription', event: 'Event to the app' };

function entry({ at, what, reference, detail, link: address }: TimelineEntry): HTMLElement {
  const line = element('div', { className: 'row' }, element('strong', {}, titles[what] ?? words(what)), time(at));
  if (what === 'mail') line.append(link(`/messages/${reference}`, 'Show the mail'));
  else if (reference !== null) line.append(code(reference));
  // A link of the database leads out of the console.
  if (address?.startsWith('https://')) {
    line.append(element('a', { href: address, target: '_blank', rel: 'noreferrer' }, 'At the gateway'));
  }
  return element('li', { className: what }, line, element('p', {}, withMoney(detail)));
}

const currencies = new Set(Intl.supportedValuesOf('currency'));

/** Writes the amounts of a text as the tables do: `₹1,966.34` for `1966.34 INR`. */
export function withMoney(text: string): string {
  return text.replaceAll(
    /\b(\d+(?:\.\d+)?) ([A-Z]{3})\b/g,
    (as, amount, currency) =>
      currencies.has(currency) ? money(Math.round(Number(amount) * 10 ** minorUnits(currency)), currency) : as,
  );
}
