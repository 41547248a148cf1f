import type { CurrentSubscription } from '../../../supabase/client/subscriptions.ts';
import { type State, stateOf } from '../../../supabase/client/blocks/billing-page/state.ts';
import { en } from '../../../supabase/client/blocks/billing-page/en.ts';
import { chargeText, day as shopDay, failureText, nextText, periodText } from '../../../scripts/stack/shop/texts.ts';
import { formatCurrency, formatLongDate } from '../../../supabase/functions/api/outbox/format.ts';
import { renderEmail } from '../../../supabase/functions/api/outbox/render-email.ts';
import type { BillingProject } from '../faults/billing-project.ts';
import type { BilledCustomer } from '../faults/customer.ts';
import { factsIn } from './languages.ts';
import { read, type Said } from './read.ts';
import { readTruth, type Truth } from './truth.ts';

type Format = (at: string) => string;
type Now = {
  answer: CurrentSubscription;
  why: string;
  zone: string;
  mails: { id: number; kind: string; payload: unknown }[];
  timeline: string[];
};
type Charge = { day: string | undefined; amount: string | undefined } | 'none';

/** As `billing.day_text` writes it, in the seller's time zone. */
const supportDay = (timeZone: string): Format => {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, day: 'numeric', month: 'short', year: 'numeric' });
  return (at) => {
    const parts = Object.fromEntries(format.formatToParts(new Date(at)).map(({ type, value }) => [type, value]));
    return `${parts.day} ${parts.month} ${parts.year}`;
  };
};
const mailDay: Format = (at) => formatLongDate(at, 'UTC');
const rupees = (amount: number) => formatCurrency(amount, 'INR');
/** As `billing.amount_text` writes it. */
const supportAmount = (amount: number) => `${(amount / 100).toFixed(2)} INR`;

/**
 * Reads what a customer and support are told, whenever it is called: the new mails, the page, the shop, the sentence `why` and
 * the new lines of the timeline. Each day
 * and each amount in them must be that of the facts, and what the mails said last about the next charge must still be so.
 */
export function useWords(billing: BillingProject, customer: BilledCustomer) {
  let newest = 0;
  const lines = new Set<string>();
  let lastCharge: Charge | undefined;
  /** At the look before. */
  let before: Truth | undefined;
  /** What the page said first of an access that has ended. It says so until there is access again. */
  let ended: string | undefined;

  return async function contradictions(): Promise<string[]> {
    const { user } = customer;
    // One look at the clock and at the database, planned once: this runs after each step of each life.
    const [now] = await billing.database.query(
      `select public.get_subscription($1) as answer, c.why, billing.time_zone() as zone, (
         select coalesce(json_agg(json_build_object('id', o.id, 'kind', o.kind, 'payload', o.payload) order by o.id), '[]')
         from billing.outbox o
         where o.id > $2 and o.destination in ('email', 'notice') and o.payload ->> 'to' = $3 and o.kind <> 'receipt-issued'
       ) as mails, (
         select coalesce(json_agg(t.detail order by t.at, t.rank), '[]')
         from billing.timeline t
         where t.user_id = $1 and t.what in ('order', 'captured', 'refunded', 'dispute', 'grant', 'change', 'support_action')
       ) as timeline
       from billing.customers c where c.user_id = $1`,
      [user.id, newest, user.email],
      'words',
    );
    if (now === undefined) return [];
    const { answer, why, zone, mails, timeline }: Now = Object(now);
    const truth = await readTruth(billing.database, user.id);
    const earlier = before ?? truth;
    const page = textsOf(stateOf(answer, [], billing.now() * 1000));
    const wrong = [
      ...page.flatMap((text) => judge(`page: ${text}`, text, truth, en.day)),
      ...shopTexts(answer).flatMap((text) => judge(`page of the shop: ${text}`, text, truth, shopDay)),
      ...judge(`support: ${why}`, why, truth, supportDay(zone)),
      ...timeline.filter((line) => !lines.has(line)).flatMap((text) =>
        judgeAny([truth, earlier], (each) => judge(`support: ${text}`, text, each, supportDay(zone)))
      ),
    ];
    before = truth;
    for (const line of timeline) lines.add(line);
    const changes = truth.asked.flatMap((at) => truth.amounts.map((amount) => ({ at, amount })));
    for (const [index, { id, kind, payload }] of mails.entries()) {
      newest = id;
      const mail = await renderEmail({ kind, payload }, { appUrl: 'https://app.example.com' });
      const text = `${mail.subject}\n${mail.text}`;
      // What a later mail of this look is about may have replaced the change or the charge that this one names.
      const later = mails.slice(index + 1);
      const replaced = later.length === 0 ? [] : changes;
      const known = { ...truth, changes: [...truth.changes, ...replaced] };
      // A charge of this look may have given access again. The gateway itself tells of those that were not asked for here.
      const isBack = later.some(({ kind }) => ['subscription-renewed', 'payment-success'].includes(kind)) ||
        truth.isActive && truth.asked.length === 0;
      wrong.push(...judgeAny(
        [
          known,
          { ...known, charge: earlier.charge },
          { ...earlier, changes: known.changes },
          ...replaced.map((one) => ({ ...known, charge: { ...one, isRecorded: true, isAsked: true } })),
        ],
        (each) => judge(`mail ${kind}: ${mail.text}`, text, each, mailDay, isBack),
      ));
      const hindi = await renderEmail({ kind, payload }, { appUrl: 'https://app.example.com', look: { locale: 'hi' } });
      if (String(factsIn(`${hindi.subject}\n${hindi.text}`, 'hi')) !== String(factsIn(text, 'en'))) {
        wrong.push(`other days or amounts in Hindi: ${hindi.text}`);
      }
      const { said } = read(text);
      lastCharge = chargeOf(kind, said);
    }
    wrong.push(...judgeLast(lastCharge, truth));
    const end = truth.isActive ? undefined : page.find((text) => text.includes(' ended on '));
    if (end !== undefined && ended !== undefined && end !== ended) wrong.push(`page: "${end}" after "${ended}"`);
    ended = truth.isActive ? undefined : ended ?? end;
    const at = new Date(billing.now() * 1000).toISOString();
    return wrong.map((text) => `${at} ${text}; ${JSON.stringify(truth)}`);
  };
}

/** What a mail says last about the next charge. Other mails leave it open. */
function chargeOf(kind: string, said: readonly Said[]): Charge | undefined {
  const charge = said.find(({ about }) => about === 'charge');
  if (charge) return { day: charge.day, amount: charge.amount };
  if (kind === 'change-scheduled') {
    return {
      day: said.find(({ about, day }) => about === 'change' && day)?.day,
      amount: said.find(({ about, amount }) => about === 'change' && amount)?.amount,
    };
  }
  return said.some(({ about }) => about === 'no charge') ? 'none' : undefined;
}

function judgeLast(last: Charge | undefined, { charge, payments }: Truth): string[] {
  if (last === undefined || !charge?.isRecorded) return [];
  const isCharged = last !== 'none' && payments.some(({ start }) => start !== null && mailDay(start) === last.day);
  if ((isCharged || last === 'none') && !charge.isAsked) return [];
  if (last === 'none') return ['the last mail says that nothing more is charged'];
  const isSame = last.day === mailDay(charge.at) &&
    (last.amount === undefined || last.amount === rupees(charge.amount));
  return isSame ? [] : [`the last mail names the next charge ${JSON.stringify(last)}`];
}

function textsOf({ badge, lines, attention, next }: State): string[] {
  return [badge.text, ...lines, ...attention ? [attention.text] : [], ...next ? [`${next.text} ${next.note}`] : []];
}

const shopTexts = (current: CurrentSubscription) =>
  [failureText(current), periodText(current), chargeText(current), nextText(current)].filter((text) => text !== null);

/** What became known after a text, in the same look, may have changed what it says: it is so before or after. */
function judgeAny(truths: readonly Truth[], judgeBy: (truth: Truth) => string[]): string[] {
  const judged = truths.map(judgeBy);
  return judged.find((each) => each.length === 0) ?? judged[0] ?? [];
}

/** @returns a text for each day or amount that is not so, and for each that no sentence covers */
function judge(name: string, text: string, truth: Truth, format: Format, isBack = false): string[] {
  const { said, unread } = read(text);
  const isPage = name.startsWith('page');
  const isMail = name.startsWith('mail');
  const wrong = said.filter((one) => !isTrue(one, truth, format, { isPage, isMail, isBack })).map(({ about, text }) =>
    `${about}: "${text}"`
  );
  return [...wrong, ...unread.map((part) => `not read: "${part}"`)].map((problem) => `${problem} in ${name}`);
}

function isTrue(
  { about, day, start, amount }: Said,
  truth: Truth,
  format: Format,
  { isPage, isMail, isBack }: { isPage: boolean; isMail: boolean; isBack: boolean },
): boolean {
  const names = (...times: (string | null | undefined)[]) =>
    day === undefined || times.some((at) => at && format(at) === day);
  const costs = (...amounts: number[]) =>
    amount === undefined || amounts.some((one) => [rupees(one), supportAmount(one)].includes(amount));
  const { end, graceEnd, endedAt, charge, amounts, changes, paidEnds, paidStarts, payments, grantEnds, asked } = truth;
  // A mail may be about the change of a change.
  const coming = isMail ? changes : changes.slice(0, 1);
  switch (about) {
    case 'past':
    case 'authorise':
      return true;
    case 'end':
      // A mail about a payment names the end of what it paid, and support reads what rules before the row is settled.
      return names(end, ...isPage ? [] : [...paidEnds, ...grantEnds]);
    case 'order':
      return costs(...payments.map((payment) => payment.amount));
    case 'received':
      return payments.some((payment) =>
        costs(payment.amount) && names(payment.end) && payment.start !== null && format(payment.start) === start
      );
    case 'given until':
      // What is charged or begins next ends a row that was written by hand.
      return names(end, charge?.at, ...coming.map(({ at }) => at));
    case 'given':
      return names(...grantEnds);
    case 'asked':
      return names(...asked);
    case 'paid':
      return names(...paidEnds);
    case 'grace end':
      return names(graceEnd);
    case 'ended':
      return isBack || !truth.isActive && names(endedAt);
    case 'charge':
      return charge !== null && names(charge.at) && costs(charge.amount) ||
        // It was charged between the mail and this look.
        isMail && payments.some((payment) => names(payment.start) && costs(payment.amount));
    case 'no charge':
      return charge === null;
    case 'not charged':
      return costs(...amounts);
    case 'change':
      return names(...coming.map(({ at }) => at), ...isPage || isMail ? paidStarts : []) &&
        costs(...coming.map((one) => one.amount));
    case 'undo':
      return names(...coming.map(({ at }) => new Date(Date.parse(at) - 48 * 3_600_000).toISOString()));
    case 'resume':
      return day !== undefined;
  }
}
