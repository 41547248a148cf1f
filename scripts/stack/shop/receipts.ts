/// <reference lib="dom" />
import type { Receipt, Subscriptions } from '../../../supabase/client/subscriptions.ts';
import { en } from '../../../supabase/client/blocks/billing-page/en.ts';
import { ABROAD, statesOf } from '../../../supabase/client/blocks/billing-page/states.ts';
import { download } from '../../../supabase/client/blocks/billing-page/download.ts';
import { element } from './element.ts';

/** Asks for the state in a dialog, and saves it. Without an answer the sale goes on. */
export function askState({ saveBillingDetails }: Subscriptions): Promise<void> {
  const options = statesOf(en).filter(([code]) => code !== ABROAD)
    .map(([value, name]) => element('option', { value }, name));
  const select = element('select', { id: 'state' }, element('option', { value: '' }, 'Choose'), ...options);
  const form = element('form', { method: 'dialog', className: 'panel' });
  form.append(
    element('label', { htmlFor: 'state' }, 'Your state, for the tax on the invoice'),
    select,
    element('button', { className: 'main' }, 'Continue'),
  );
  const dialog = element('dialog', { ariaLabel: 'Your state' }, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve, reject) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      (select.value === '' ? Promise.resolve() : saveBillingDetails({ state: select.value })).then(
        () => resolve(),
        reject,
      );
    });
  });
}

/** A button for each document of a payment, which saves its PDF. */
export function receiptButtons(receipts: Receipt[], onOpen: (receipt: Receipt) => void): Node[] {
  return receipts.map((receipt) =>
    element('button', { onclick: () => onOpen(receipt), title: receipt.title }, receipt.document_number)
  );
}

/** Saves the PDF of a document. @returns what to say */
export async function save(receipt: Receipt, subscriptions: Subscriptions): Promise<string> {
  return `${download(await subscriptions.receipt({ id: receipt.id }), receipt)} is downloaded.`;
}
