import { Hono } from 'hono';
import type { FaultSwitch } from './faults.ts';
import { mailError } from './error.ts';
import { createIdempotencyMemory } from './idempotency.ts';
import { readMessage } from './message.ts';
import type { Mail, MailStore } from './store.ts';

const MAX_KEY_LENGTH = 256;

/**
 * The calls of Resend's REST API for sending, at `/emails`: send, list, retrieve. Sending needs a key of the form
 * `re_…`; reading needs no key, because only this machine can read. `DELETE /emails` empties the mailbox (Resend has no
 * such call) and keeps the idempotency keys.
 */
export function createMailApi(store: MailStore, faults: FaultSwitch): Hono {
  const memory = createIdempotencyMemory();
  const api = new Hono();

  api.post('/emails', async (c) => {
    const authorization = c.req.header('authorization');
    if (authorization === undefined) {
      return mailError(401, 'missing_api_key', 'Missing API key in the authorization header.');
    }
    if (!/^Bearer re_\S+$/i.test(authorization)) return mailError(401, 'invalid_api_key', 'API key is invalid.');
    const raw = await c.req.text();
    return await faults.apply('emails', () => send(raw, c.req.header('idempotency-key')));
  });

  api.get('/emails', (c) => {
    const { limit, after } = c.req.query();
    const mails = store.list();
    const from = after === undefined ? 0 : mails.findIndex(({ id }) => id === after) + 1;
    const count = limit === undefined ? mails.length : Number(limit);
    if (limit !== undefined && !(Number.isInteger(count) && count >= 1 && count <= 100)) {
      return mailError(422, 'validation_error', 'The `limit` must be a number between 1 and 100.');
    }
    const data = mails.slice(from, from + count).map(summary);
    return c.json({ object: 'list', has_more: from + count < mails.length, data });
  });

  api.get('/emails/:id', (c) => {
    const mail = store.find(c.req.param('id'));
    return mail === undefined ? mailError(404, 'not_found', 'Email not found') : c.json({ object: 'email', ...mail });
  });

  api.delete('/emails', (c) => {
    store.clear();
    return c.json({ object: 'list', deleted: true });
  });

  return api;

  function send(raw: string, key: string | undefined): Response {
    if (key !== undefined && (key === '' || key.length > MAX_KEY_LENGTH)) {
      return mailError(400, 'invalid_idempotency_key', 'The key must be between 1-256 chars.');
    }
    const json = parse(raw);
    if (json === undefined) return mailError(400, 'validation_error', 'The request body is not valid JSON.');
    const read = readMessage(json);
    if ('refusal' in read) return mailError(422, read.refusal.name, read.refusal.message);
    const payload = JSON.stringify(json);
    const before = key === undefined ? undefined : memory.recall(key, payload);
    if (before === 'conflict') {
      const message = 'Same idempotency key used with a different request payload.';
      return mailError(409, 'invalid_idempotent_request', message);
    }
    if (before !== undefined) return Response.json({ id: before.id });
    const { id } = store.add(read.message, key ?? null);
    if (key !== undefined) memory.remember(key, payload, id);
    return Response.json({ id });
  }
}

function parse(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return undefined;
  }
}

function summary(mail: Mail) {
  const { id, to, from, created_at, subject, cc, bcc, reply_to, last_event, scheduled_at, idempotency_key } = mail;
  return { id, to, from, created_at, subject, cc, bcc, reply_to, last_event, scheduled_at, idempotency_key };
}
