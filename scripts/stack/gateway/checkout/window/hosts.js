/**
 * Where the window runs: in a frame of the app's page, or as a page of its own in redirect mode. Both give the options of
 * the app, and report what happened. `failed` returns whether another attempt is offered.
 */

/** Talks to `checkout.js` in the page that opened the frame, and to no other origin. */
export function frameHost({ onEscape }) {
  const app = decodeURIComponent(location.hash.slice(1));
  let options;
  const send = (message) => parent.postMessage(message, app);
  return {
    options() {
      const opened = new Promise((resolve) => {
        addEventListener('message', ({ source, origin, data }) => {
          if (source !== parent || origin !== app) return;
          if (data.event === 'escape') onEscape();
          if (data.event === 'open' && options === undefined) resolve(options = data.options);
        });
      });
      send({ event: 'ready' });
      return opened;
    },
    paid: (fields) => send({ event: 'paid', fields }),
    failed(error) {
      send({ event: 'failed', error });
      return options.retry?.enabled !== false;
    },
    dismiss: (reason) => send({ event: 'dismiss', reason }),
  };
}

/** Posts the result of a payment, or of a failed attempt, as a form to the app's callback address. */
export function redirectHost() {
  const options = JSON.parse(decodeURIComponent(location.hash.slice(1)));
  return {
    options: () => Promise.resolve(options),
    paid: (fields) => post(options.callback_url, fields),
    failed({ metadata, ...error }) {
      const fields = Object.entries({ ...error, metadata: JSON.stringify(metadata) });
      post(options.callback_url, Object.fromEntries(fields.map(([name, value]) => [`error[${name}]`, value])));
      return false;
    },
    dismiss: () => history.back(), // to the app's page
  };
}

function post(action, fields) {
  const form = Object.assign(document.createElement('form'), { method: 'POST', action, hidden: true });
  for (const [name, value] of Object.entries(fields)) {
    form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value: value ?? '' }));
  }
  document.body.append(form);
  form.submit();
}
