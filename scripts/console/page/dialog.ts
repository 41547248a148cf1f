/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';
import { minorUnits } from '../../../supabase/client/subscriptions.ts';
import type { Customer, SupportAction } from '../rows.ts';
import { type ActionName, type ActionText, actionTexts, type Current, type Refundable } from './actions.ts';
import { act, read } from './api.ts';
import { now } from './clock.ts';
import { openDialog, say } from './confirm.ts';
import { localMinute, monthsAfter, timeOf } from './zone.ts';

type Proposal = Omit<SupportAction, 'action' | 'reason'> & { action: ActionName };
const MONTHS: [text: string, months: number][] = [['1 month', 1], ['3 months', 3], ['1 year', 12]];

/**
 * A button that opens the dialog of an action.
 * @param who whom it is about, for the sentence that is confirmed
 */
export function actionButton(proposal: Proposal, who: string, label?: string): HTMLButtonElement {
  const { label: usual, isDangerous }: ActionText = actionTexts[proposal.action];
  const className = isDangerous ? 'danger' : '';
  const fail = (error: unknown) => say(error instanceof Error ? error.message : String(error));
  const onclick = () => void propose(proposal, who).catch(fail);
  return element('button', { type: 'button', className, onclick }, label ?? usual);
}

/**
 * Asks for the reason, says in one sentence what will happen, and carries it out when it is confirmed. The page is read
 * again afterwards. A refusal of the database is shown, and the dialog stays.
 */
async function propose(proposal: Proposal, who: string): Promise<void> {
  const text: ActionText = actionTexts[proposal.action];
  const reason = element('textarea', { id: 'reason', required: true, maxLength: 1000, rows: 3 });
  const [current, paid] = await Promise.all([readCurrent(proposal), readPaid(proposal)]);
  const terms = text.asksForTier
    ? await tierFields(proposal, current)
    : text.asksForEnd
    ? endFields()
    : text.asksForSeller
    ? sellerFields()
    : paid
    ? amountField(paid)
    : null;
  const action = () => ({ ...proposal, ...terms?.values(), reason: reason.value.trim() });
  openDialog({
    ...{ title: text.label, confirm: text.confirm, isDangerous: text.isDangerous },
    fields: [
      ...terms?.fields ?? [],
      element('label', { htmlFor: 'reason' }, 'Reason, kept in the timeline'),
      reason,
    ],
    sentence: () => text.sentence(action(), who, paid, current),
    perform: () => act(action()),
  });
}

/** The field of an amount to refund, which is first all that is left. */
function amountField({ currency, refundable_amount: left }: Refundable) {
  const digits = minorUnits(currency);
  const step = (10 ** -digits).toFixed(digits);
  const field = element('input', { id: 'amount', type: 'number', required: true, min: step, step });
  field.max = field.value = (left / 10 ** digits).toFixed(digits);
  const fields = [element('label', { htmlFor: 'amount' }, `Amount, in ${currency}`), field];
  return { fields, values: () => ({ amount: Math.round(Number(field.value) * 10 ** digits) }) };
}

/** Whether a cancellation is for now or for the end of what is paid. */
function endFields() {
  const field = element(
    'select',
    { id: 'when' },
    element('option', { value: 'end' }, 'When the paid period ends'),
    element('option', { value: 'now' }, 'Now'),
  );
  const fields = [element('label', { htmlFor: 'when' }, 'When'), field];
  return { fields, values: () => ({ at_period_end: field.value === 'end' }) };
}

/** Whose name, address and tax a reissued document has. */
function sellerFields() {
  const field = element(
    'select',
    { id: 'seller' },
    element('option', { value: 'then' }, 'As they were then'),
    element('option', { value: 'today' }, 'As they are set today: those of then were wrong'),
  );
  const fields = [element('label', { htmlFor: 'seller' }, 'Seller and tax'), field];
  return { fields, values: () => ({ corrects_seller: field.value === 'today' }) };
}

/** Reads what the customer has now. */
async function readCurrent({ email }: Proposal): Promise<Current | undefined> {
  if (!email) return undefined;
  return (await read<{ customer: Customer }>(`/customers/${email}`)).customer;
}

/** Reads what is left of the payment that is to be refunded. */
async function readPaid({ action, reference }: Proposal): Promise<Refundable | undefined> {
  return action === 'refund' ? await read<Refundable>(`/payments/${reference}`) : undefined;
}

/** The fields of a tier, its end, and entitlements. The tier is first the proposed one, else the one that the customer has. */
async function tierFields({ tier: proposed, until }: Proposal, current?: Current) {
  const tier = proposed ?? current?.tier;
  const tiers = await read<string[]>('/tiers');
  const options = tiers.map((one) => element('option', { selected: one === tier }, one));
  const tierField = element('select', { id: 'tier', required: true }, ...options);
  const untilField = element('input', { id: 'until', type: 'datetime-local', required: true });
  const set = (until: string) => {
    untilField.value = until;
    untilField.dispatchEvent(new Event('input', { bubbles: true }));
  };
  const shortcuts = MONTHS.map(([text, months]) =>
    element(
      'button',
      { type: 'button', className: 'small', onclick: () => set(monthsAfter(new Date(now()), months)) },
      text,
    )
  );
  const entitlementsField = element('input', {
    id: 'entitlements',
    placeholder: '{"projects": 25}',
    autocomplete: 'off',
  });
  untilField.value = until ? localMinute(new Date(until)) : monthsAfter(new Date(now()), 1);
  const fields = [
    element('label', { htmlFor: 'tier' }, 'Tier'),
    tierField,
    element('label', { htmlFor: 'until' }, 'Until'),
    untilField,
    element('div', { className: 'row' }, ...shortcuts),
    element('label', { htmlFor: 'entitlements' }, 'Entitlements beside those of the plan, as JSON (optional)'),
    entitlementsField,
  ];
  const values = () => ({
    tier: tierField.value,
    until: untilField.value === '' ? '' : timeOf(untilField.value).toISOString(),
    entitlements: entitlementsField.value.trim(),
  });
  return { fields, values };
}
