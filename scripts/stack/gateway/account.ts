import { z } from 'zod';
import type { KeptValue } from './journal.ts';
import { newId } from './new-id.ts';

/** The gateway's fee with the tax on it, as a part of the amount, and the part of the fee that is tax. */
const FEE = 0.0236;
const TAX = 18 / 118;
/** The fee of a payment in another currency, with the tax on it. */
const FOREIGN_FEE = 0.0354;
/** No offer leaves less to pay. */
const MIN_AMOUNT = 100;

/**
 * The body of `POST /simulate/account`: what makes the amount of a payment differ from its order's, from now on. Missing
 * fields have defaults. The customer pays the gateway's fee on top, or an offer of the dashboard takes something off.
 */
export const accountRequest = z.strictObject({
  fee_bearer: z.enum(['merchant', 'customer']).default('merchant'),
  /** `amount`: minor units. */
  offer: z.union([
    z.strictObject({ percent: z.number().gt(0).lt(100) }),
    z.strictObject({ amount: z.int().min(1) }),
  ]).nullable().default(null),
  /** How many rupees one unit of another currency is worth. Without its rate an amount counts as rupees. */
  rates: z.record(z.string().regex(/^[A-Z]{3}$/), z.number().gt(0)).default({}),
});

type AccountRequest = z.infer<typeof accountRequest>;

export type Account = AccountRequest & { offer_id: string | null };

/** What a customer pays, in minor units. `fee` is null until the capture, unless the customer bears it; `tax` is in it. */
export type Terms = { amount: number; fee: number | null; tax: number | null; offer_id: string | null };

export const standardAccount: Readonly<Account> = { fee_bearer: 'merchant', offer: null, rates: {}, offer_id: null };

/** Sets what the next payments of orders amount to. Those that were begun keep their amount. */
export function setAccount(account: KeptValue<Account>, request: AccountRequest): Account {
  account.current = { ...request, offer_id: request.offer === null ? null : newId('offer') };
  return account.current;
}

/** What the gateway books of an amount, in paise, and its fee. The other currency has two decimals, too. */
export function booked(account: Readonly<Account>, amount: number, currency: string) {
  // An older journal has no rates.
  const { rates } = { ...standardAccount, ...account };
  const base_amount = Math.round(amount * (rates[currency] ?? 1));
  const international = currency in rates;
  return { base_amount, base_currency: 'INR', international, ...feeOn(base_amount, international) } as const;
}

/** The gateway's fee on an amount, and the tax in it. */
export function feeOn(amount: number, isForeign = false): { fee: number; tax: number } {
  const fee = Math.round(amount * (isForeign ? FOREIGN_FEE : FEE));
  return { fee, tax: Math.round(fee * TAX) };
}

/** What a customer pays for an order of an amount. An offer that would leave less than the minimum does not apply. */
export function termsOf({ fee_bearer, offer, offer_id }: Readonly<Account>, ordered: number): Terms {
  const reduced = ordered - discountOf(offer, ordered);
  const isReduced = reduced < ordered && reduced >= MIN_AMOUNT;
  const due = isReduced ? reduced : ordered;
  const added = fee_bearer === 'customer' ? feeOn(due) : { fee: null, tax: null };
  return { amount: due + (added.fee ?? 0), ...added, offer_id: isReduced ? offer_id : null };
}

function discountOf(offer: Account['offer'], ordered: number): number {
  if (offer === null) return 0;
  return 'percent' in offer ? Math.round(ordered * offer.percent / 100) : offer.amount;
}
