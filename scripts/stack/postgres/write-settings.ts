import postgres from 'postgres';
import type { Config } from '../../../supabase/functions/api/config.ts';

/**
 * Writes the settings of the rules, which a hosted project writes by hand. Contract: Early renewals, Start and
 * credit, Months and days.
 */
export async function writeSettings(
  databaseUrl: string,
  { earlyRenewal, credit }: Pick<Config, 'earlyRenewal' | 'credit'>,
  { EMAIL_TIME_ZONE, EVENTS_URL }: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql`update billing.settings set early_renewal = ${earlyRenewal}, credit = ${credit},
      time_zone = ${EMAIL_TIME_ZONE || 'UTC'}, events = ${Boolean(EVENTS_URL)}`;
  } finally {
    await sql.end();
  }
}
