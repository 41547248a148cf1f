#!/bin/sh
# Three libraries read `-P7D`, as ISO 8601-2 and the alarms of iCalendar write it, as seven days ahead, without an error: a
# reminder a week before the renewal comes a week after it. dayjs 1.11.23 so loses the sign of what it wrote itself, and writes
# a year less seven days as `-P1Y7D`, minus both. iso8601-duration 2.1.4 (whose README says that it reads no sign) and
# date-duration 2.0.0 lose it too; luxon 3.7.2 and moment 2.31.0 keep it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
  date-duration@2.0.0 dayjs@1.11.23 iso8601-duration@2.1.4 luxon@3.7.2 moment@2.31.0 >/dev/null
cat > remind.cjs <<'JS'
const dayjs = require('dayjs');
const iso = require('iso8601-duration');
const { DateTime, Duration } = require('luxon');
const moment = require('moment');
dayjs.extend(require('dayjs/plugin/duration'));
dayjs.extend(require('dayjs/plugin/utc'));
(async () => {
  const { default: DateDuration } = await import('date-duration');
  const adders = {
    dayjs: (date, text) => dayjs.utc(date).add(dayjs.duration(text)).toDate(),
    'iso8601-duration': (date, text) => iso.end(iso.parse(text), date),
    'date-duration': (date, text) => new DateDuration(text).addTo(date),
    luxon: (date, text) => DateTime.fromJSDate(date, { zone: 'utc' }).plus(Duration.fromISO(text)).toJSDate(),
    moment: (date, text) => moment.utc(date).add(moment.duration(text)).toDate(),
  };
  const renewal = '2026-04-15T00:00:00Z';
  const found = {};
  for (const [name, add] of Object.entries(adders)) {
    found[name] = ['P7D', '-P7D'].map((text) => add(new Date(renewal), text).toISOString().slice(0, 10));
    console.log(name, require(`./node_modules/${name}/package.json`).version, `P7D ${found[name][0]}, -P7D ${found[name][1]}`);
  }
  const written = JSON.parse(JSON.stringify({ before: dayjs.duration({ days: -7 }), less: dayjs.duration({ years: 1, days: -7 }) }));
  found.written = [written.before, dayjs.duration(written.before).asDays(), written.less];
  console.log('dayjs writes', found.written[0], 'and reads', found.written[1], 'days; writes a year less seven days as', found.written[2]);
  const [before, after] = ['2026-04-08', '2026-04-22'];
  const expected = {
    dayjs: [after, after],
    'iso8601-duration': [after, after],
    'date-duration': [after, after],
    luxon: [after, before],
    moment: [after, before],
    written: ['-P7D', 7, '-P1Y7D'],
  };
  process.exit(JSON.stringify(found) === JSON.stringify(expected) ? 0 : 1);
})();
JS
node remind.cjs
