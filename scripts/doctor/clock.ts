import { type Outcome, warn } from './check.ts';

/** More than an answer takes, and less than what the tolerances of sessions and events allow. */
const toleratedSeconds = 60;

/** Compares the time that a part of the project answered with this machine's time. A part without one is not compared. */
export function checkClock(part: string, time: string | null): Outcome[] {
  const seconds = Math.round((Date.parse(time ?? '') - Date.now()) / 1000);
  if (Number.isNaN(seconds) || Math.abs(seconds) <= toleratedSeconds) return [];
  return [
    warn(
      `the clock of ${part} is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} that of this machine`,
      'Set the wrong one by a time server: sessions, events and periods depend on it. It is this machine where all differ.',
    ),
  ];
}
