import { formatCurrency } from '../outbox/format.ts';
import { countryName } from './countries.ts';
import { stateName } from './places.ts';
import type { Receipt } from './receipt.ts';

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** Formats `2026-11-04` as `4 Nov 2026`. */
export function formatDay(date: string): string {
  const [year = '', month, day] = date.split('-');
  return `${Number(day)} ${months[Number(month) - 1]} ${year}`;
}

/** Formats basis points: `9%`, `2.5%`. */
export function formatRate(rate: number): string {
  return `${rate / 100}%`;
}

/**
 * Formats an amount: `₹1,00,000.01`, in another currency `USD 19.00`, since one sign stands for several currencies.
 * @param amount in minor units, an integer
 */
export function formatMoney(amount: number, currency: string): string {
  return formatCurrency(amount, currency, currency === 'INR' ? 'symbol' : 'code').replace('\u00a0', ' ');
}

/** Formats a state as `Maharashtra (27)`. */
export function formatState(code: string): string {
  const name = stateName(code);
  return name === undefined ? code : `${name} (${code})`;
}

/** What a document says of a party: its name, its address in lines, and further lines. GST is a matter of sellers with a GSTIN. */
export function partyLines(
  party: Receipt['buyer'] | Receipt['seller'],
  hasGst: boolean,
): { name: string; address: string; facts: string[] } {
  const { address, gstin, state } = party;
  const country = 'country' in party ? party.country : undefined;
  const facts: string[] = [];
  if (hasGst && gstin) facts.push(`GSTIN: ${gstin}`);
  if (state && state !== '96') facts.push(`State: ${hasGst ? formatState(state) : stateName(state) ?? state}`);
  if (country && country !== 'IN') facts.push(`Country: ${countryName(country) ?? country}`);
  return { name: (party.name ?? '').replace(/\s+/g, ' '), address: limitLines(address ?? ''), facts };
}

/** An address of very many short lines is written without them. */
function limitLines(address: string): string {
  const lines = address.split(/[\n\r]+/).map((line) => line.trim()).filter((line) => line !== '');
  return lines.join(lines.length > 8 ? ', ' : '\n');
}

/** The state of the payment, in one word. */
export function statusOf(receipt: Receipt): string {
  if (receipt.kind === 'receipt') return 'Paid';
  return receipt.refund_id ? 'Refunded' : 'Credited';
}

/** The invoice that a credit note corrects, as its line says it: `Tax invoice 2627/000102 of 4 Nov 2026`. */
export function correctedDocument({ kind, lines }: Receipt): string | undefined {
  const [, found] =
    /^(?:Refund|Lost dispute|Correction), (.+ of \d{1,2} \w{3} \d{4})$/.exec(lines[0]?.description ?? '') ?? [];
  return kind === 'credit_note' && found ? found.charAt(0).toUpperCase() + found.slice(1) : undefined;
}

/** The sentences below the table, each a paragraph. */
export function notesOf(receipt: Receipt): string[] {
  const { seller, category, place_of_supply: place, title, rupees, currency } = receipt;
  const notes: string[] = [];
  if (seller.gstin) {
    if (place) notes.push(`Place of supply: ${formatState(place)}`);
    notes.push('Tax is payable on reverse charge: No');
    if (title === 'Credit note without GST') notes.push('No GST is adjusted: section 34(2) of the CGST Act.');
    if (category === 'expwp') notes.push('SUPPLY MEANT FOR EXPORT ON PAYMENT OF INTEGRATED TAX');
    if (category === 'expwop' && seller.lut) {
      notes.push(
        'SUPPLY MEANT FOR EXPORT UNDER BOND OR LETTER OF UNDERTAKING WITHOUT PAYMENT OF INTEGRATED TAX',
        `LUT number: ${seller.lut}`,
      );
    }
  }
  if (rupees) {
    const parts = rupees.taxes.map(({ name, rate, amount }) => `${name} ${formatRate(rate)} ${inRupees(amount)}`);
    if (parts.length > 0) parts.unshift(`taxable value ${inRupees(rupees.taxable)}`);
    notes.push(
      `Value in rupees: ${inRupees(rupees.total)}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}, ` +
        `at ₹${rupees.rate} for ${currency} 1`,
    );
  }
  return notes;
}

function inRupees(amount: number): string {
  return formatMoney(amount, 'INR');
}
