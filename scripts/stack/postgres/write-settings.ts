import postgres from 'postgres';
import type { Config } from '../../../supabase/functions/api/config.ts';

/** Whom receipts name until another seller is written: one without a GSTIN. */
const sampleSeller = { name: 'Example Software', address: '12 Sample Road, Bengaluru 560001' };

/**
 * Writes the settings of the rules, which a hosted project writes by hand. Contract: Early renewals, Start and
 * credit, Months and days. A new database gets a sample seller, so that it issues receipts.
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
    // Apart from the update, whose trigger alters this table.
    const [{ is_new } = {}] = await sql`select not exists (select from public.payments) as is_new`;
    if (is_new) {
      await sql`update billing.settings set seller_name = ${sampleSeller.name}, seller_address = ${sampleSeller.address},
        receipts_from = billing.clock() where seller_name is null`;
    }
  } finally {
    await sql.end();
  }
}
