/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';
import { gridLines, stack } from './scale.ts';
import { percent, svg } from './svg.ts';

/** One value for each place of the chart. Negative ones are drawn below zero. */
export type Series = { name: string; values: number[] };
type Options = {
  /** What the chart shows, for those who do not see it. The numbers are in a table beside it. */
  label: string;
  /** Below each place. */
  places: string[];
  series: Series[];
  format: (value: number) => string;
};

const HEIGHT = 168;
const TOP = 8;
const LABELS = 22;

/** Bars over places, one stack for each. A pointer over a bar shows its number. */
export function barChart({ label, places, series, format }: Options): HTMLElement {
  const stacks = stack(series.map(({ values }) => values), places.length);
  const lines = gridLines(stacks.flatMap((bars) => bars.map(({ to }) => to)));
  const [low = 0, high = 1] = [lines.at(0), lines.at(-1)];
  const yOf = (value: number) => TOP + (high - value) / (high - low) * HEIGHT;
  const band = 1 / places.length;

  const size = { height: TOP + HEIGHT + LABELS, 'aria-hidden': 'true' };
  const axis = svg('svg', { ...size, class: 'axis' });
  const plot = svg('svg', { ...size, class: 'plot' });
  for (const line of lines) {
    axis.append(svg('text', { x: '100%', y: yOf(line) + 4, 'text-anchor': 'end' }, format(line)));
    const y = yOf(line);
    plot.append(svg('line', { x1: 0, x2: '100%', y1: y, y2: y, class: line === 0 ? 'zero' : 'grid' }));
  }
  for (const [place, bars] of stacks.entries()) {
    for (const { from, to, series: index } of bars) {
      if (from === to) continue;
      const { name, values } = series[index] ?? { name: '', values: [] };
      const [top, bottom] = [yOf(Math.max(from, to)), yOf(Math.min(from, to))];
      const bar = svg('rect', {
        x: percent((place + 0.2) * band),
        width: percent(0.6 * band),
        y: top,
        // A small value stays visible.
        height: Math.max(1.5, bottom - top),
        class: `series-${index % 6}`,
      }, svg('title', {}, `${places[place]}, ${name}: ${format(Math.abs(values[place] ?? 0))}`));
      plot.append(bar);
    }
    const text = { x: percent((place + 0.5) * band), y: TOP + HEIGHT + 16, 'text-anchor': 'middle' };
    plot.append(svg('text', { ...text, class: place % 2 === 1 ? 'place second' : 'place' }, places[place] ?? ''));
  }
  const chart = element('div', { className: 'chart', role: 'img', ariaLabel: label }, axis, plot);
  return element('figure', {}, chart, ...legend(series));
}

function legend(series: Series[]): HTMLElement[] {
  if (series.length < 2) return [];
  const names = series.map(({ name }, index) =>
    element('li', {}, element('span', { className: `swatch series-${index % 6}` }), name)
  );
  return [element('ul', { className: 'legend' }, ...names)];
}
