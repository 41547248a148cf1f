/** Bars of one place of a chart: the values of the series, stacked above zero and below it. */
export type Stack = { from: number; to: number; series: number }[];

/** Stacks the values of each place: positive ones upwards, negative ones downwards. */
export function stack(series: number[][], places: number): Stack[] {
  return Array.from({ length: places }, (_, place) => {
    let up = 0;
    let down = 0;
    return series.map((values, index) => {
      const value = values[place] ?? 0;
      const from = value < 0 ? down : up;
      const to = from + value;
      if (value < 0) down = to;
      else up = to;
      return { from, to, series: index };
    });
  });
}

/** The lines of a scale: round numbers from below the least to above the greatest value, zero among them. */
export function gridLines(values: number[], most = 4): number[] {
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const step = roundStep((high - low || 1) / most);
  const lines = [];
  for (let line = Math.floor(low / step); line * step < high + step; line += 1) lines.push(line * step);
  return lines.length > 1 ? lines : [0, step];
}

/** The next 1, 2 or 5 times a power of ten; at least one, because all values are whole numbers. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const round = [1, 2, 5, 10].find((times) => times * power >= step) ?? 10;
  return Math.max(1, round * power);
}

/** The starts of months between two times in UTC, so far apart that they are at most as many as asked for. */
export function monthTicks(from: number, to: number, most: number): number[] {
  const start = new Date(from);
  const months = (to - from) / (30 * 24 * 3_600_000);
  const step = [1, 2, 3, 6, 12, 24, 60].find((one) => months / one <= most) ?? 120;
  const ticks: number[] = [];
  for (let month = Math.ceil(start.getUTCMonth() / step) * step;; month += step) {
    const tick = Date.UTC(start.getUTCFullYear(), month, 1);
    if (tick > to) return ticks;
    if (tick >= from) ticks.push(tick);
  }
}
