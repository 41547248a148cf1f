import type { Heads, Months, Party, Settings } from './database.ts';
import { consumers, elements, feesOnTop, message, type Names, partyOf, tallyDay } from './tally.ts';
import { countryName, stateName } from './states.ts';
import { element } from './xml.ts';

/**
 * What the vouchers use: their types, the ledgers, also of taxes from before or after a registration, and one for each of these
 * buyers, of whom equal ones follow each other.
 */
export async function* masters(
  parties: AsyncIterable<Party>,
  heads: Heads,
  { from }: Months,
  { tax_rate, seller_gstin }: Settings,
  names: Names,
): AsyncGenerator<string> {
  const since = yearOf(from);
  const percent = (tax_rate ?? 0) / 100;
  const tax = (name: string, head: string, rate: number) =>
    ledger(name, 'Duties & Taxes', { TAXTYPE: 'GST', GSTDUTYHEAD: head, RATEOFTAXCALCULATION: String(rate) });
  const gst = [
    tax('Output IGST', 'IGST', percent),
    tax('Output CGST', 'CGST', percent / 2),
    tax('Output SGST', 'SGST/UTGST', percent / 2),
  ];
  const taxes = [
    ...seller_gstin !== null || heads.gst ? gst : [],
    ...seller_gstin === null || heads.other ? [ledger('Output Tax', 'Duties & Taxes', {})] : [],
  ];
  const consumer = { APPLICABLEFROM: since, GSTREGISTRATIONTYPE: 'Unregistered/Consumer' };
  const all = [
    voucherType('Subscription Sales', 'Sales'),
    voucherType('Subscription Credit Note', 'Credit Note'),
    ledger('Subscription Income', 'Sales Accounts', { GSTTYPEOFSUPPLY: 'Services' }),
    ledger('Subscription Income (Export)', 'Sales Accounts', { GSTTYPEOFSUPPLY: 'Services' }),
    ...taxes,
    ledger(consumers, 'Sundry Debtors', { ISBILLWISEON: 'No' }, [
      element('LEDGSTREGDETAILS.LIST', elements(consumer)),
    ]),
    ledger('Payment Gateway', 'Current Assets', {}),
    ledger('Gateway Charges', 'Indirect Expenses', {}),
    ...heads.onTop ? [ledger(feesOnTop, 'Indirect Incomes', {})] : [],
    ledger('GST on Gateway Charges', 'Current Assets', {}),
    ledger('Bank', 'Bank Accounts', {}),
  ];
  for (const write of all) yield message(write(names));
  let last: string | undefined;
  for await (const party of parties) {
    const name = partyOf(party);
    if (name !== consumers && name !== last) yield message(partyLedger(name, party, since)(names));
    last = name;
  }
}

type Master = (names: Names) => string;

function voucherType(name: string, parent: string): Master {
  return (names) =>
    master(
      'VOUCHERTYPE',
      names(name),
      elements({ PARENT: parent, NUMBERINGMETHOD: 'Manual', PREVENTDUPLICATES: 'Yes' }),
    );
}

function ledger(name: string, parent: string, fields: Readonly<Record<string, string>>, more: string[] = []): Master {
  return (names) => master('LEDGER', names(name), [...elements({ PARENT: parent, ...fields }), ...more]);
}

/** The registration stands inside lists: flat elements leave the screen of Tally empty. */
function partyLedger(name: string, { buyer, place_of_supply }: Party, since: string): Master {
  const isAbroad = place_of_supply === '96';
  const state = isAbroad ? null : stateName(place_of_supply);
  const mailing = element('LEDMAILINGDETAILS.LIST', [
    ...elements({ APPLICABLEFROM: since, MAILINGNAME: buyer.name ?? name }),
    buyer.address ? element('ADDRESS.LIST', lines(buyer.address), { TYPE: 'String' }) : '',
    ...elements({ STATE: state, COUNTRY: countryName(isAbroad ? buyer.country : 'IN') }),
  ]);
  const registration = elements({
    ...{ APPLICABLEFROM: since, GSTREGISTRATIONTYPE: 'Regular', PLACEOFSUPPLY: state, GSTIN: buyer.gstin },
  });
  return ledger(name, 'Sundry Debtors', { ISBILLWISEON: 'Yes' }, [
    mailing,
    ...buyer.gstin ? [element('LEDGSTREGDETAILS.LIST', registration)] : [],
  ]);
}

function lines(address: string): string[] {
  return address.split(/\r?\n/).filter((line) => line.trim() !== '').map((line) => element('ADDRESS', line));
}

function master(kind: 'LEDGER' | 'VOUCHERTYPE', name: string, inner: readonly string[]): string {
  return element(kind, [element('NAME.LIST', [element('NAME', name)]), ...inner], { NAME: name, ACTION: 'Create' });
}

/** The first day of the financial year of a day, such as 20260401. */
function yearOf(day: string): string {
  const [year = 0, month = 1] = day.split('-').map(Number);
  return tallyDay(`${month < 4 ? year - 1 : year}-04-01`);
}
