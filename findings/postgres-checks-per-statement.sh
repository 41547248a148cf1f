#!/bin/sh
# Postgres 17.5 (in @electric-sql/pglite 0.3.15) keeps the conditions of CHECK constraints as text, and reads and prepares all of
# them anew for every statement that writes a row. Eight checks make an insert of one row more than twice as dear (seen: 3.6 to
# 4.1 times), the same conditions in a trigger less than 1.7 times (1.25 to 1.4). Of many rows in one statement the checks are
# cheaper (1.1 to 1.3, and 1.5 to 2). So the hot tables of a ledger, which write one row a statement, pay for each check.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @electric-sql/pglite@0.3.15 >/dev/null
cat > checks.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
const db = new PGlite();
console.log((await db.query('select version()')).rows[0].version);
const columns = `
  id bigint generated always as identity primary key, status text not null, currency text not null, amount bigint not null,
  months integer, starts text, credit bigint, refunded bigint not null default 0, reads integer not null default 0
`;
const conditions = [
  "STATUS in ('created', 'captured', 'failed')", "CURRENCY ~ '^[A-Z]{3}$'", 'AMOUNT >= 0', 'MONTHS between 1 and 1200',
  "STARTS in ('now', 'later')", 'CREDIT > 0', 'REFUNDED >= 0', 'READS between 0 and 20',
];
const ofRow = conditions.map((one) => one.replace(/^[A-Z]+/, (name) => `new.${name}`));
await db.exec(`
  create table bare (${columns});
  create table checked (${columns}, ${conditions.map((one) => `check (${one})`)});
  create table watched (${columns});
  create function watch() returns trigger language plpgsql as $$ begin
    if (${ofRow.map((one) => `(${one})`).join(' and ')}) is false then raise check_violation; end if;
    return new;
  end $$;
  create trigger watch before insert on watched for each row execute function watch();
`);
const row = "(status, currency, amount, months) select 'captured', 'INR', 4900, 1";
const ways = {
  'a row a statement': (table) => `do $$ begin for i in 1 .. 4000 loop insert into ${table} ${row}; end loop; end $$`,
  'one statement': (table) => `insert into ${table} ${row} from generate_series(1, 4000)`,
};
const median = (list) => list.toSorted((one, other) => one - other)[list.length >> 1];
const found = {};
for (const [way, write] of Object.entries(ways)) {
  const times = { bare: [], checked: [], watched: [] };
  for (let round = 0; round < 11; round += 1) {
    for (const [table, list] of Object.entries(times)) {
      const start = performance.now();
      await db.exec(write(table));
      list.push(performance.now() - start);
    }
  }
  const [bare, checked, watched] = Object.values(times).map((list) => median(list.slice(1)));
  found[way] = { checked: checked / bare, watched: watched / bare };
  console.log(`${way}: checks ${found[way].checked.toFixed(2)}, trigger ${found[way].watched.toFixed(2)} times as long as neither`);
}
const { checked, watched } = found['a row a statement'];
process.exit(checked > 2 && watched < 1.7 && found['one statement'].checked < checked / 1.5 ? 0 : 1);
JS
node checks.mjs
