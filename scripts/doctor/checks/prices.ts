import { z } from 'zod';
import { formatCurrency } from '../../../supabase/functions/api/outbox/format.ts';
import { type Check, pass, warn } from '../check.ts';

const unsold = z.object({ lookup_key: z.string(), amount: z.coerce.number(), currency: z.string() });

/**
 * The gateway can charge each price on offer. A row may be older than the rule that refuses such a price, and a tier
 * other than `free` may cost nothing: neither is listed.
 */
export const prices: Check = {
  name: 'prices',
  needs: ['database'],

  async run({ query }) {
    const rows = await query(`
      select coalesce(p.lookup_key, p.tier) as lookup_key, p.price as amount, p.currency
      from public.plans p
      where p.is_active and p.tier <> 'free' and not billing.is_payable(p.price, p.currency)
      order by 1`);
    const found = z.array(unsold).parse(rows);
    if (found.length === 0) return [pass('the gateway can charge each price on offer')];
    return found.map(({ lookup_key, amount, currency }) =>
      warn(
        `${lookup_key} costs ${formatCurrency(amount, currency)}, which the gateway does not charge: it is not listed`,
        'Set plans.price to at least 100 minor units, with a last digit 0 in a currency with three decimals, or is_active to false.',
      )
    );
  },
};
