const pages: readonly [output: string, name: string, purpose: string][] = [
  ['APP_URL', 'shop', 'buy as asha@example.com, password sample-password'],
  ['MAILBOX_URL', 'mailbox', 'every mail and event that was sent'],
  ['GATEWAY_URL', 'gateway', 'its payments, subscriptions and webhooks'],
  ['STUDIO_URL', 'Studio', 'the tables of the database'],
  ['CONSOLE_URL', 'console', 'customers, revenue and findings'],
];

/**
 * The pages to open in a browser, and what each is for, for a person at a terminal.
 * @param outputs the settings that `npm start` prints; an empty address has no line
 */
export function pagesText(outputs: Readonly<Record<string, string>>): string {
  const width = Math.max(...pages.map(([, , purpose]) => purpose.length));
  const lines = pages.filter(([output]) => outputs[output]).map(([output, name, purpose]) =>
    `  ${name.padEnd(7)}  ${purpose.padEnd(width)}  ${outputs[output]}`
  );
  return ['Open in a browser:', ...lines, ''].join('\n');
}
