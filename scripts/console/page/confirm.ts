/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';

/** What a dialog asks, and what it does. */
type Question = {
  title: string;
  /** The button that carries it out. */
  confirm: string;
  isDangerous?: boolean | undefined;
  fields: Node[];
  /** Says in one sentence what will happen; asked again at each input. */
  sentence(): string;
  /** @returns what was done @throws Error with the reason why it was refused */
  perform(): Promise<string>;
};

/** Opens a dialog. The page is read again after it was carried out. A refusal is shown, and the dialog stays. */
export function openDialog({ title, confirm: text, isDangerous, fields, sentence, perform }: Question): void {
  const told = element('p', { id: 'sentence', className: 'sentence', role: 'status' });
  const error = element('p', { className: 'error', role: 'alert' });
  const confirm = element('button', { className: isDangerous ? 'main danger' : 'main' }, text);
  const cancel = element('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel');
  const form = element(
    'form',
    {},
    element('h2', { id: 'dialog-title' }, title),
    ...fields,
    told,
    error,
    element('div', { className: 'row end' }, cancel, confirm),
  );
  const dialog = element('dialog', {}, form);
  dialog.setAttribute('aria-labelledby', 'dialog-title');
  dialog.setAttribute('aria-describedby', 'sentence');
  const describe = () => told.replaceChildren(sentence());
  form.addEventListener('input', describe);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    confirm.disabled = true;
    error.textContent = '';
    try {
      const result = await perform();
      dialog.close();
      say(result);
      dispatchEvent(new Event('console:changed'));
    } catch (refused) {
      error.textContent = refused instanceof Error ? refused.message : String(refused);
    }
    confirm.disabled = false;
  });
  dialog.addEventListener('close', () => dialog.remove());
  describe();
  document.body.append(dialog);
  dialog.showModal();
}

/** Says what was done, or why not, below the page. */
export function say(text: string): void {
  document.querySelector('#message')?.replaceChildren(text);
}
