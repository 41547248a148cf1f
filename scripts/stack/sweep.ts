/** What pg_cron runs once a minute on a hosted project; the same text as in the migration of the schedule. */
export const sweep = 'do $$ begin for n in 1..10000 loop exit when private.sweep() = 0; commit; end loop; end $$';
