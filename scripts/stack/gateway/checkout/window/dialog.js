const STOPS = 'button, select';

/** Keeps the focus inside a dialog. Calls `escape` on the key, and `outside` on a click beside the dialog. */
export function keepFocus(dialog, { escape, outside }) {
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') escape();
    if (event.key !== 'Tab') return;
    const stops = [...dialog.querySelectorAll(STOPS)].filter((stop) => !stop.disabled && stop.checkVisibility());
    const [edge, other] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
    if (
      document.activeElement !== edge && dialog.contains(document.activeElement) && document.activeElement !== dialog
    ) {
      return;
    }
    event.preventDefault();
    other?.focus();
  });
  document.addEventListener('click', ({ target }) => {
    if (!dialog.contains(target)) outside();
  });
}
