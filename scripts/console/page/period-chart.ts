/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';
import type { Period } from '../rows.ts';
import { now } from './clock.ts';
import type { Coming } from './commitments.ts';
import { words } from './format.ts';
import { monthTicks } from './scale.ts';
import { percent, svg } from './svg.ts';
import { monthText, textOf } from './zone.ts';

type Bar = Period & { from: number; to: number };
type Lane = { name: string; bars: Bar[]; coming: Coming[] };

const LANE = 40;
const TOP = 26;
const MOST_LANES = 12;
const DAY = 24 * 3_600_000;

/**
 * Bars of the paid periods and cycles over time, one lane for each source, so that overlaps are seen. A pale bar is
 * access that ended early; the bar that gives the tier has a border; a dashed one is a cycle that is charged next.
 */
export function periodChart(periods: Period[], coming: Coming[]): HTMLElement {
  const present = now();
  const begins = periods.flatMap(({ starts_at }) => starts_at === null ? [] : [Date.parse(starts_at)]);
  const ends = periods.flatMap(({ ends_at }) => ends_at === null ? [] : [Date.parse(ends_at)]);
  const first = Math.min(present - 15 * DAY, ...begins, ...coming.map(({ chargeAt }) => chargeAt));
  const last = Math.max(present + 15 * DAY, ...ends, ...coming.map(({ to }) => to));
  const margin = (last - first) / 50;
  const [from, to] = [first - margin, last + margin];
  const xOf = (at: number) => (at - from) / (to - from);

  const all = lanesOf(periods, coming, from, to);
  const lanes = all.slice(-MOST_LANES);
  const height = TOP + lanes.length * LANE;
  const drawing = svg('svg', { height, 'aria-hidden': 'true', class: 'plot' });
  for (const tick of monthTicks(from, to, 5)) {
    const x = percent(xOf(tick));
    drawing.append(
      svg('line', { x1: x, x2: x, y1: TOP - 6, y2: height, class: 'grid' }),
      svg('text', { x, y: 14, dx: 4 }, monthText(tick)),
    );
  }
  const names: SVGElement[] = [];
  for (const [index, { name, bars, coming }] of lanes.entries()) {
    const y = TOP + index * LANE;
    const spans = [...bars, ...coming];
    const start = Math.min(...spans.map((span) => span.from));
    // The name of a lane that begins late is written to the left, so that it is not cut off.
    const isLate = xOf(start) > 0.6;
    const end = Math.max(...spans.map((span) => span.to));
    const text = { x: percent(xOf(isLate ? end : start)), y: y + 13, 'text-anchor': isLate ? 'end' : 'start' };
    names.push(svg('text', { ...text, class: 'lane' }, name));
    drawing.append(
      ...bars.flatMap((bar) => draw(bar, y + 18, xOf)),
      ...coming.flatMap((next) => drawComing(next, y + 18, xOf)),
    );
  }
  const x = percent(xOf(present));
  // The names above the line, which would strike them through.
  drawing.append(svg('line', { x1: x, x2: x, y1: TOP - 6, y2: height, class: 'now' }), ...names);
  const label =
    `Access over time from ${all.length} sources, and the next charges; the sentences and the table below have the days.`;
  const notes = all.length > lanes.length ? [`The newest ${lanes.length} of ${all.length} sources.`] : [];
  const key = element(
    'p',
    { className: 'soft key' },
    `The line is now. Pale: ended early. Dashed: charged at the dot, if nothing changes. ${notes.join(' ')}`,
  );
  const chart = element('div', { className: 'chart wide', role: 'img', ariaLabel: label }, drawing);
  return element('figure', {}, chart, key);
}

function draw(
  { kind, tier, from, to, ended_at, is_ruling }: Bar,
  y: number,
  xOf: (at: number) => number,
): SVGElement[] {
  const end = ended_at === null ? to : Math.min(Math.max(from, Date.parse(ended_at)), to);
  const title = `${kindText(kind)}, ${tier ?? 'no tier'}: ${textOf(from, 'day')} to ${textOf(to, 'day')}` +
    (ended_at === null ? '' : `, ended ${textOf(Date.parse(ended_at), 'day')}`);
  const bar = (until: number, extra: string) =>
    svg('rect', {
      x: percent(xOf(from)),
      width: percent(Math.max(0.004, xOf(until) - xOf(from) - 0.002)),
      y,
      height: 14,
      rx: 3,
      class: `period ${kind} ${extra}`,
    }, svg('title', {}, title));
  const whole = bar(to, ended_at === null ? is_ruling ? 'ruling' : '' : 'ended');
  return ended_at === null || end <= from ? [whole] : [whole, bar(end, '')];
}

function drawComing({ tier, from, to, chargeAt, price }: Coming, y: number, xOf: (at: number) => number): SVGElement[] {
  const title = `${tier}: ${price} on ${textOf(chargeAt, 'day')}, for ${textOf(from, 'day')} to ${textOf(to, 'day')}`;
  const width = percent(Math.max(0.004, xOf(to) - xOf(from) - 0.002));
  return [
    svg(
      'rect',
      { x: percent(xOf(from)), width, y, height: 14, rx: 3, class: 'period coming' },
      svg('title', {}, title),
    ),
    svg('circle', { cx: percent(xOf(chargeAt)), cy: y + 7, r: 5, class: 'charge' }, svg('title', {}, title)),
  ];
}

/** A kind of source as support calls it. */
export const kindText = (kind: string) => kind === 'manual' ? 'Written by hand' : words(kind);

/** The periods and the next charges by their source, in the order in which the sources began. */
function lanesOf(periods: Period[], coming: Coming[], from: number, to: number): Lane[] {
  const lanes = new Map<string, Lane>();
  for (const period of periods.toReversed()) {
    const { kind, source_id, tier, starts_at, ends_at } = period;
    const key = `${kind} ${source_id}`;
    const lane = lanes.get(key) ?? { name: '', bars: [], coming: [] };
    lane.name = `${kindText(kind)} · ${tier ?? 'no tier'}`;
    const start = starts_at === null ? from : Date.parse(starts_at);
    lane.bars.push({ ...period, from: start, to: ends_at === null ? to : Date.parse(ends_at) });
    lanes.set(key, lane);
  }
  for (const next of coming) {
    const key = `gateway_subscription ${next.id}`;
    const lane = lanes.get(key) ?? { name: `${words('gateway_subscription')} · ${next.tier}`, bars: [], coming: [] };
    lane.coming.push(next);
    lanes.set(key, lane);
  }
  return [...lanes.values()];
}
