import { type Check, fail, pass, warn } from '../check.ts';

const guide = 'Read supabase/docs/operations.md, "Documents".';

/** What receipts need to be right. */
export const receipts: Check = {
  name: 'receipts',
  needs: ['database'],

  async run({ query }) {
    const [row = {}] = await query(
      `select receipts_from is not null as are_issued, seller_gstin is not null as has_gstin, sac is not null as has_sac,
        over_5_crore
      from billing.settings`,
    );
    if (row.over_5_crore === true) {
      return [
        fail(
          'over_5_crore is set: a document to a buyer with a GSTIN or abroad is no invoice without an IRN, which is not made here',
          `Issue these invoices elsewhere. ${guide}`,
        ),
      ];
    }
    if (row.are_issued !== true) return [pass('none are issued')];
    if (row.has_gstin !== true) return [pass('issued, without a GSTIN')];
    return row.has_sac === true
      ? [pass('tax invoices are issued')]
      : [warn('tax invoices are issued without a sac, the code of the service', `Ask an accountant for it. ${guide}`)];
  },
};
