import type { Message } from './message.ts';

/** A stored mail; `created_at` is ISO 8601 in UTC. */
export type Mail = Message & {
  id: string;
  created_at: string;
  last_event: 'delivered';
  /** The sender's `Idempotency-Key`; Resend does not show it. */
  idempotency_key: string | null;
};

export type MailStore = {
  add(message: Message, idempotencyKey: string | null): Mail;
  find(id: string): Mail | undefined;
  /** Newest first. */
  list(): Mail[];
  clear(): void;
};

/** Keeps the newest `limit` mails in memory. */
export function createMailStore(limit: number): MailStore {
  // A Map keeps the order of insertion: the first key is the oldest mail.
  const mails = new Map<string, Mail>();
  return {
    add(message, idempotencyKey) {
      const id = crypto.randomUUID();
      const created_at = new Date().toISOString();
      const mail: Mail = { ...message, id, created_at, last_event: 'delivered', idempotency_key: idempotencyKey };
      mails.set(id, mail);
      for (const oldest of mails.keys()) {
        if (mails.size <= limit) break;
        mails.delete(oldest);
      }
      return mail;
    },
    find: (id) => mails.get(id),
    list: () => [...mails.values()].reverse(),
    clear: () => mails.clear(),
  };
}
