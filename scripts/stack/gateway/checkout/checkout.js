/**
 * Plays the gateway's checkout script: the same global, options, methods and events. It opens a window of the simulator
 * over the app's page, in a frame. Styles are set through the CSSOM only, so the page's policy needs no more than this
 * origin in `script-src` and `frame-src`.
 */
(() => {
  const { origin } = new URL(document.currentScript.src);
  const PATIENCE_MS = 15000;
  const WHOLE_WINDOW = {
    position: 'fixed',
    inset: '0',
    width: '100%',
    height: '100%',
    border: '0',
    margin: '0',
    padding: '0',
  };
  const CONTAINER = {
    ...WHOLE_WINDOW,
    'max-width': 'none',
    'max-height': 'none',
    background: 'none',
    overflow: 'hidden',
  };
  // With another colour scheme than its document a frame is not transparent.
  const FRAME = { ...WHOLE_WINDOW, display: 'block', background: 'none', 'color-scheme': 'light dark' };

  /** The open window. There is at most one. */
  let current;

  class Razorpay {
    constructor(options) {
      if (!options || !options.key) throw new Error('No key passed');
      this.options = options;
      this.listeners = {};
    }

    on(event, callback) {
      this.listeners[event] = [...(this.listeners[event] || []), callback];
    }

    open() {
      if (current) return;
      const { redirect, callback_url } = this.options;
      if (redirect && callback_url) location.assign(`${origin}/checkout/redirect#${encoded(plain(this.options))}`);
      else current = openWindow(this);
    }

    /** Closes the window without `ondismiss`, which is for a person's own decision. */
    close() {
      if (current && current.checkout === this) current.end();
    }
  }

  function openWindow(checkout) {
    const { options, listeners } = checkout;
    const handler = options.handler || postTo(options.callback_url);
    const modal = options.modal || {};
    const container = element('dialog', { className: 'razorpay-container', ariaLabel: 'Checkout' }, CONTAINER);
    const frame = element('iframe', { className: 'razorpay-checkout-frame', title: 'Checkout' }, FRAME);
    const { overflow } = document.documentElement.style;
    let ready = false;

    const end = () => {
      removeEventListener('message', receive);
      clearTimeout(patience);
      // The browser gives the focus back to the element that had it.
      container.close();
      container.remove();
      document.documentElement.style.overflow = overflow;
      current = undefined;
    };
    const dismiss = (reason) => {
      end();
      if (modal.ondismiss) modal.ondismiss(reason);
    };
    const send = (message) => frame.contentWindow.postMessage(message, origin);
    const receive = ({ source, origin: from, data }) => {
      if (source !== frame.contentWindow || from !== origin) return;
      if (data.event === 'ready') {
        ready = true;
        clearTimeout(patience);
        frame.focus();
        send({ event: 'open', options: plain(options) });
      } else if (data.event === 'paid') {
        end();
        handler(data.fields);
      } else if (data.event === 'failed') {
        (listeners['payment.failed'] || []).forEach((callback) => callback({ error: data.error }));
      } else if (data.event === 'dismiss') {
        dismiss(data.reason);
      }
    };
    const patience = setTimeout(() => {
      dismiss();
      reportError(new Error(`The checkout of ${origin} does not answer`));
    }, PATIENCE_MS);

    addEventListener('message', receive);
    container.tabIndex = -1;
    container.addEventListener(
      'keydown',
      ({ key }) => key === 'Escape' && (ready ? send({ event: 'escape' }) : dismiss()),
    );
    // The window decides whether Escape closes it, not the browser.
    container.setAttribute('closedby', 'none');
    container.addEventListener('cancel', (event) => event.preventDefault());
    container.append(frame);
    frame.src = `${origin}/checkout/window#${encodeURIComponent(location.origin)}`;
    document.body.append(container);
    document.documentElement.style.overflow = 'hidden';
    // A modal dialog makes the page behind it inert, for the keyboard and for screen readers.
    container.showModal();
    // Until the frame is ready, the container has the focus, so that Escape works without an answer of the gateway.
    container.focus();
    return { checkout, end };
  }

  function element(name, properties, styles) {
    const made = Object.assign(document.createElement(name), properties);
    for (const [property, value] of Object.entries(styles)) made.style.setProperty(property, value, 'important');
    return made;
  }

  /** The options without functions, and with a callback address that is complete. */
  function plain(options) {
    const { callback_url, ...rest } = JSON.parse(JSON.stringify(options));
    return callback_url ? { ...rest, callback_url: new URL(callback_url, location.href).href } : rest;
  }

  function encoded(options) {
    return encodeURIComponent(JSON.stringify(options));
  }

  /** The default `handler`: posts the fields to the callback address, if there is one. */
  function postTo(callbackUrl) {
    return (fields) => {
      if (!callbackUrl) return;
      const form = Object.assign(document.createElement('form'), { method: 'POST', action: callbackUrl });
      for (const [name, value] of Object.entries(fields)) {
        form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
      }
      document.body.append(form);
      form.submit();
    };
  }

  globalThis.Razorpay = Razorpay;
})();
