/// <reference lib="dom" />
import {
  type Change,
  type CurrentSubscription,
  type OfferedPlan,
  type OfferedPrice,
  type Payment,
  type Receipt,
  retriedAt,
  type Subscription,
  type Subscriptions,
} from '../../../supabase/client/subscriptions.ts';
import { element, money } from './element.ts';
import { receiptButtons } from './receipts.ts';
import { chargeText, day, every, failureText, nextText, per, periodText } from './texts.ts';

type When = 'now' | 'period_end';
type Interval = OfferedPrice['interval'];
/** What a person can do. */
export type Actions = {
  enter(how: 'signInWithPassword' | 'signUp', email: string, password: string): void;
  leave(): void;
  buy(price: string, renews: boolean, scenario: OfferedPrice['scenario']): void;
  change(price: string, when: When): void;
  cancel(): void;
  resume(): void;
  /** Saves the PDF of a document. */
  open(receipt: Receipt): void;
};

/** Sign-in and sign-up in one form, and the sample users. */
export function signIn({ enter }: Actions): Node[] {
  const email = element('input', { id: 'email', type: 'email', required: true, autocomplete: 'username' });
  const password = element('input', { id: 'password', type: 'password', required: true, minLength: 6 });
  const form = element('form', { className: 'panel' });
  form.append(
    ...[element('label', { htmlFor: 'email' }, 'E-mail'), email],
    ...[element('label', { htmlFor: 'password' }, 'Password'), password],
    element('button', { className: 'main' }, 'Sign in'),
    element('button', { value: 'signUp' }, 'Create an account'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const isNew = event.submitter?.getAttribute('value') === 'signUp';
    enter(isNew ? 'signUp' : 'signInWithPassword', email.value, password.value);
  });
  const samples = ['asha@example.com', 'ravi@example.com'].map((sample) =>
    element('button', { onclick: () => enter('signInWithPassword', sample, 'sample-password') }, `Sign in as ${sample}`)
  );
  return [element('h1', {}, 'Sign in'), form, element('p', { className: 'row' }, ...samples)];
}

/** The interval that the customer chose. It stays when the page is drawn again. */
let chosen: Interval | undefined;

/** The plans on offer, with the prices of one interval: at first that of the price that the customer has. */
export function pricing(plans: OfferedPlan[], { buy }: Actions): Node[] {
  const prices = plans.flatMap((plan) => plan.prices);
  const held = prices.find(({ scenario }) => scenario === 'current' || scenario === 'renew');
  const renews = element('input', { id: 'renews', type: 'checkbox' });
  const sell = ({ lookup_key, scenario }: OfferedPrice) => buy(lookup_key, renews.checked, scenario);
  const list = element('ul', { className: 'cards' });
  const toggle = element('fieldset', { className: 'toggle', ariaLabel: 'Prices' });
  const draw = (interval: Interval) =>
    list.replaceChildren(...plans.toSorted(byRank).map((plan) => card(plan, interval, sell)));
  const shown = chosen ?? held?.interval ?? 'month';
  draw(shown);
  for (const interval of ['month', 'year'] as const) {
    const onchange = () => draw(chosen = interval);
    const checked = interval === shown;
    const choice = element('input', { id: interval, type: 'radio', name: 'interval', checked, onchange });
    toggle.append(element('label', {}, choice, element('span', {}, interval === 'month' ? 'Monthly' : 'Yearly')));
  }
  const isChoice = new Set(prices.map(({ interval }) => interval)).size > 1;
  const label = element('label', { htmlFor: 'renews' }, 'Renew automatically');
  const row = element('p', { className: 'row' }, renews, label);
  return [element('h1', {}, 'Pricing'), ...isChoice ? [toggle] : [], list, row];
}

/** A plan, with its prices of the interval, or all of them where it has none. */
function card({ name, features, prices }: OfferedPlan, interval: Interval, sell: (price: OfferedPrice) => void): Node {
  const own = prices.filter((price) => price.interval === interval);
  const offers = (own.length > 0 ? own : prices).flatMap((price) => [
    element('p', {}, element('strong', {}, money(price.amount, price.currency)), ` ${per(price)}`),
    offer(name, price, () => sell(price)),
  ]);
  const items = (Array.isArray(features) ? features : []).map((feature) => element('li', {}, String(feature)));
  return panel('li', element('h2', {}, name), element('ul', {}, ...items), ...offers);
}

/** What a customer can do with a price depends on its scenario. */
function offer(name: string, { lookup_key, scenario, ...price }: OfferedPrice, onclick: () => void): Node {
  if (scenario === undefined) return link('/sign-in', `Sign in to buy ${name}`);
  if (scenario === 'current') return element('p', { className: 'badge good' }, 'Your plan');
  if (scenario === 'buy' || scenario === 'renew') {
    const properties = { id: `buy-${lookup_key}`, className: 'main', onclick };
    return element('button', properties, `${scenario === 'renew' ? 'Renew' : 'Buy'} ${name}`);
  }
  if (scenario === 'scheduled') return element('p', { className: 'badge' }, 'Starts after the current period');
  const what = `${scenario === 'upgrade' ? 'Upgrade' : 'Change'} to ${name}, ${every(price)}`;
  return link(`/subscription?to=${encodeURIComponent(lookup_key)}`, what);
}

/** The tier with its period, what it may do in the app, and the payments. */
export function dashboard(
  current: CurrentSubscription & { receipts: Receipt[] },
  { can, limit }: Pick<Subscriptions, 'can' | 'limit'>,
  actions: Actions,
): Node[] {
  const { subscription, currentTier, payments, billing, receipts } = current;
  const card = panel('section', element('p', {}, 'Your tier: ', element('strong', { id: 'tier' }, currentTier)));
  const failure = failureText(current);
  if (failure) card.append(element('p', { className: 'bad' }, failure), link(billing?.manage_url ?? '', 'Pay'));
  const period = periodText(current);
  if (period) {
    const ends = subscription?.cancel_at_period_end;
    const onclick = ends ? actions.resume : actions.cancel;
    const label = ends ? 'Resume' : 'Cancel at the end of the period';
    card.append(element('p', { id: 'period' }, period), element('button', { id: 'end', onclick }, label));
  } else {
    card.append(link('/pricing', 'See the plans'));
    if (billing) {
      // Without access, too: a charge that failed is tried again, and a new card is charged.
      const text = `The gateway bills you (${billing.status}), and may charge you again. `;
      const button = element('button', { id: 'end', onclick: actions.cancel }, 'Cancel it');
      card.append(element('p', { id: 'billed' }, text), button);
    }
  }
  const projects = limit('projects');
  const may = element(
    'ul',
    { id: 'features' },
    element('li', {}, `Projects: ${projects === null ? 'unlimited' : projects === 0 ? 'none' : `up to ${projects}`}`),
    element('li', {}, `Analytics: ${can('analytics') ? 'yes' : 'no'}`),
  );
  const row = (tag: 'td' | 'th', texts: (string | Node[])[]) =>
    element('tr', {}, ...texts.map((text) => element(tag, {}, ...typeof text === 'string' ? [text] : text)));
  const rows = payments.map((payment) => {
    const { id, created_at, tier, amount, paid_amount: paid, currency } = payment;
    const status = statusOf(payment, payments);
    const own = receipts.filter(({ payment_id }) => payment_id === id);
    const documents = receiptButtons(own, actions.open);
    return row('td', [day(created_at), tier ?? '', money(paid ?? amount, currency), status, documents]);
  });
  const head = row('th', ['Date', 'Tier', 'Amount', 'Status', 'Receipt']);
  const table = element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows));
  const scroll = element('div', { className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: 'Payments' }, table);
  const paid = rows.length > 0 ? scroll : element('p', {}, 'No payment yet.');
  const title = element('h1', {}, 'Dashboard');
  return [title, card, element('h2', {}, 'Features'), may, element('h2', {}, 'Payments'), paid];
}

function statusOf(payment: Payment, payments: Payment[]): string {
  const { status, refunded_amount: refunded, currency } = payment;
  const paidAt = retriedAt(payment, payments);
  if (paidAt !== null) return `tried again, paid on ${day(paidAt)}`;
  return refunded > 0 ? `${money(refunded, currency)} refunded` : status;
}

/** The name of the plan, unless support wrote another tier into the row. */
const nameOf = ({ plan, tier }: Subscription) => plan?.tier === tier ? plan.name : tier;

/** How the subscription goes on, and what a change would cost. @param held the price that is paid for, to undo a change */
export function subscription(
  current: CurrentSubscription,
  changes: (Change & { when: When; name: string; price: OfferedPrice })[],
  held: string | undefined,
  { change }: Actions,
): Node[] {
  const { subscription: running, billing } = current;
  const name = running === null ? 'No subscription' : nameOf(running);
  const title = running?.status === 'cancelled' ? `${name} has ended` : name;
  const card = panel('section', element('h2', {}, title), element('p', {}, chargeText(current)));
  if (billing?.manage_url && (billing.next_charge_at || billing.payment_attention)) {
    card.append(link(billing.manage_url, 'Change the method of payment'));
  }
  const next = nextText(current);
  if (next) {
    card.append(element('p', { id: 'next' }, next));
    if (billing?.next?.undo_until && held) {
      const onclick = () => change(held, 'period_end');
      card.append(element('button', { id: 'undo', onclick }, 'Undo the change'));
    }
  }
  card.append(link('/pricing', running?.status === 'active' ? 'Another plan' : 'See the plans'));
  const choices = changes.map(({ when, name, price, amount_due, credit, currency, starts_at }) => {
    const due = `The first payment is ${money(amount_due, currency)}, after a credit of ${money(credit, currency)}.`;
    const terms = `${money(price.amount, price.currency)} ${per(price)}.${credit > 0 ? ` ${due}` : ''}`;
    const label = `Change to ${name}, ${every(price)}, ${when === 'now' ? 'now' : `on ${day(starts_at)}`}`;
    const button = element('button', { id: when, onclick: () => change(price.lookup_key, when) }, label);
    return panel('section', element('p', {}, terms), button);
  });
  return [element('h1', {}, 'Subscription'), card, ...choices];
}

const byRank = (one: OfferedPlan, other: OfferedPlan) => (one.rank ?? one.price) - (other.rank ?? other.price);
const link = (href: string, text: string) => element('a', { href, className: 'button' }, text);
const panel = (tag: 'section' | 'li', ...children: Node[]) => element(tag, { className: 'panel' }, ...children);
