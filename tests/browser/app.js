// The page of the tests: an app with the client. It is JavaScript, since the tests are checked without types of the DOM.
import { createClient } from '@supabase/supabase-js';
import { createSubscriptions } from '../../supabase/client/subscriptions.ts';

/** Creates the client of the app for the signed-in user. The test stores the session. */
globalThis.start = ({ url, publishableKey, script }) => {
  const supabase = createClient(url, publishableKey, { auth: { storageKey: 'session', autoRefreshToken: false } });
  globalThis.subscriptions = createSubscriptions({ supabase, checkout: { script } });
};

/** Begins a checkout with `checkout` or another method. Its states are kept in the global `states`, its result in `result`. */
globalThis.buy = (tier, { method = 'checkout', ...options } = {}) => {
  globalThis.states = [];
  globalThis.result = null;
  const onState = (state) => globalThis.states.push(state);
  const kept = (result) => globalThis.result = { ...result, message: result.error?.message };
  void globalThis.subscriptions[method](tier, { ...options, onState }).then(kept);
};
