// The page uses textContent only, so no part of a mail is parsed as HTML outside the sandboxed frame.
const EVERY_MS = 1500;
const by = (id) => document.getElementById(id);
const tabs = ['html', 'text', 'source'];
let listed = '';
let called = '';
let happened = '';
let shown = '';

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function time(iso) {
  const text = new Date(iso).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  return element('time', { className: 'soft', dateTime: iso, title: iso, textContent: text });
}

async function getJson(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return await response.json();
}

function showTab(chosen) {
  for (const tab of tabs) {
    by(`tab-${tab}`).setAttribute('aria-selected', String(tab === chosen));
    by(`tab-${tab}`).tabIndex = tab === chosen ? 0 : -1;
    by(`view-${tab}`).hidden = tab !== chosen;
  }
}

function showList({ data, has_more }) {
  by('mail-count').textContent = has_more ? `newest ${data.length}` : data.length;
  by('no-mails').hidden = data.length > 0;
  const items = data.map((mail) => {
    const line = element('div', { className: 'line' }, element('span', {}, mail.to.join(', ')), time(mail.created_at));
    const title = element('div', { className: 'title', textContent: mail.subject || '(no subject)' });
    return element('li', {}, element('a', { href: `#${mail.id}` }, line, title));
  });
  by('mails').replaceChildren(...items);
  markCurrent();
}

function showCalls({ data }) {
  by('call-count').textContent = data.length;
  by('no-calls').hidden = data.length > 0;
  const items = data.map((call) =>
    element('li', {}, element('code', {}, call.paths.join(' ')), time(call.received_at))
  );
  by('calls').replaceChildren(...items);
}

function showEvents({ data }) {
  by('event-count').textContent = data.length;
  by('no-events').hidden = data.length > 0;
  const items = data.map(({ headers, body }) => {
    const event = JSON.parse(body);
    const sent = time(new Date(Number(headers['webhook-timestamp']) * 1000).toISOString());
    return element('li', { title: JSON.stringify(event, null, 2) }, element('code', {}, event.type), sent);
  });
  by('events').replaceChildren(...items);
}

function markCurrent() {
  for (const link of by('mails').querySelectorAll('a')) {
    link.setAttribute('aria-current', String(link.hash === location.hash));
  }
}

function source(mail) {
  const { html, text, object: _object, last_event: _event, attachments: _files, ...fields } = mail;
  const lines = Object.entries(fields)
    .filter(([, value]) => value !== null && JSON.stringify(value) !== '[]' && JSON.stringify(value) !== '{}')
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [lines.join('\n'), html, text].filter((part) => part !== null).join('\n\n');
}

async function showMail() {
  const id = decodeURIComponent(location.hash.slice(1));
  markCurrent();
  if (id === shown) return;
  const response = id === '' ? undefined : await fetch(`/emails/${encodeURIComponent(id)}`);
  // Nothing is shown of a mail before all of it is there.
  const mail = response?.ok === true ? await response.json() : undefined;
  const found = mail !== undefined;
  by('open').hidden = !found;
  by('no-mail').hidden = found;
  shown = found ? id : '';
  if (!found) return;
  by('subject').textContent = mail.subject || '(no subject)';
  const fields = Object.entries({
    From: [mail.from],
    To: mail.to,
    Cc: mail.cc,
    Bcc: mail.bcc,
    'Reply to': mail.reply_to,
  })
    .filter(([, addresses]) => addresses.length > 0)
    .map(([name, addresses]) => [name, addresses.join(', ')]);
  fields.push(['Sent', new Date(mail.created_at).toLocaleString()]);
  by('fields').replaceChildren(
    ...fields.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]),
  );
  const files = mail.attachments.map(({ filename, content }) =>
    element('a', { href: `data:application/octet-stream;base64,${content}`, download: filename }, filename)
  );
  if (files.length > 0) by('fields').append(element('dt', {}, 'Attached'), element('dd', {}, ...files));
  by('no-html').hidden = mail.html !== null;
  // A new frame for each mail: changing the address of a frame would add an entry to the browser's history.
  const frame = by('frame').cloneNode();
  frame.hidden = mail.html === null;
  frame.src = mail.html === null ? 'about:blank' : `/mails/${encodeURIComponent(mail.id)}/html`;
  by('frame').replaceWith(frame);
  by('text').textContent = mail.text ?? '(no text)';
  by('source').textContent = source(mail);
}

async function refresh() {
  try {
    const [mails, calls, events] = await Promise.all([
      getJson('/emails?limit=100'),
      getJson('/api/revalidate'),
      getJson('/events'),
    ]);
    // Unchanged lists are not redrawn, so that focus and scroll position stay.
    if (JSON.stringify(mails) !== listed) showList(mails);
    listed = JSON.stringify(mails);
    if (JSON.stringify(calls) !== called) showCalls(calls);
    called = JSON.stringify(calls);
    if (JSON.stringify(events) !== happened) showEvents(events);
    happened = JSON.stringify(events);
    if (location.hash === '' && mails.data.length > 0) history.replaceState(null, '', `#${mails.data[0].id}`);
    await showMail();
    by('state').textContent = '';
  } catch {
    by('state').textContent = 'The mailbox does not answer. Retrying.';
  }
}

for (const tab of tabs) by(`tab-${tab}`).addEventListener('click', () => showTab(tab));
document.querySelector('[role=tablist]').addEventListener('keydown', (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  const next = (tabs.findIndex((tab) => !by(`view-${tab}`).hidden) + step + tabs.length) % tabs.length;
  showTab(tabs[next]);
  by(`tab-${tabs[next]}`).focus();
});
by('clear').addEventListener('click', async () => {
  await fetch('/emails', { method: 'DELETE' });
  history.replaceState(null, '', location.pathname);
  await refresh();
});
addEventListener('hashchange', showMail);
showTab('html');
await refresh();
setInterval(() => document.hidden || refresh(), EVERY_MS);
