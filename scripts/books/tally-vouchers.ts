import type { BankLine } from './bank-lines.ts';
import type { BookDocument } from './database.ts';
import { billOf, type Entry, feesOnTop, type Names, partyOf, tallyDay, voucher } from './tally.ts';
import { countryName, stateName } from './states.ts';
import { element } from './xml.ts';

/** A tax invoice or a credit note. Its rupees are known. */
export function documentVoucher(document: BookDocument, names: Names): string {
  const { buyer, sign, place_of_supply } = document;
  const isAbroad = place_of_supply === '96';
  const party = partyOf(document);
  const state = isAbroad || place_of_supply === null ? null : stateName(place_of_supply);
  const about = document.kind === 'receipt'
    ? document.gateway_payment_id
    : document.refund_id ?? document.dispute_id ?? document.gateway_payment_id;
  return voucher({
    id: document.id,
    type: document.kind === 'receipt' ? 'Subscription Sales' : 'Subscription Credit Note',
    date: document.document_date,
    fields: {
      VOUCHERNUMBER: document.document_number,
      REFERENCE: document.against ?? document.document_number,
      REFERENCEDATE: document.against_date && tallyDay(document.against_date),
      ...{ PARTYLEDGERNAME: names(party), PARTYNAME: names(party), BASICBUYERNAME: buyer.name ?? names(party) },
      COUNTRYOFRESIDENCE: countryName(isAbroad ? buyer.country : 'IN'),
      ...{ STATENAME: state, PLACEOFSUPPLY: state },
      GSTREGISTRATIONTYPE: isAbroad ? null : buyer.gstin ? 'Regular' : 'Unregistered/Consumer',
      PARTYGSTIN: buyer.gstin,
      VCHGSTSTATUSISINCLUDED: document.category === 'none' ? 'No' : 'Yes',
      VCHGSTSTATUSISUNCERTAIN: 'No',
      ...{ PERSISTEDVIEW: 'Accounting Voucher View', ISINVOICE: 'No' },
      NARRATION: [document.description?.replaceAll('–', '-'), about].filter((one) => one).join('; '),
    },
    entries: [
      {
        ...{ ledger: party, paise: sign * (document.rupee_total ?? 0), isParty: true },
        bill: billOf(document, document.kind === 'receipt' ? 'New Ref' : 'Agst Ref'),
      },
      {
        ledger: isAbroad ? 'Subscription Income (Export)' : 'Subscription Income',
        paise: -sign * (document.taxable ?? 0),
        more: [...document.sac === null ? [] : [element('GSTHSNNAME', document.sac)], ...rateDetails(document)],
      },
      { ledger: 'Output IGST', paise: -sign * document.igst },
      { ledger: 'Output CGST', paise: -sign * document.cgst },
      { ledger: 'Output SGST', paise: -sign * document.sgst },
      { ledger: 'Output Tax', paise: -sign * document.other_tax },
    ],
  }, names);
}

function rateDetails({ rate, category }: BookDocument): string[] {
  if (rate === 0 || category === 'none') return [];
  return ([['CGST', rate / 2], ['SGST/UTGST', rate / 2], ['IGST', rate]] as const).map(([head, percent]) =>
    element('RATEDETAILS.LIST', [
      element('GSTRATEDUTYHEAD', head),
      element('GSTRATEVALUATIONTYPE', 'Based on Value'),
      element('GSTRATE', String(percent)),
    ])
  );
}

/** The payment of an invoice, or the refund of a note. What cancels a reissued one is booked as if it was refunded. */
export function moneyVoucher(document: BookDocument, names: Names): string {
  const isReceipt = document.kind === 'receipt';
  const moved = isReceipt
    ? document.reissue_of === null ? document.gateway_payment_id : null
    : document.refund_id ?? document.dispute_id;
  const party = partyOf(document);
  const paise = document.sign * (document.rupee_total ?? 0);
  return moneyEntries({
    id: document.is_further ? document.id : moved ?? document.id,
    type: isReceipt ? 'Receipt' : 'Payment',
    date: document.document_date,
    ...{ reference: moved ?? document.document_number, party },
    narration: `${moved ?? document.gateway_payment_id}; ${document.document_number}`,
    entries: [
      { ledger: party, paise: -paise, bill: billOf(document, 'Agst Ref') },
      { ledger: 'Payment Gateway', paise },
    ],
  }, names);
}

/** What the gateway sent to the bank. Its ledger then has what is unsettled. */
export function settlementVoucher(line: BankLine, names: Names): string {
  const fees = line.fees + line.settlement_fees;
  return moneyEntries({
    id: line.settlement_id,
    type: 'Receipt',
    date: line.settled_on,
    ...{ reference: line.utr ?? line.settlement_id, party: 'Payment Gateway' },
    narration: line.utr === null ? line.settlement_id : `${line.settlement_id}; UTR ${line.utr}`,
    entries: [
      { ledger: 'Payment Gateway', paise: line.fees_on_top - (line.amount + fees + line.gst_on_fees) },
      { ledger: feesOnTop, paise: -line.fees_on_top },
      { ledger: 'Bank', paise: line.amount },
      { ledger: 'Gateway Charges', paise: fees },
      { ledger: 'GST on Gateway Charges', paise: line.gst_on_fees },
    ],
  }, names);
}

type Money =
  & {
    readonly [Name in 'id' | 'date' | 'reference' | 'party' | 'narration']: string;
  }
  & { readonly type: 'Receipt' | 'Payment'; readonly entries: readonly Entry[] };

function moneyEntries({ id, type, date, reference, party, narration, entries }: Money, names: Names): string {
  const fields = {
    ...{ REFERENCE: reference, PARTYLEDGERNAME: names(party), PERSISTEDVIEW: 'Accounting Voucher View' },
    NARRATION: narration,
  };
  return voucher({ id, type, date, fields, entries }, names);
}
