/** How far the clock of the database is ahead of that of this machine, milliseconds. */
let ahead = 0;

/** Takes over the time of the database, by which all that is shown happens. A local stack moves it. */
export function setClock(iso: string): void {
  ahead = Date.parse(iso) - Date.now();
}

/** The time of the database, milliseconds. */
export function now(): number {
  return Date.now() + ahead;
}
