import postgres from 'postgres';
import type { Config } from '../../../supabase/functions/api/config.ts';

/** Writes the settings of the rules, which a hosted project writes by hand. Contract: Early renewals. */
export async function writeSettings(
  databaseUrl: string,
  { earlyRenewal }: Pick<Config, 'earlyRenewal'>,
): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql`update private.settings set early_renewal = ${earlyRenewal}`;
  } finally {
    await sql.end();
  }
}
