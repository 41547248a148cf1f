/** What a sentence says: about what, which days and which amounts, as they are written. */
export type Said = {
  readonly about: Topic;
  readonly day: string | undefined;
  /** The first day of a period. */
  readonly start: string | undefined;
  readonly amount: string | undefined;
  readonly text: string;
};

/**
 * - `end`: of the paid period. `grace end`: of access without a payment. `ended`: when access ended
 * - `charge`, `no charge`: what the gateway charges next; `authorise`: what it will charge once the customer agrees. `not charged`: what it could not charge
 * - `change`: the coming plan. `undo`, `resume`: until when
 * - `given until`: of a tier that was given over what is paid
 * - `order`, `received`, `given`, `asked`: what the timeline says of orders, payments, grants and requests of a change
 * - `past`: of a payment, a refund or an act that is over
 */
export type Topic =
  | 'end'
  | 'grace end'
  | 'ended'
  | 'charge'
  | 'authorise'
  | 'no charge'
  | 'not charged'
  | 'change'
  | 'undo'
  | 'resume'
  | 'paid'
  | 'order'
  | 'received'
  | 'given'
  | 'given until'
  | 'asked'
  | 'past';

// As mails and the billing page write them, the shop, and support.
const anyDate = String.raw`\d{1,2} [A-Z][a-z]+ \d{4}|[A-Z][a-z]{2} \d{1,2}, \d{4}`;
const anyMoney = String.raw`₹[\d,]+\.\d\d|\d+\.\d\d INR`;
const date = `(?<day>${anyDate})`;
const start = `(?<start>${anyDate})`;
const money = `(?<amount>${anyMoney})`;
/** Where a sentence has a second amount, which is over. */
const other = `(?:${anyMoney})`;
const unread = new RegExp(`.{0,40}(${anyDate}|${anyMoney}|₹).{0,20}`, 'g');

/** Every way in which a text names a day or an amount. The first one that matches counts. */
const sentences: readonly (readonly [Topic, string])[] = [
  // The timeline, and what support did.
  ['order', `Order of ${money} for`],
  ['received', `${money} captured for .+?, ${start} to ${date}`],
  ['past', `${money} (captured\\. It gave no tier|: a further payment|of payment)`],
  ['past', `Deducted: ${money}`],
  ['given', `\\w+ until ${date}: `],
  ['asked', `To \\w+ from ${date}\\.`],
  ['past', `Undone on ${date}`],
  ['charge', `Next charge: ${money} on ${date}`],
  ['no charge', 'Nothing is charged next'],
  ['end', `Access ends on ${date}`],
  // The shop.
  ['charge', `The next charge is on ${date}: ${money}`],
  ['end', `${start} to ${date}`],
  ['change', `begins on ${date}`],
  // Mails.
  ['paid', `It lasts until ${date}`],
  ['past', `${other} of your payment of ${other}`],
  ['past', `Your payment of ${other} for`],
  ['past', `(Payment|Of your payment of|because|Refunded|Amount paid|Amount|Credit):? ${money}( on ${date})?`],
  ['past', `${money} (was refunded|was credited|of it was credited|paid)`],
  ['past', `you paid ${money}`],
  ['grace end', `Without a payment: Access until ${date}`],
  ['grace end', `[Ww]ithout a payment, your access (lasts until|ends on) ${date}`],
  ['grace end', `[Yy]our access ends on ${date}`],
  ['authorise', `The next charge is ${money} on ${date}, once you have authorised it`],
  ['charge', `(The next charge is|Next payment:?) ${money} on ${date}`],
  ['charge', `Next payment: ${date}`],
  // Of a subscription beside another one.
  ['past', 'The last payment of your [^.]+ subscription was made\\. Nothing more will be charged for it'],
  ['past', 'Nothing more is charged for now'],
  ['no charge', 'Nothing more (is|will be) charged'],
  ['ended', `access (to the .+? plan )?ended on ${date}`],
  ['ended', `([Aa]ccess ended|Ended) on:? ${date}`],
  ['not charged', `Not charged: ${money}`],
  ['change', `(Starts on:|changes to .+? on|plan starts on|for the first time on) ${date}`],
  ['change', `On that day ${money} will be charged, then ${other} every`],
  ['change', `(Price: )?${money} every`],
  ['undo', `(Undo|undo it|undo the change) until:? ${date}(, \\d\\d:\\d\\d)?`],
  ['resume', `([Rr]esume|resume the subscription) until:? ${date}`],
  ['end', `(Valid until:|valid until|lasts until|Access until:|Paid until:?|paid until|plan ends on) ${date}`],
  // The billing page.
  ['past', `The paid period ended on ${date}`],
  ['ended', `ended on ${date}`],
  ['charge', `(Renews on|The next attempt is on) ${date}( for ${money})?`],
  ['charge', `[Tt]he next charge is on ${date}( for ${money})?`],
  ['charge', `Your trial ends on ${date}\\. ${money}`],
  ['given until', `You have it until ${date}`],
  ['end', `(You keep it until|Ends on) ${date}`],
  ['grace end', `You keep your plan until ${date}`],
  ['change', `starts on ${date}( for ${money})?`],
  // What support reads.
  ['past', `(Payment|Subscription|Grant|on) \\S+ of ${date}`],
  ['past', `written by hand on ${date}`],
  ['ended', `and ended on ${date}`],
  ['grace end', `days of grace until ${date}`],
  ['past', `gave \\w+ until ${date}`],
  ['charge', `gives \\w+ until ${date}, when the gateway charges`],
  ['charge', `charges the next cycle on ${date}`],
  ['change', `or until \\w+ begins on ${date}`],
  ['end', `gives \\w+ until ${date}`],
];
const patterns = sentences.map(([about, source]) => ({ about, pattern: new RegExp(source, 'g') }));

/** Reads every day and every amount of a text. @returns what it says, and what no sentence covers */
export function read(text: string): { said: Said[]; unread: string[] } {
  const said: Said[] = [];
  let rest = text;
  for (const { about, pattern } of patterns) {
    rest = rest.replace(pattern, (...found) => {
      const { day, start, amount }: Partial<Said> = found.at(-1);
      said.push({ about, day, start, amount, text: String(found[0]) });
      return '·';
    });
  }
  return { said, unread: rest.match(unread) ?? [] };
}
