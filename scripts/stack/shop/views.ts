/// <reference lib="dom" />
import type { Change, CurrentSubscription, OfferedPlan } from '../../../supabase/client/subscriptions.ts';
import { day, element, money } from './element.ts';

type When = 'now' | 'period_end';
/** What a person can do. */
export type Actions = {
  enter(how: 'signInWithPassword' | 'signUp', email: string, password: string): void;
  leave(): void;
  buy(tier: string, renews: boolean, scenario: OfferedPlan['scenario']): void;
  change(tier: string, when: When): void;
  cancel(): void;
  resume(): void;
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

/** The plans on offer. What the button of a plan does depends on its scenario. */
export function pricing(plans: OfferedPlan[], { buy }: Actions): Node[] {
  const renews = element('input', { id: 'renews', type: 'checkbox' });
  const offer = ({ tier, name, scenario }: OfferedPlan) => {
    if (scenario === undefined) return link('/sign-in', `Sign in to buy ${name}`);
    if (scenario === 'current') return element('p', { className: 'badge good' }, 'Your plan');
    if (scenario === 'upgrade') return link(`/subscription?to=${tier}`, `Upgrade to ${name}`);
    if (scenario === 'downgrade') return link(`/subscription?to=${tier}`, `Change to ${name}`);
    const [id, onclick] = [`buy-${tier}`, () => buy(tier, renews.checked, scenario)];
    return element('button', { id, className: 'main', onclick }, `${scenario === 'renew' ? 'Renew' : 'Buy'} ${name}`);
  };
  const cards = plans.map((plan) => {
    const months = plan.duration_months || 12;
    const price = element('strong', {}, money(plan.price, plan.currency));
    const features = Array.isArray(plan.features) ? plan.features : [];
    const list = element('ul', {}, ...features.map((feature) => element('li', {}, String(feature))));
    const length = months === 1 ? ' a month' : months === 12 ? ' a year' : ` for ${months} months`;
    return panel('li', element('h2', {}, plan.name), element('p', {}, price, length), list, offer(plan));
  });
  const label = element('label', { htmlFor: 'renews' }, 'Renew automatically');
  const list = element('ul', { className: 'cards' }, ...cards);
  return [element('h1', {}, 'Pricing'), list, element('p', { className: 'row' }, renews, label)];
}

/** The tier, its period and the payments. */
export function dashboard({ subscription, currentTier, payments, billing }: CurrentSubscription, actions: Actions) {
  const card = panel('section', element('p', {}, 'Your tier: ', element('strong', { id: 'tier' }, currentTier)));
  if (billing?.payment_attention) {
    card.append(element('p', { className: 'bad' }, 'A charge failed. '), link(billing.manage_url ?? '', 'Pay'));
  }
  if (subscription?.status === 'active') {
    const { current_period_start: start, current_period_end: end, cancel_at_period_end: ends } = subscription;
    const period = `${day(start)} to ${day(end)}${ends ? ', then it ends' : ''}`;
    const onclick = ends ? actions.resume : actions.cancel;
    const label = ends ? 'Resume' : 'Cancel at the end of the period';
    card.append(element('p', { id: 'period' }, period), element('button', { id: 'end', onclick }, label));
  } else card.append(link('/pricing', 'See the plans'));
  const row = (tag: 'td' | 'th', texts: string[]) => element('tr', {}, ...texts.map((text) => element(tag, {}, text)));
  const rows = payments.map(({ created_at, tier, amount, currency, status }) =>
    row('td', [day(created_at), tier ?? '', money(amount, currency), status])
  );
  const head = row('th', ['Date', 'Tier', 'Amount', 'Status']);
  const table = element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows));
  const paid = rows.length > 0 ? table : element('p', {}, 'No payment yet.');
  return [element('h1', {}, 'Dashboard'), card, element('h2', {}, 'Payments'), paid];
}

/** How the subscription goes on, and what a chosen change of the plan would cost. */
export function subscription(
  { subscription: running, billing }: CurrentSubscription,
  changes: (Change & { when: When })[],
  { change }: Actions,
): Node[] {
  const isActive = running?.status === 'active';
  const next = billing?.next_charge_at;
  const text = next ? `The next charge is on ${day(next)}.` : isActive ? 'It does not renew by itself.' : 'None.';
  const card = panel('section', element('h2', {}, running?.plan?.name ?? 'No subscription'), element('p', {}, text));
  if (billing?.manage_url) card.append(link(billing.manage_url, 'Change the method of payment'));
  card.append(link('/pricing', isActive ? 'Another plan' : 'See the plans'));
  const choices = changes.map(({ when, to, amount_due, credit, currency, starts_at }) => {
    const saved = credit > 0 ? `, after a credit of ${money(credit, currency)}` : '';
    const label = `Change to ${to} ${when === 'now' ? 'now' : `on ${day(starts_at)}`}`;
    const button = element('button', { id: when, onclick: () => change(to, when) }, label);
    return panel('section', element('p', {}, `You pay ${money(amount_due, currency)}${saved}.`), button);
  });
  return [element('h1', {}, 'Subscription'), card, ...choices];
}

const link = (href: string, text: string) => element('a', { href, className: 'button' }, text);
const panel = (tag: 'section' | 'li', ...children: Node[]) => element(tag, { className: 'panel' }, ...children);
