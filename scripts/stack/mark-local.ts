import postgres from 'postgres';

/** Marks a database as local: `supabase/seed.sql` refuses any other. Safe to run again. */
export async function markLocal(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(`
      do $$
      begin
        execute format('alter database %I set subscriptions.is_local = ''on''', current_database());
      end
      $$`);
  } finally {
    await sql.end();
  }
}
