import { money } from '../../../http/money.js';

// The page uses textContent only, so no option of the app is parsed as HTML.
export const by = (id) => document.getElementById(id);

const PERIODS = { daily: 'day', weekly: 'week', monthly: 'month', yearly: 'year' };

/** Shows one panel and a message, and moves the focus to the panel's main control. */
export function show(panel, message = '', kind = '') {
  for (const section of document.querySelectorAll('[data-panel]')) section.hidden = section.dataset.panel !== panel;
  tell(message, kind);
  (document.querySelector(`[data-panel="${panel}"] [data-focus]`) ?? by('checkout')).focus();
}

/** Writes the message, which screen readers announce. `kind`: `good`, `bad` or none. */
export function tell(message, kind = '') {
  by('message').textContent = message;
  by('message').className = kind;
}

/** What the window shows now, to return to it. */
export function shown() {
  const { textContent, className } = by('message');
  const panel = document.querySelector('[data-panel]:not([hidden])')?.dataset.panel;
  return () => show(panel, textContent, className);
}

/** Shows whose checkout this is, in the app's colour. */
export function drawMerchant({ name, description, theme = {} }) {
  by('merchant').textContent = name || 'Checkout';
  by('description').textContent = description ?? '';
  if (!/^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(theme.color)) return;
  const { style } = document.documentElement;
  style.setProperty('--brand', theme.color);
  style.setProperty('--brand-ink', isLight(theme.color) ? '#000000' : '#ffffff');
}

/** Whether black text has more contrast on a colour than white text: its relative luminance, as WCAG defines it. */
function isLight(hex) {
  const digits = hex.length === 4 ? [...hex.slice(1)].map((digit) => digit + digit) : hex.slice(1).match(/../g);
  const [red, green, blue] = digits.map((pair) => {
    const value = parseInt(pair, 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179;
}

/** Shows what is paid. */
export function drawBill(target, { prefill = {} }) {
  const { id, plan, currency } = target;
  const part = (amount) => amount > 0 && money({ amount, currency });
  by('amount').textContent = money(target);
  by('period').textContent = plan === null ? '' : each(plan);
  const details = {
    [plan === null ? 'Order' : 'Subscription']: id,
    'Price': (target.discount > 0 || target.fee > 0) && part(target.ordered),
    'Offer': target.discount > 0 && `− ${part(target.discount)}`,
    'Fee': target.fee > 0 && `+ ${part(target.fee)}`,
    'Plan': plan?.name,
    'First charge': plan && (plan.start_at === null ? 'now' : new Date(plan.start_at * 1000).toLocaleString()),
    'Customer': [prefill.name, prefill.email, prefill.contact].filter(Boolean).join(', '),
  };
  by('details').replaceChildren(
    ...Object.entries(details).filter(([, value]) => value).flatMap(([name, value]) => [
      Object.assign(document.createElement('dt'), { textContent: name }),
      Object.assign(document.createElement('dd'), { textContent: value }),
    ]),
  );
  by('bill').hidden = false;
  by('pay').textContent = `${plan === null ? 'Pay' : 'Authorise'} ${money(target)}`;
  by('fail').textContent = plan === null ? 'Fail this attempt' : 'Refuse the mandate';
  by('lose').textContent = `${plan === null ? 'Pay' : 'Authorise'}, then lose the network`;
  by('method-choice').hidden = plan === null;
  by('qr').hidden = plan !== null;
}

function each({ period, interval }) {
  return interval === 1 ? `each ${PERIODS[period]}` : `every ${interval} ${PERIODS[period]}s`;
}
