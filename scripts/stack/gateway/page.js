import { money } from '../http/money.js';

// The page uses textContent only, so no part of an order is parsed as HTML.
const EVERY_MS = 1500;
const by = (id) => document.getElementById(id);
const GOOD = ['paid', 'captured', 'active', 'delivered', 'completed', 'processed'];
const BAD = ['failed', 'given_up', 'endpoint_off', 'cancelled', 'halted', 'expired'];
const drawn = {};

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function badge(status) {
  const kind = GOOD.includes(status) ? 'good' : BAD.includes(status) ? 'bad' : '';
  return element('span', { className: `badge ${kind}`, textContent: status.replaceAll('_', ' ') });
}

function row(title, status, details, ...actions) {
  const head = element('div', { className: 'title' }, element('strong', {}, title), badge(status));
  const lines = details.map((text) => element('div', { className: 'detail', textContent: text }));
  const item = element('li', {}, head, ...lines);
  if (actions.length > 0) item.append(element('div', { className: 'actions' }, ...actions));
  return item;
}

function moment(seconds) {
  return seconds === null ? '–' : new Date(seconds * 1000).toLocaleString();
}

async function control(name, fields) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`/simulate/${name}`, { method: 'POST', headers, body: JSON.stringify(fields) });
  const answer = await response.json();
  await refresh(response.ok ? '' : answer.error.description);
}

function action(label, className, { id }, name, fields) {
  const button = element('button', { type: 'button', className, textContent: label });
  button.setAttribute('aria-label', `${label} ${id}`);
  button.addEventListener('click', async () => {
    button.disabled = true;
    await control(name, fields);
  });
  return button;
}

function payButton(order, outcome, label, className) {
  return action(label, className, order, 'pay', { order_id: order.id, outcome });
}

function settleButton(refund, event, label, className) {
  return action(label, className, refund, 'refund', { refund_id: refund.id, event });
}

const rows = {
  orders(order) {
    const { id, status, receipt, attempts, notes, created_at } = order;
    const noted = Object.entries(notes).map(([name, value]) => `${name}: ${value}`).join(', ');
    const details = [
      `${id} · ${moment(created_at)}`,
      [receipt, `${attempts} attempt${attempts === 1 ? '' : 's'}`, noted]
        .filter(Boolean).join(' · '),
    ];
    const buttons = status === 'paid'
      ? []
      : [payButton(order, 'captured', 'Pay', 'pay'), payButton(order, 'failed', 'Fail', 'fail')];
    return row(money(order), status, details, ...buttons);
  },
  payments(payment) {
    const { id, order_id, status, error_description, amount_refunded, currency, created_at } = payment;
    const refunded = amount_refunded > 0 &&
      `${money({ amount: amount_refunded, currency })} refunded, pending included`;
    const details = [
      `${id} · ${moment(created_at)}`,
      [order_id, error_description, refunded].filter(Boolean).join(' · '),
    ];
    const refund = action('Refund', 'fail', payment, 'refund', { payment_id: id, event: 'created' });
    return row(money(payment), status, details, ...status === 'captured' ? [refund] : []);
  },
  refunds(refund) {
    const { id, payment_id, status, created_at } = refund;
    const buttons = [];
    if (status === 'pending') buttons.push(settleButton(refund, 'processed', 'Process', 'pay'));
    if (status !== 'failed') buttons.push(settleButton(refund, 'failed', 'Fail', 'fail'));
    return row(money(refund), status, [`${id} · ${moment(created_at)}`, payment_id], ...buttons);
  },
  deliveries({ event, event_id, state, attempts }) {
    const last = attempts.at(-1);
    const count = `${attempts.length} deliver${attempts.length === 1 ? 'y' : 'ies'}`;
    const outcome = last === undefined ? '' : `, last: ${last.status ?? last.error}`;
    return row(event ?? '(no event name)', state, [event_id, `${count}${outcome}`]);
  },
  subscriptions({ id, plan_id, status, notes, current_start, current_end, short_url }) {
    const period = `${moment(current_start)} to ${moment(current_end)}`;
    const details = [[plan_id, notes.user_id && `user ${notes.user_id}`].filter(Boolean).join(' · '), period];
    const open = element('a', { href: short_url ?? '', textContent: 'Approve or refuse' });
    return row(id, status, details, ...status === 'created' && short_url !== null ? [open] : []);
  },
};

function drawEndpoint({ enabled, disabled_by }) {
  by('endpoint').hidden = enabled;
  const why = disabled_by === 'control' ? '' : ' because the deliveries of an event failed 16 times';
  by('endpoint-text').textContent = `The webhook endpoint was switched off${why}. Nothing is delivered.`;
}

/** An offer that was set by `POST /simulate/account` is a choice of its own. */
function drawAccount({ fee_bearer, offer }) {
  by('customer-fee').checked = fee_bearer === 'customer';
  const chosen = JSON.stringify(offer);
  const isListed = [...by('offer').options].some(({ id, value }) => id === '' && value === chosen);
  if (!isListed) {
    const textContent = 'percent' in offer ? `${offer.percent} %` : `${offer.amount} minor units off`;
    Object.assign(by('other-offer'), { value: chosen, textContent });
  }
  by('other-offer').hidden = isListed;
  by('offer').value = chosen;
}

async function refresh(problem = '') {
  try {
    const response = await fetch('/simulate/state');
    const state = await response.json();
    for (const [name, draw] of Object.entries(rows)) {
      const latest = JSON.stringify(state[name]);
      // Unchanged lists are not redrawn, so that focus and scroll position stay.
      if (drawn[name] === latest) continue;
      drawn[name] = latest;
      by(name).replaceChildren(...state[name].map(draw));
      by(`${name}-count`).textContent = state[name].length;
      by(`${name}-empty`).hidden = state[name].length > 0;
    }
    drawEndpoint(state.endpoint);
    if (!by('account').contains(document.activeElement)) drawAccount(state.account);
    by('state').textContent = problem;
  } catch {
    by('state').textContent = 'The simulator does not answer. Retrying.';
  }
}

by('endpoint-on').addEventListener('click', () => control('endpoint', { enabled: true }));
by('account').addEventListener('change', () => {
  const fee_bearer = by('customer-fee').checked ? 'customer' : 'merchant';
  return control('account', { fee_bearer, offer: JSON.parse(by('offer').value) });
});
await refresh();
setInterval(() => document.hidden || refresh(), EVERY_MS);
