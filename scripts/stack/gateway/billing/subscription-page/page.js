import { money } from '../../../http/money.js';

// The page uses textContent only, so no part of a subscription is parsed as HTML.
const by = (id) => document.getElementById(id);
const subscription_id = location.pathname.split('/').at(-1);
const GOOD = ['active', 'authenticated', 'completed'];
const BAD = ['cancelled', 'halted', 'expired'];
const BILLED = ['authenticated', 'active', 'pending', 'halted'];
const PERIODS = { daily: 'day', weekly: 'week', monthly: 'month', yearly: 'year' };

function each({ period, interval }) {
  return interval === 1 ? `each ${PERIODS[period]}` : `every ${interval} ${PERIODS[period]}s`;
}

function moment(seconds) {
  return new Date(seconds * 1000).toLocaleString();
}

function draw({ subscription, plan, amount }) {
  const { id, status, quantity, total_count, start_at, current_end, expire_by } = subscription;
  const details = {
    'Subscription': id,
    'Charges': `${total_count}`,
    'Quantity': quantity > 1 && `${quantity}`,
    'First charge': status === 'created' && (start_at === null ? 'now' : moment(start_at)),
    'Approve until': status === 'created' && expire_by !== null && moment(expire_by),
    'Paid until': status === 'active' && current_end !== null && moment(current_end),
  };
  by('plan').textContent = plan.item.name;
  by('status').textContent = status;
  by('status').className = `badge ${GOOD.includes(status) ? 'good' : BAD.includes(status) ? 'bad' : ''}`;
  by('amount').textContent = money({ amount, currency: plan.item.currency });
  by('period').textContent = each(plan);
  by('details').replaceChildren(
    ...Object.entries(details).filter(([, value]) => value).flatMap(([name, value]) => [
      Object.assign(document.createElement('dt'), { textContent: name }),
      Object.assign(document.createElement('dd'), { textContent: value }),
    ]),
  );
  const isBilled = BILLED.includes(status);
  by('refuse').hidden = by('approve').hidden = isBilled;
  by('change').hidden = !isBilled;
  by('answer').hidden = status !== 'created' && !isBilled;
  by('mandate').hidden = false;
}

async function refresh(message = '') {
  const response = await fetch(`/simulate/subscription/${subscription_id}`);
  const answer = await response.json();
  if (response.ok) draw(answer);
  by('message').textContent = response.ok ? message : 'This subscription does not exist.';
}

async function send(path, fields, done) {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ subscription_id, method: by('method').value, ...fields });
  const response = await fetch(path, { method: 'POST', headers, body });
  const { error } = await response.json();
  await refresh(error?.description ?? `${done}. You can close this page.`);
}

by('approve').addEventListener('click', () => send('/simulate/authorise', { outcome: 'approved' }, 'Approved'));
by('refuse').addEventListener('click', () => send('/simulate/authorise', { outcome: 'refused' }, 'Refused'));
by('change').addEventListener('click', () => send('/simulate/update-method', {}, 'Changed'));
await refresh();
