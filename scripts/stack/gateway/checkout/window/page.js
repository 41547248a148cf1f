import { keepFocus } from './dialog.js';
import { frameHost, redirectHost } from './hosts.js';
import { money } from '../../../http/money.js';
import { by, drawBill, drawMerchant, show, shown, tell } from './panels.js';
import { drawQrCode } from './qr-code.js';

const SHOW_RESULT_MS = 600;
const POLL_MS = 300;
const LOST = 'The connection was lost. The payment may have been made: its result is not known here.';

let options = {};
let target;
/** What the app's page gets when the window ends; set after a payment. */
let paid;
/** The last failure; the app gets it when the window closes without another attempt. */
let failure;
/** The payment whose QR code is shown. */
let qrPayment;
let ended = false;
/** Ends the question whether to leave; set while it is asked. */
let stay;

const host = location.pathname.endsWith('/redirect') ? redirectHost() : frameHost({ onEscape: escape });

/** A call that the gateway refused, with its reason. */
class Refused extends Error {}

async function call(path, fields) {
  const init = fields === undefined ? {} : { method: 'POST', body: JSON.stringify(fields) };
  const response = await fetch(`/checkout/${path}`, init);
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer.error.description);
  return answer;
}

/** What is paid, as the app's page named it. */
function named() {
  const { key, order_id, subscription_id, amount, currency } = options;
  return { key, order_id, subscription_id, amount, currency };
}

async function attempt(outcome) {
  const { notes } = options;
  show('', outcome === 'captured' ? 'Paying…' : 'Failing…');
  return await call('attempt', { ...named(), outcome, notes, method: by('method').value });
}

/** Makes an attempt, and shows its result. */
async function pay(outcome) {
  try {
    finish(await attempt(outcome));
  } catch (error) {
    refuse(error);
  }
}

function finish({ paid: fields, failed }) {
  if (failed !== undefined) {
    const isOver = !host.failed(failed.error);
    if (isOver) failure = failed;
    return showResult(isOver ? 'over' : 'failed', `The payment failed. ${failed.error.description}`, 'bad');
  }
  paid = fields;
  showResult('', `${money(target)} paid.`, 'good');
  setTimeout(() => end(), SHOW_RESULT_MS);
}

function refuse(error) {
  showResult('over', error instanceof Refused ? error.message : LOST, 'bad');
}

/** Shows a result, also in place of the question whether to leave. */
function showResult(panel, message, kind) {
  stay = undefined;
  show(panel, message, kind);
}

/** The gateway takes the money, and its answer gets lost. */
async function lose() {
  await attempt('captured').catch(() => undefined);
  showResult('over', LOST, 'bad');
}

async function payByQr() {
  try {
    const { notes } = options;
    qrPayment = (await call('qr', { ...named(), notes })).payment_id;
    by('qr-code').replaceChildren(drawQrCode(qrPayment));
    show('qr', 'Waiting for the payment on the other device…');
    const answer = await poll();
    qrPayment = undefined;
    finish(answer);
  } catch (error) {
    refuse(error);
  }
}

async function poll() {
  for (;;) {
    const answer = await call(`qr/${qrPayment}`);
    if (!answer.waiting) return answer;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function escape() {
  if (stay !== undefined) stay();
  else if (options.modal?.escape !== false) close();
}

/** Closes the window, or asks first. */
function close() {
  if (paid !== undefined) return end();
  if (stay !== undefined || !options.modal?.confirm_close) return end();
  const back = shown();
  stay = () => {
    stay = undefined;
    back();
  };
  show('confirm', 'Do you want to leave without paying?');
}

/** Ends the window. `reason`: `timeout`, the failure without another attempt, or none. */
function end(reason = failure) {
  if (ended) return;
  ended = true;
  if (paid !== undefined) return host.paid(paid);
  if (qrPayment !== undefined) void fetch(`/checkout/qr/${qrPayment}/close`, { method: 'POST', keepalive: true });
  host.dismiss(reason);
}

async function open() {
  options = await host.options();
  drawMerchant(options);
  if (options.timeout > 0) setTimeout(() => paid === undefined && end('timeout'), options.timeout * 1000);
  try {
    target = await call('target', named());
    drawBill(target, options);
    show('pay');
  } catch (error) {
    show('over', error instanceof Refused ? error.message : 'The gateway does not answer.', 'bad');
  }
}

by('pay').addEventListener('click', () => pay('captured'));
by('fail').addEventListener('click', () => pay('failed'));
by('lose').addEventListener('click', lose);
by('qr').addEventListener('click', payByQr);
by('retry').addEventListener('click', () => show('pay'));
by('stay').addEventListener('click', () => stay());
by('leave').addEventListener('click', () => end());
by('close').addEventListener('click', close);
for (const button of document.querySelectorAll('[data-close]')) button.addEventListener('click', close);
keepFocus(by('checkout'), {
  escape,
  outside: () => options.modal?.backdropclose === true && stay === undefined && close(),
});
tell('Loading…');
await open();
