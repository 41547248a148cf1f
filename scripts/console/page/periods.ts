/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';
import type { Commitment, Period } from '../rows.ts';
import { now } from './clock.ts';
import { comingOf, followList } from './commitments.ts';
import { actionButton } from './dialog.ts';
import { time } from './format.ts';
import { badge, code, type Column, empty, section, table } from './parts.ts';
import { kindText, periodChart } from './period-chart.ts';

/** What gives access and what follows, as one picture, as sentences and as a table with what can be done to each. */
export function periodPanel(
  periods: Period[],
  commitments: Commitment[],
  user_id: string,
  who: string,
): HTMLElement {
  const coming = comingOf(commitments);
  if (periods.length === 0 && coming.length === 0) {
    return section('Access', [empty('No paid period', 'Grant a tier, or wait for the first payment.')]);
  }
  const columns: Column<Period>[] = [
    { head: 'Kind', cell: ({ kind }) => kindText(kind) },
    { head: 'Tier', cell: ({ tier }) => tier ?? '–' },
    { head: 'From', cell: ({ starts_at }) => time(starts_at, '–', 'day') },
    { head: 'To', cell: ({ ends_at }) => time(ends_at, 'no end', 'day') },
    { head: 'State', cell: state },
    { head: 'Source', cell: ({ source_id }) => code(source_id) },
    { head: 'Action', cell: (period) => action(period, user_id, who) },
  ];
  const rows = element(
    'details',
    {},
    element('summary', {}, 'Periods as a table, and what can be done to them'),
    table('Periods', columns, periods),
  );
  const follows = [element('h3', {}, 'What follows'), followList(commitments)];
  return section('Access', [periodChart(periods, coming), ...follows, ...periods.length > 0 ? [rows] : []]);
}

/** Whether access of this period runs, or is still to come. */
function isOpen({ ends_at, ended_at }: Period): boolean {
  return ended_at === null && (ends_at === null || Date.parse(ends_at) > now());
}

function state(period: Period): Node {
  if (period.is_ruling) return badge('gives the tier', 'good');
  if (period.ended_at !== null) return element('span', {}, 'ended ', time(period.ended_at, '', 'day'));
  return badge(isOpen(period) ? 'open' : 'over');
}

function action(period: Period, user_id: string, who: string): Node | string {
  const { kind, source_id, tier } = period;
  if (!isOpen(period)) return '–';
  const proposal = { email: user_id, reference: source_id, ...(tier !== null && { tier }) };
  if (kind === 'grant') return actionButton({ action: 'revoke_grant', ...proposal }, who, 'Revoke');
  if (kind === 'payment') return actionButton({ action: 'end_access', ...proposal }, who, 'End access');
  return '–';
}
