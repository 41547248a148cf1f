/// <reference lib="dom" />
import { createClient } from '@supabase/supabase-js';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { BillingPage } from '../../supabase/client/blocks/billing-page/billing-page.tsx';
import { hi } from '../../supabase/client/blocks/billing-page/hi.ts';
import { createSubscriptions } from '../../supabase/client/subscriptions.ts';
import { fakeClient } from './billing-page-states.ts';

declare const API_URL: string, PUBLISHABLE_KEY: string, CHECKOUT_SCRIPT: string;

const root = createRoot(document.getElementById('root') ?? document.body);
const state = new URLSearchParams(location.search).get('state');

/** The page in a state of the fixtures, or that of a new user of the stack. */
async function openClient() {
  if (state !== null) return fakeClient(state);
  const supabase = createClient(API_URL, PUBLISHABLE_KEY);
  const { data } = await supabase.auth.getSession();
  if (data.session === null) {
    await supabase.auth.signUp({ email: `${crypto.randomUUID()}@example.com`, password: 'correct horse battery' });
  }
  return createSubscriptions({ supabase, checkout: { script: CHECKOUT_SCRIPT } });
}

const isHindi = new URLSearchParams(location.search).has('hindi');
const subscriptions = await openClient();
root.render(
  <StrictMode>
    <BillingPage subscriptions={subscriptions} window={{ name: 'Acme' }} {...isHindi && { texts: hi }} />
  </StrictMode>,
);
