/**
 * Runs in the app's page: focuses its button, and opens a checkout. The names and arguments of the callbacks are kept in
 * the global `called`.
 */
export function openCheckout(options) {
  globalThis.called = [];
  const record = (name) => (argument) => void called.push(argument === undefined ? [name] : [name, argument]);
  document.querySelector('#buy').focus();
  const modal = { ...options.modal, ondismiss: record('ondismiss') };
  globalThis.checkout = new Razorpay({
    key: 'key_local',
    name: 'Acme',
    handler: record('handler'),
    ...options,
    modal,
  });
  checkout.on('payment.failed', record('payment.failed'));
  checkout.open();
}
