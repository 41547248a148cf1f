import type { EmailConfig } from '../config.ts';
import type { Attempt, Delivery, OutboxRow, Sender } from '../ports.ts';
import { attemptTimeoutMilliseconds, readStatus } from './outbox.ts';

const expiryKinds = ['subscription-ending', 'subscription-ended'];

/** Sends mails through Resend, one attempt a row. The row's key is the idempotency key. Contract: E-mails. */
export function createMailer(config: EmailConfig): Sender {
  return (rows) => rows.map((row): Attempt => ({ rows: [row], deliver: () => deliverMail(config, row) }));
}

function deliverMail(config: EmailConfig, row: OutboxRow): Promise<Delivery> {
  const setting = turnedOffBy(config, row);
  return setting === null
    ? sendMail(config, row)
    : Promise.resolve({ status: 'delivered', note: `not sent: ${setting} is off` });
}

/** @returns the variable that turns mails of this kind off, or null. */
function turnedOffBy(
  { expiryEmails, renewalEmails, receiptEmails }: EmailConfig,
  { kind, payload }: OutboxRow,
): string | null {
  // The end after a refund is the only mail about the refund.
  if (!expiryEmails && expiryKinds.includes(kind) && !hasAmount(payload)) return 'EXPIRY_EMAILS';
  if (!renewalEmails && kind === 'subscription-renewed') return 'RENEWAL_EMAILS';
  if (!receiptEmails && kind === 'receipt-issued') return 'RECEIPT_EMAILS';
  return null;
}

function hasAmount(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && 'amount' in payload;
}

async function sendMail(config: EmailConfig, row: OutboxRow): Promise<Delivery> {
  try {
    // Most isolates never send a mail, so templates and client are loaded with the first one. If loading fails, the
    // mail is retried, because a later deploy may repair it.
    const [{ renderEmail }, { Resend }] = await Promise.all([
      import('./render-email.ts'),
      import('resend'),
      import('../generated/emails.js'),
    ]);
    const email = await renderEmail(row, config).catch(nameOf);
    // The row does not change, so a retry would fail in the same way.
    if (typeof email === 'string') return { status: 'refused', error: `not rendered: ${email}` };
    const resend = new Resend(config.apiKey, { baseUrl: config.baseUrl });
    // The client passes them to `fetch`. A redirect would get the whole mail.
    const options = {
      idempotencyKey: row.key,
      redirect: 'error',
      signal: AbortSignal.timeout(attemptTimeoutMilliseconds),
    };
    const { data, error, headers } = await resend.emails.send({ from: config.from, ...email }, options);
    if (error === null) {
      // The client accepts any JSON as a success, also that of a proxy. Only an id proves that Resend accepted the
      // mail.
      return typeof data?.id === 'string'
        ? { status: 'delivered' }
        : { status: 'failed', error: 'no id in the answer' };
    }
    // The same key with another body: Resend accepted an earlier attempt, and a deploy changed the text since.
    if (error.name === 'invalid_idempotent_request') return { status: 'delivered' };
    const text = `${error.statusCode ?? 'no answer'} ${error.name}`;
    if (typeof error.statusCode !== 'number') return { status: 'failed', error: text };
    return readStatus(error.statusCode, text, headers?.['retry-after'] ?? null);
  } catch (error) {
    return { status: 'failed', error: nameOf(error) };
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}
