/** The command that pg_cron runs once a minute on a hosted project; the same text as in billing.schedule_jobs. */
export const sweep =
  'do $sweep$ begin for n in 1..10000 loop exit when billing.sweep() = 0; commit; end loop; end $sweep$';
