import type { EmailConfig } from './config.ts';
import {
  type Attempt,
  attemptTimeoutMilliseconds,
  type Delivery,
  type OutboxRow,
  readStatus,
  type Sender,
} from './outbox.ts';

/** Sends mails through Resend, one attempt a row; the row's key is the idempotency key. SPEC 6, outgoing e-mails. */
export function createMailer(config: EmailConfig): Sender {
  return (rows) => rows.map((row): Attempt => ({ rows: [row], deliver: () => sendMail(config, row) }));
}

async function sendMail(config: EmailConfig, row: OutboxRow): Promise<Delivery> {
  let email;
  try {
    const { renderEmail } = await import('./render-email.ts');
    email = await renderEmail(row, config);
  } catch (error) {
    // The row stays as it is: rendering it again ends the same.
    return { status: 'refused', error: `not rendered: ${error instanceof Error ? error.name : 'unknown'}` };
  }

  try {
    // Most isolates never send a mail: the client is loaded with the first.
    const { Resend } = await import('resend');
    const resend = new Resend(config.apiKey, { baseUrl: config.baseUrl });
    const { data, error, headers } = await resend.emails.send(
      { from: config.from, ...email },
      { idempotencyKey: row.key, signal: AbortSignal.timeout(attemptTimeoutMilliseconds) },
    );
    if (error === null) {
      // The client takes any JSON for a success, a proxy's too: only an id says that the mail was taken.
      return typeof data?.id === 'string'
        ? { status: 'delivered' }
        : { status: 'failed', error: 'no id in the answer' };
    }
    // The same key with another body: the first attempt was accepted, and a later version renders another text.
    if (error.name === 'invalid_idempotent_request') return { status: 'delivered' };
    const text = `${error.statusCode ?? 'no answer'} ${error.name}`;
    if (typeof error.statusCode !== 'number') return { status: 'failed', error: text };
    return readStatus(error.statusCode, text, headers?.['retry-after'] ?? null);
  } catch (error) {
    return { status: 'failed', error: error instanceof Error ? error.name : 'unknown' };
  }
}
