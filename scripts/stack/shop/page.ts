/// <reference lib="dom" />
import { createClient } from '@supabase/supabase-js';
import * as client from '../../../supabase/client/subscriptions.ts';
import { element } from './element.ts';
import { day } from './texts.ts';
import { askState, save } from './receipts.ts';
import { type Actions, dashboard, pricing, signIn, subscription } from './views.ts';

declare const API_URL: string, PUBLISHABLE_KEY: string, CHECKOUT_SCRIPT: string, MAILBOX_URL: string;
declare const FUNCTION_NAME: string;

const supabase = createClient(API_URL, PUBLISHABLE_KEY);
const subscriptions = client.createSubscriptions({
  supabase,
  functionName: FUNCTION_NAME,
  checkout: { script: CHECKOUT_SCRIPT },
});
const options: client.CheckoutOptions = {
  window: { name: 'Demo shop' },
  checkSeconds: 10,
  onState: (state, why) => say(why ?? states[state]),
  onStateNeeded: () => askState(subscriptions),
};
const states = {
  open: 'The checkout is open.',
  attempt_failed: 'This attempt failed.',
  verifying: 'Verifying the payment …',
  checking: 'Checking whether a payment arrives …',
};

const EVERY_MS = 3_000;
const LONGEST_MS = 60_000;
let pause = EVERY_MS;
let isBusy = false;
let drawn = '';

const by = (id: string) => document.getElementById(id);
const say = (text: string) => by('message')?.replaceChildren(text);
const reason = (error: unknown) => error instanceof Error ? error.message : String(error);

const actions: Actions = {
  enter: act(async (how, email, password) => {
    const { error } = await supabase.auth[how]({ email, password });
    if (error === null && location.pathname === '/sign-in') go('/pricing');
    return error?.message ?? `Signed in as ${email}.`;
  }),
  leave: act(async () => (await supabase.auth.signOut(), 'Signed out.')),
  buy: act(async (price, renews, scenario) => {
    const offered = (await subscriptions.plans()).flatMap(({ prices }) => prices);
    if (offered.find(({ lookup_key }) => lookup_key === price)?.scenario !== scenario) {
      return 'Your plan has changed since this page was read. Please choose again.';
    }
    // A renewal starts after what runs: no paid day is replaced.
    const start = scenario === 'renew' ? 'after_current' as const : undefined;
    if (renews && !start) return shown(await subscriptions.subscribe({ price }, options));
    return shown(await subscriptions.checkout({ price }, { ...options, ...start && { start } }));
  }),
  change: act(async (price, when) => {
    const result = await subscriptions.change({ price }, when, options);
    return result.outcome === 'undone' ? 'The change that waited is withdrawn.' : shown(result);
  }),
  cancel: act(async () => {
    const subscription = await subscriptions.cancel({ atPeriodEnd: true });
    return subscription?.status === 'active'
      ? `Cancelled. The tier stays until ${day(subscription.current_period_end)}.`
      : 'Cancelled. Nothing more is charged.';
  }),
  resume: act(async () => (await subscriptions.resume(), 'Resumed.')),
  open: act((receipt) => save(receipt, subscriptions)),
};

/** Makes an action of work that returns what to say. Only one runs at a time. */
function act<Input extends unknown[]>(work: (...input: Input) => Promise<string>): (...input: Input) => Promise<void> {
  return async (...input) => {
    if (isBusy) return;
    isBusy = true;
    say('One moment …');
    const outcome = await work(...input).catch(reason);
    say(await refresh().then(() => outcome, (error) => `${outcome} ${reason(error)}`));
    isBusy = false;
  };
}

/** @returns what to say about a checkout. After a payment the dashboard is shown. */
function shown(result: client.CheckoutResult): string {
  if (result.outcome === 'failed') return `Nothing was paid: ${result.error.message}`;
  if (result.outcome === 'dismissed') return 'Nothing was paid.';
  go('/dashboard');
  if (result.outcome === 'pending') return 'The payment is being confirmed. The tier will appear here.';
  return `Paid. Your tier is ${result.tier}${result.startsAt === null ? '' : ` from ${day(result.startsAt)} on`}.`;
}

/** Shows another page without a reload. */
function go(path: string): void {
  history.pushState(null, '', path);
  by('main')?.focus();
}

/** Reads what the user has, and draws the page if that has changed. Otherwise focus and selection stay. */
async function refresh(): Promise<void> {
  const { data: { session: stored } } = await supabase.auth.getSession();
  const current = stored && await readCurrent();
  const receipts = current === null ? [] : await subscriptions.receipts();
  const session = current && stored;
  await showRevalidation();
  const state = JSON.stringify([location.href, session?.user.id, current, receipts]);
  if (state === drawn) return;
  const views = await viewsOf(current, receipts);
  const focused = document.activeElement?.id;
  by('main')?.replaceChildren(...views);
  if (focused) by(focused)?.focus();
  for (const link of document.querySelectorAll<HTMLAnchorElement>('nav a')) {
    link.ariaCurrent = link.pathname === location.pathname ? 'page' : null;
  }
  document.title = `${document.querySelector('h1')?.textContent} – Demo shop`;
  const leave = element('button', { onclick: () => actions.leave() }, 'Sign out');
  by('user')?.replaceChildren(...session ? [session.user.email ?? '', leave] : []);
  drawn = state;
}

/** @returns null where the user of the session is gone, as after `npm start -- --reset`: then the session ends. */
async function readCurrent(): Promise<client.CurrentSubscription | null> {
  try {
    return await subscriptions.current();
  } catch (error) {
    if (!(error instanceof client.SubscriptionsError) || error.status !== 401) throw error;
    await supabase.auth.signOut({ scope: 'local' });
    say('Your session has ended. Please sign in again.');
    return null;
  }
}

async function viewsOf(current: client.CurrentSubscription | null, receipts: client.Receipt[]): Promise<Node[]> {
  const { pathname, searchParams } = new URL(location.href);
  if (pathname === '/' || pathname === '/pricing') return pricing(await subscriptions.plans(), actions);
  if (current === null || pathname === '/sign-in') return signIn(actions);
  if (pathname === '/dashboard') return dashboard({ ...current, receipts }, subscriptions, actions);
  const to = searchParams.get('to');
  const plans = await subscriptions.plans();
  const held = current.subscription?.price ??
    plans.flatMap(({ prices }) => prices).find(({ scenario }) => scenario === 'current');
  const shownWith = (changes: Parameters<typeof subscription>[1]) =>
    subscription(current, changes, held?.lookup_key, actions);
  if (to === null) return shownWith([]);
  const plan = plans.find(({ prices }) => prices.some(({ lookup_key }) => lookup_key === to));
  const price = plan?.prices.find(({ lookup_key }) => lookup_key === to);
  if (plan === undefined || price === undefined) return shownWith([]);
  const previews = await Promise.allSettled((['now', 'period_end'] as const).map(async (when) => (
    { ...await subscriptions.previewChange({ price: to }, when), when, price, name: plan.name }
  )));
  const changes = previews.flatMap((one) => one.status === 'fulfilled' ? [one.value] : []);
  const [refused] = previews.flatMap((one) => one.status === 'rejected' ? [one.reason] : []);
  // In the days of grace, for example, only a change now is possible.
  if (changes.length === 0) say(reason(refused));
  return shownWith(changes);
}

/** The pages that the service asked the app to refresh last. The server of the shop receives its calls. */
async function showRevalidation(): Promise<void> {
  const { data: [newest] } = await (await fetch('/api/revalidate')).json();
  if (newest === undefined) return;
  const time = new Date(newest.received_at).toLocaleTimeString('en');
  by('revalidated')?.replaceChildren(`Revalidated at ${time}: ${newest.paths.join(' ')}`);
}

/** Reads again while the page is visible: every three seconds, less often while it gets errors. */
async function poll(): Promise<void> {
  try {
    if (!document.hidden && !isBusy) await refresh();
    pause = EVERY_MS;
  } catch (error) {
    pause = Math.min(2 * pause, LONGEST_MS);
    say(`${reason(error)}. Next try in ${pause / 1000} s.`);
  }
  setTimeout(poll, pause);
}

by('mailbox')?.setAttribute('href', MAILBOX_URL);
addEventListener('popstate', () => void refresh());
await poll();
