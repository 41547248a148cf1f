#!/bin/sh
# date-fns 4.4.0 counts other months than it adds. `addMonths` of 3 to the 31st of January is the 30th of April, but between the
# two `differenceInMonths` finds 2; a year added to the 29th of February is 12 months and no year. And a 28th of February
# completes the month of who began on a later day, in leap years too, a day before the renewal: `intervalToDuration` has -1 day
# there. dayjs 1.11.23, luxon 3.7.2 and moment 2.31.0 always count what they added, and a month less the day before.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts date-fns@4.4.0 dayjs@1.11.23 luxon@3.7.2 moment@2.31.0 >/dev/null
cat > count.cjs <<'JS'
const { addDays, addMonths, differenceInMonths, differenceInYears, intervalToDuration } = require('date-fns');
const dayjs = require('dayjs');
const { DateTime } = require('luxon');
const moment = require('moment');
/** How each adds months to a date, and counts those between two. */
const libraries = {
  'date-fns': [addMonths, (to, from) => differenceInMonths(to, from)],
  dayjs: [(date, count) => dayjs(date).add(count, 'month').toDate(), (to, from) => dayjs(to).diff(from, 'month')],
  luxon: [
    (date, count) => DateTime.fromJSDate(date).plus({ months: count }).toJSDate(),
    (to, from) => Math.floor(DateTime.fromJSDate(to).diff(DateTime.fromJSDate(from), 'months').months),
  ],
  moment: [(date, count) => moment(date).add(count, 'months').toDate(), (to, from) => moment(to).diff(from, 'months')],
};
const found = {};
for (const [name, [add, count]] of Object.entries(libraries)) {
  found[name] = [0, 0];
  for (let start = new Date(2026, 0, 1); start < new Date(2029, 0, 1); start = addDays(start, 1)) {
    for (let months = 1; months <= 48; months++) {
      const end = add(start, months);
      if (count(end, start) < months) found[name][0]++;
      if (count(addDays(end, -1), start) >= months) found[name][1]++;
    }
  }
  const { version } = require(`./node_modules/${name}/package.json`);
  console.log(`${name} ${version}: of 52608 terms ${found[name][0]} are too short at their end, ${found[name][1]} whole a day before`);
}
for (const dates of [[[2026, 0, 31], [2026, 3, 30]], [[2028, 1, 29], [2029, 1, 28]], [[2026, 0, 31], [2028, 1, 28]]]) {
  const [start, end] = dates.map((date) => new Date(...date));
  const title = [start, end].map((date) => date.toLocaleDateString('en-CA')).join(' to ');
  found[title] = [differenceInMonths(end, start), differenceInYears(end, start), intervalToDuration({ start, end })];
  console.log(`date-fns, ${title}:`, `${found[title][0]} months, ${found[title][1]} years,`, JSON.stringify(found[title][2]));
}
const expected = {
  'date-fns': [324, 88],
  dayjs: [0, 0],
  luxon: [0, 0],
  moment: [0, 0],
  '2026-01-31 to 2026-04-30': [2, 0, { months: 2, days: 30 }],
  '2028-02-29 to 2029-02-28': [12, 0, { months: 12 }],
  '2026-01-31 to 2028-02-28': [25, 2, { years: 2, months: 1, days: -1 }],
};
process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
JS
node count.cjs
