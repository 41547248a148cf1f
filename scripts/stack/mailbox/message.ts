import { z } from 'zod';

const ADDRESS = /^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/;
const TAG = /^[A-Za-z0-9_-]{1,256}$/;

const addresses = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const body = z.object({
  from: z.string(),
  to: addresses,
  subject: z.string(),
  html: z.string().nullish(),
  text: z.string().nullish(),
  cc: addresses.nullish(),
  bcc: addresses.nullish(),
  reply_to: addresses.nullish(),
  headers: z.record(z.string(), z.string()).nullish(),
  tags: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  scheduled_at: z.string().nullish(),
  attachments: z.array(z.object({ filename: z.string().min(1), content: z.base64() })).nullish(),
});

/** A mail as the sender sent it, with the API's field names. Recipients are always lists. */
export type Message = {
  from: string;
  to: string[];
  subject: string;
  html: string | null;
  text: string | null;
  cc: string[];
  bcc: string[];
  reply_to: string[];
  headers: Record<string, string>;
  tags: { name: string; value: string }[];
  scheduled_at: string | null;
  /** `content`: base64. */
  attachments: { filename: string; content: string }[];
};

type Refusal = { name: 'missing_required_field' | 'validation_error'; message: string };

/**
 * Validates the JSON body of `POST /emails` as Resend does. Unknown fields are ignored, as there.
 * @returns the message, or the error of the 422
 */
export function readMessage(json: unknown): { message: Message } | { refusal: Refusal } {
  const parsed = body.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = String(issue?.path[0] ?? 'body');
    const given = typeof json === 'object' && json !== null && field in json;
    return given || field === 'body'
      ? { refusal: { name: 'validation_error', message: `Invalid \`${field}\` field. ${issue?.message ?? ''}`.trim() } }
      : { refusal: { name: 'missing_required_field', message: `Missing \`${field}\` field.` } };
  }
  const { html = null, text = null, cc, bcc, reply_to, headers, tags, scheduled_at = null, attachments, ...rest } =
    parsed.data;
  const message: Message = {
    ...rest,
    html,
    text,
    cc: cc ?? [],
    bcc: bcc ?? [],
    reply_to: reply_to ?? [],
    headers: headers ?? {},
    tags: tags ?? [],
    scheduled_at,
    attachments: attachments ?? [],
  };
  const refusal = refuse(message);
  return refusal === undefined ? { message } : { refusal };
}

function refuse(message: Message): Refusal | undefined {
  const { from, to, cc, bcc, reply_to } = message;
  for (const [field, list] of Object.entries({ from: [from], to, cc, bcc, reply_to })) {
    if (list.some((address) => !ADDRESS.test(address.trim()))) {
      const form = 'The email address needs to follow the `email@example.com` or `Name <email@example.com>` format.';
      return { name: 'validation_error', message: `Invalid \`${field}\` field. ${form}` };
    }
  }
  if (to.length === 0) return { name: 'missing_required_field', message: 'Missing `to` field.' };
  if (to.length > 50) return { name: 'validation_error', message: 'The `to` field takes at most 50 recipients.' };
  if (/[\r\n]/.test(message.subject)) {
    return { name: 'validation_error', message: 'The `\\n` is not allowed in the `subject` field.' };
  }
  if (message.html === null && message.text === null) {
    return { name: 'missing_required_field', message: 'Missing `html` or `text` field.' };
  }
  if (message.tags.some(({ name, value }) => !TAG.test(name) || !TAG.test(value))) {
    return {
      name: 'validation_error',
      message: 'Tags should only contain ASCII letters, numbers, underscores, or dashes.',
    };
  }
}
