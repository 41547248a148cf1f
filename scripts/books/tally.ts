import { amountText } from './amounts.ts';
import type { BookDocument, Party } from './database.ts';
import { element } from './xml.ts';

/** An entry of a voucher: paise, of a debit positive. */
export type Entry = {
  readonly ledger: string;
  readonly paise: number;
  /** The open bill that it makes or settles. */
  readonly bill?: readonly [type: 'New Ref' | 'Agst Ref', name: string] | undefined;
  readonly isParty?: boolean;
  /** Further elements. */
  readonly more?: readonly string[];
};

/** The ledger of all buyers without a GSTIN. */
export const consumers = 'Online Customers';

/** The ledger of what customers pay beyond the price, for the fee of the gateway. */
export const feesOnTop = 'Gateway Charges Collected';

/** The ledger of a buyer. */
export function partyOf({ buyer, place_of_supply }: Party): string {
  if (buyer.gstin) return `${buyer.name ?? 'Buyer'} (${buyer.gstin})`;
  if (place_of_supply === '96' && buyer.country) return `${buyer.name ?? 'Buyer'} (${buyer.country})`;
  return consumers;
}

/** A bill of a party; that of the consumers has none. */
export function billOf(document: BookDocument, type: 'New Ref' | 'Agst Ref'): Entry['bill'] {
  return partyOf(document) === consumers ? undefined : [type, document.against ?? document.document_number];
}

/** What names an entry of Tally as the seller has it: by `billing.settings.tally`. */
export type Names = (name: string) => string;

/** What stands before the messages of a file, and after them. */
export function envelope(report: 'All Masters' | 'Vouchers', company?: string): [head: string, end: string] {
  const static_ = company ? element('STATICVARIABLES', [element('SVCURRENTCOMPANY', company)]) : '';
  const description = element('REQUESTDESC', [element('REPORTNAME', report), static_]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<ENVELOPE><HEADER><TALLYREQUEST>Import Data</TALLYREQUEST></HEADER><BODY><IMPORTDATA>${description}<REQUESTDATA>\n`,
    '</REQUESTDATA></IMPORTDATA></BODY></ENVELOPE>\n',
  ];
}

/** A line of a file. */
export function message(inner: string): string {
  return `<TALLYMESSAGE xmlns:UDF="TallyUDF">${inner}</TALLYMESSAGE>\n`;
}

/** An element for each value; null: none. */
export function elements(values: Readonly<Record<string, string | null | undefined>>): string[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : element(name, value)
  );
}

/**
 * Writes a voucher. `id` makes a second import replace the first. A debit is `ISDEEMEDPOSITIVE` with a negative amount.
 * @param fields what follows the type of the voucher
 */
export function voucher(
  { id, type, date, fields, entries }: {
    readonly id: string;
    readonly type: string;
    readonly date: string;
    readonly fields: Readonly<Record<string, string | null | undefined>>;
    readonly entries: readonly Entry[];
  },
  names: Names,
): string {
  const day = tallyDay(date);
  return message(element(
    'VOUCHER',
    [
      ...elements({ DATE: day, EFFECTIVEDATE: day, GUID: id, VOUCHERTYPENAME: names(type), ...fields }),
      ...entries.filter(({ paise }) => paise !== 0).map((entry) => entryText(entry, names)),
    ],
    { REMOTEID: id, VCHTYPE: names(type), ACTION: 'Create', OBJVIEW: 'Accounting Voucher View' },
  ));
}

function entryText({ ledger, paise, bill, isParty = false, more = [] }: Entry, names: Names): string {
  const amount = element('AMOUNT', amountText(-paise));
  return element('ALLLEDGERENTRIES.LIST', [
    element('LEDGERNAME', names(ledger)),
    element('ISDEEMEDPOSITIVE', paise > 0 ? 'Yes' : 'No'),
    isParty && element('ISPARTYLEDGER', 'Yes'),
    amount,
    bill !== undefined &&
    element('BILLALLOCATIONS.LIST', [element('NAME', bill[1]), element('BILLTYPE', bill[0]), amount]),
    ...more,
  ]);
}

/** `20261104` of `2026-11-04`. */
export function tallyDay(date: string): string {
  return date.replaceAll('-', '');
}
