/// <reference lib="dom" />
import { showBooks } from './books.ts';
import { showDocuments, showSettlement } from './book-parts.ts';
import { showCustomer } from './customer.ts';
import { showCustomers } from './customers.ts';
import { read } from './api.ts';
import { setClock } from './clock.ts';
import { showFigure } from './figure.ts';
import { empty, head } from './parts.ts';
import { showMessage, showMessages } from './messages.ts';
import { showRevenue } from './revenue.ts';
import { showToday } from './today.ts';
import type { FoundCustomer } from '../rows.ts';
import type { Show } from './view.ts';
import { showWebhook, showWebhooks } from './webhooks.ts';
import { setZone } from './zone.ts';

const TYPING_MS = 120;
const routes: [path: RegExp, show: Show][] = [
  [/^\/()$/, showToday],
  [/^\/customers()$/, showCustomers],
  [/^\/customers\/(.+)$/, showCustomer],
  [/^\/webhooks()$/, showWebhooks],
  [/^\/webhooks\/(.+)$/, showWebhook],
  [/^\/messages()$/, showMessages],
  [/^\/messages\/(.+)$/, showMessage],
  [/^\/revenue()$/, showRevenue],
  [/^\/revenue\/(.+)$/, showFigure],
  [/^\/books()$/, showBooks],
  [/^\/books\/documents()$/, showDocuments],
  [/^\/books\/settlements\/(.+)$/, showSettlement],
];

const main = find('#main');
const search = find<HTMLInputElement>('#search');
let reading = new AbortController();
let typing: ReturnType<typeof setTimeout> | undefined;
let again: ReturnType<typeof setTimeout> | undefined;
let drawn = '';
let shown = '';

/** Shows the page of the present address. An answer that comes after another page was wanted is dropped. */
async function draw(): Promise<void> {
  reading.abort();
  clearTimeout(again);
  const { signal } = reading = new AbortController();
  const url = new URL(location.href);
  shown = url.pathname + url.search;
  main.ariaBusy = 'true';
  if (!main.hasChildNodes()) main.append(empty('Reading …', 'The first page of a large project takes a few seconds.'));
  const { title, content, everyMs } = await viewOf(url, signal);
  if (signal.aborted) return;
  main.ariaBusy = null;
  document.title = `${title} – Console`;
  for (const link of document.querySelectorAll<HTMLAnchorElement>('.side nav a')) {
    const isHere = link.pathname === '/' ? url.pathname === '/' : url.pathname.startsWith(link.pathname);
    link.ariaCurrent = isHere ? 'page' : null;
  }
  // Where nothing has changed, focus, selection and scroll position stay.
  const fresh = document.createElement('div');
  fresh.append(...content);
  if (fresh.innerHTML !== drawn || everyMs === undefined) {
    const focused = main.contains(document.activeElement) ? document.activeElement?.id : undefined;
    main.replaceChildren(...fresh.childNodes);
    // Who changes a choice by the keyboard may go on.
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }
  drawn = main.innerHTML;
  if (everyMs !== undefined) again = setTimeout(refresh, everyMs);
}

async function viewOf(url: URL, signal: AbortSignal) {
  try {
    const { now, zone } = await read<{ now: string; zone: string }>('/clock', signal);
    setClock(now);
    setZone(zone);
    for (const [path, show] of routes) {
      const [, id] = path.exec(url.pathname) ?? [];
      if (id !== undefined) return await show(url, id, signal);
    }
    return { title: 'Not found', content: [head('Not found'), empty('There is nothing here.', 'Choose a page.')] };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { title: 'Error', content: [head('This page could not be read'), empty(why, 'Reload the page.')] };
  }
}

/** Reads the page again, unless a dialog is open or the page is hidden. */
async function refresh(): Promise<void> {
  if (!document.hidden && document.querySelector('dialog[open]') === null) await draw();
  else again = setTimeout(refresh, 1_000);
}

/** Goes to an address of the console without a reload. */
async function go(href: string): Promise<void> {
  history.pushState(null, '', href);
  search.value = new URL(location.href).searchParams.get('q') ?? '';
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
  await draw();
}

search.addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(() => {
    const query = search.value.trim();
    const address = query === '' ? '/customers' : `/customers?q=${encodeURIComponent(query)}`;
    // One entry of the history for the whole search, not one for each letter.
    history[location.pathname === '/customers' ? 'replaceState' : 'pushState'](null, '', address);
    void draw();
  }, TYPING_MS);
});
search.addEventListener('keydown', async (event) => {
  const query = search.value.trim();
  if (event.key !== 'Enter' || query === '') return;
  clearTimeout(typing);
  const address = `/customers?q=${encodeURIComponent(query)}`;
  const found = await read<FoundCustomer[]>(address).catch(() => []);
  // Meanwhile another search may have begun.
  if (search.value.trim() !== query) return;
  const [only] = found;
  await go(only && found.length === 1 ? `/customers/${only.user_id}` : address);
});
addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select, dialog') !== null;
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  search.select();
});
addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (link === null || !isPlain || link.origin !== location.origin || link.target || link.download || link.hash) return;
  event.preventDefault();
  void go(link.href);
});
addEventListener('popstate', () => {
  // A link to a part of the page.
  if (location.pathname + location.search === shown) return;
  search.value = new URL(location.href).searchParams.get('q') ?? '';
  void draw();
});
// An action was carried out.
addEventListener('console:changed', () => void draw());
search.value = new URL(location.href).searchParams.get('q') ?? '';
await draw();

function find<Found extends HTMLElement>(selector: string): Found {
  const found = document.querySelector<Found>(selector);
  if (found === null) throw new Error(`The page has no ${selector}`);
  return found;
}
