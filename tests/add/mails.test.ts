import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { runScript } from '../helpers/project/run-script.ts';
import { type AppFolder, createAppFolder, createVersion, expectCode } from './app-folder.ts';

// An app makes the mails its own, in its supabase/emails/, and upgrades.

const template = 'supabase/emails/texts/en.ts';
const bundle = 'supabase/functions/api/generated/emails.js';
let app: AppFolder;
let next: string;
beforeAll(async () => {
  app = await createAppFolder();
  next = await createVersion('90.0.0');
  const layout = await Deno.readTextFile(`${next}/emails/layout.tsx`);
  await Deno.writeTextFile(`${next}/emails/layout.tsx`, layout.replace('`${hello},`', '`Good day,`'));
  const ours = await Deno.readTextFile(`${next}/${template.replace('supabase/', '')}`);
  await Deno.writeTextFile(`${next}/${template.replace('supabase/', '')}`, `// Of the next version.\n${ours}`);
  expectCode(await app.add(), 0);
});
afterAll(() => Promise.all([app.folder, next].map((folder) => Deno.remove(folder, { recursive: true }))));

/** What the function of the app sends about a payment. */
async function sent(): Promise<{ subject: string; html: string }> {
  const source = `data:text/javascript,${encodeURIComponent(await app.read(bundle))}`;
  const { mails } = await import(source);
  const values = { planName: 'Pro', amount: '₹999.00', transactionId: 'pay_1', validUntil: '20 November 2027' };
  return mails.paymentSuccess({ displayName: '', dashboardUrl: 'https://app.example/dashboard', ...values });
}
const emails = (...args: string[]) => runScript('emails', args);
async function edit(change: (text: string) => string): Promise<void> {
  await app.write(template, change(await app.read(template)));
}

test('an edited template: --check names what the function sends, and emails --bundle makes it from the template', async () => {
  expect((await sent()).subject).toBe('Payment received: your Pro plan is active');
  await edit((text) => text.replace('Payment received: your', 'Danke! Ihr'));
  const outdated = await app.add(['--check']);
  expectCode(outdated, 1);
  expect(outdated.stdout).toBe(`${bundle} is not as it was installed\n`);
  const made = await emails(app.folder, '--bundle');
  expectCode(made, 0);
  expect(made.stderr).toContain(`${bundle} is made from supabase/emails/.`);
  expect((await sent()).subject).toBe('Danke! Ihr Pro plan is active');
  expectCode(await app.add(['--check']), 0);
});

test('npm run add keeps the template, and makes what the function sends from it', async () => {
  const own = await app.read(template);
  await edit((text) => text.replace('Danke!', 'Vielen Dank!'));
  const outcome = await app.add();
  expectCode(outcome, 0);
  expect(outcome.stdout).toContain(`  keep   ${template} (edited by the app)\n`);
  expect(outcome.stdout).toContain(`  change ${bundle}\n`);
  expect((await sent()).subject).toBe('Vielen Dank! Ihr Pro plan is active');
  await app.write(template, own);
  expectCode(await app.add(), 0);
  const before = await app.state();
  const again = await app.add();
  expectCode(again, 0);
  expect(again.stdout).toContain('nothing to do');
  expect(await app.state()).toEqual(before);
});

test('an upgrade keeps it, prints what the version changes in it, and takes over the other templates', async () => {
  const own = await app.read(template);
  const outcome = await app.add([], next);
  expectCode(outcome, 0);
  expect(outcome.stdout).toContain(`${template} is the app's, and version 90.0.0 changes it, too.`);
  expect(outcome.stdout).toContain('\n+// Of the next version.\n');
  expect(await app.read(template)).toBe(own);
  expect(await app.read('supabase/emails/layout.tsx')).toContain('Good day,');
  const { subject, html } = await sent();
  expect([subject, html.includes('Good day,')]).toEqual(['Danke! Ihr Pro plan is active', true]);
  expectCode(await app.add(['--check'], next), 0);
  const again = await app.add([], next);
  expect(again.stdout).not.toContain('changes it, too');
});

test.each<[what: string, change: (text: string) => string, reason: RegExp]>([
  ['that is no TypeScript', (text) => `${text}\n}}`, /en\.ts:\d+:\d+: ERROR: /],
  ['that throws', (text) => text.replace('return {', "throw new Error('not today');\n  return {"), /not today/],
  ['without its export', (text) => text.replace('export const en =', 'const en ='), /No matching export/],
  [
    'that reads a file',
    (text) => text.replace('return {', 'Deno.readTextFileSync("/etc/hostname");\n  return {'),
    /Requires read access/,
  ],
])('a template %s → 1 with the reason, and nothing is written', async (_, change, reason) => {
  const own = await app.read(template);
  await edit(change);
  const before = await app.state();
  const outcome = await app.add([], next);
  expectCode(outcome, 1);
  expect(outcome.stdout).toMatch(/supabase\/emails\/ can't be rendered\. Way out: /);
  expect(outcome.stdout).toMatch(reason);
  expect(await app.state()).toEqual(before);
  await app.write(template, own);
});

test('the templates as they came: what the function sends is as it came, too', async () => {
  const file = template.replace('supabase/', '');
  await app.write(template, await Deno.readTextFile(`${next}/${file}`));
  await app.write('supabase/emails/layout.tsx', await Deno.readTextFile(`${next}/emails/layout.tsx`));
  expectCode(await app.add([], next), 0);
  expect(await app.read(bundle)).toBe(await Deno.readTextFile(`${root}/${bundle}`));
});

test('npm run emails shows the mails of an app, its text and its look, and an edit at a reload', async () => {
  const shown = await createAppFolder({
    'supabase/functions/.env': 'EMAIL_BRAND=Acme Notes\nEMAIL_FOOTER=Acme Ltd\\nPune\n',
  });
  expectCode(await shown.add(), 0);
  const child = new Deno.Command(Deno.execPath(), {
    args: ['run', '-A', 'scripts/emails.ts', shown.folder, '--port', '0'],
    ...{ cwd: root, stdin: 'null', stdout: 'piped', stderr: 'piped' },
  }).spawn();
  try {
    let printed = '';
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      printed += text;
      if (printed.endsWith('ready\n')) break;
    }
    const url = JSON.parse(/EMAILS_URL=(.*)/.exec(printed)?.[1] ?? '');
    const get = async (path: string) => await (await fetch(url + path)).text();
    expect(await get('/')).toContain('>Payment received: your Pro plan is active</a>');
    expect(await get('/payment-success/html')).toContain('Acme Notes');
    expect(await get('/payment-success/text')).toContain('Acme Ltd\nPune');
    const text = await shown.read(template);
    await shown.write(template, text.replace('Payment received: your', 'Thanks: your'));
    expect(await get('/')).toContain('>Thanks: your Pro plan is active</a>');
    await shown.write(template, `${text}\n}}`);
    expect(await get('/')).toContain('ERROR: ');
  } finally {
    child.kill('SIGTERM');
    await Promise.all([child.stderr.cancel(), child.status]);
    await shown.remove();
  }
});

test('npm run emails for a folder without the service → 1 with a sentence', async () => {
  const outcome = await emails('/tmp');
  expectCode(outcome, 1);
  expect(outcome.stderr).toContain('subscriptions.json is missing: run `npm run add -- <folder>` first');
});
