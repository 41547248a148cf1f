/** What a sentence says: about what, which days and which amounts, as they are written. */
export type Said = {
  readonly about: Topic;
  readonly day: string | undefined;
  readonly amount: string | undefined;
  readonly text: string;
};

/**
 * - `end`: of the paid period. `grace end`: of access without a payment. `ended`: when access ended
 * - `charge`, `no charge`: what the gateway charges next; `authorise`: what it will charge once the customer agrees. `not charged`: what it could not charge
 * - `change`: the coming plan. `undo`, `resume`: until when
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
  | 'past';

const date = String.raw`(?<day>\d{1,2} [A-Z][a-z]+ \d{4})`;
const money = String.raw`(?<amount>₹[\d,]+\.\d\d)`;
/** Where a sentence has a second day or amount that is over. */
const other = String.raw`₹[\d,]+\.\d\d`;

/** Every way in which a text names a day or an amount. The first one that matches counts. */
const sentences: readonly (readonly [Topic, string])[] = [
  // Mails.
  ['paid', `It lasts until ${date}`],
  ['past', `${other} of your payment of ${other}`],
  ['past', `(Payment|Of your payment of|because|Refunded|Amount paid|Amount|Credit):? ${money}( on ${date})?`],
  ['past', `${money} (was refunded|was credited|of it was credited|paid)`],
  ['past', `you paid ${money}`],
  ['grace end', `Without a payment: Access until ${date}`],
  ['grace end', `[Ww]ithout a payment, your access (lasts until|ends on) ${date}`],
  ['grace end', `[Yy]our access ends on ${date}`],
  ['authorise', `The next charge is ${money} on ${date}, once you have authorised it`],
  ['charge', `(The next charge is|Next payment:?) ${money} on ${date}`],
  ['charge', `Next payment: ${date}`],
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
  ['charge', `The next charge is on ${date}`],
  ['charge', `Your trial ends on ${date}\\. ${money}`],
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
  ['end', `gives \\w+ until ${date}`],
];
const patterns = sentences.map(([about, source]) => ({ about, pattern: new RegExp(source, 'g') }));

/** Reads every day and every amount of a text. @returns what it says, and what no sentence covers */
export function read(text: string): { said: Said[]; unread: string[] } {
  const said: Said[] = [];
  let rest = text;
  for (const { about, pattern } of patterns) {
    rest = rest.replace(pattern, (...found) => {
      const { day, amount }: { day?: string; amount?: string } = found.at(-1);
      said.push({ about, day, amount, text: String(found[0]) });
      return '·';
    });
  }
  return { said, unread: rest.match(/.{0,40}(\d{1,2} [A-Z][a-z]+ \d{4}|₹[\d,.]+).{0,20}/g) ?? [] };
}
