/** The formats of the seller's time zone: the browser's until it is known. */
let formats = formatsOf(undefined);
const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const months = new Intl.DateTimeFormat('en-GB', { month: 'short', year: '2-digit', timeZone: 'UTC' });

function formatsOf(timeZone: string | undefined) {
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
  const time = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const;
  return {
    minute: new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone }),
    day: new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone }),
    parts: new Intl.DateTimeFormat('en-US', { ...numeric, ...time, timeZone }),
  };
}

/** Shows times in the seller's time zone from now on. */
export function setZone(timeZone: string): void {
  formats = formatsOf(timeZone);
}

/** A time as the day and minute, or the day, of the seller. */
export function textOf(at: Date | number, format: 'minute' | 'day'): string {
  return shortText(formats[format], at);
}

/** A day such as 2026-11-04 as text. */
export function day(date: string): string {
  return shortText(days, Date.parse(date));
}

/** The month of a time, with two digits of the year. */
export function monthText(at: number): string {
  return shortText(months, at);
}

/** As the sentences of the database write it; for September alone en-GB has four letters. */
function shortText(format: Intl.DateTimeFormat, at: Date | number): string {
  return format.format(at).replace('Sept', 'Sep');
}

/** A time as the value of an input of the type `datetime-local`. */
export function localMinute(at: Date): string {
  return wallText(at.getTime() + offsetAt(at.getTime()));
}

/** The time of a value of such an input. */
export function timeOf(local: string): Date {
  const wall = Date.parse(`${local}Z`);
  // The offset of the time itself, which the first guess may miss by the change of a summer time.
  return new Date(wall - offsetAt(wall - offsetAt(wall)));
}

/** The value of such an input, calendar months after a time: the 31st of a shorter month is its last day. */
export function monthsAfter(at: Date, months: number): string {
  const wall = new Date(at.getTime() + offsetAt(at.getTime()));
  const day = wall.getUTCDate();
  wall.setUTCMonth(wall.getUTCMonth() + months);
  if (wall.getUTCDate() !== day) wall.setUTCDate(0);
  return wallText(wall.getTime());
}

function wallText(wall: number): string {
  return new Date(wall).toISOString().slice(0, 16);
}

/** How far the clocks are ahead of UTC at a time, milliseconds. */
function offsetAt(at: number): number {
  const parts = new Map(formats.parts.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const [year = 0, month = 1, ...rest] = (['year', 'month', 'day', 'hour', 'minute', 'second'] as const)
    .map((name) => parts.get(name) ?? 0);
  return Date.UTC(year, month - 1, ...rest) - Math.floor(at / 1000) * 1000;
}
