import postgres from 'postgres';
import type { Config } from '../../../supabase/functions/api/config.ts';

/** Writes the settings of the rules, which a hosted project writes by hand. Contract: Early renewals, Start and credit. */
export async function writeSettings(
  databaseUrl: string,
  { earlyRenewal, credit }: Pick<Config, 'earlyRenewal' | 'credit'>,
  hasEvents: boolean,
): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql`update billing.settings set early_renewal = ${earlyRenewal}, credit = ${credit},
      events = ${hasEvents}`;
  } finally {
    await sql.end();
  }
}
