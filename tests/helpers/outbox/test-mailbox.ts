import { expect, vi } from 'vitest';
import { createMailbox } from '../../../scripts/stack/mailbox/mailbox.ts';
import { anyUser } from '../gateway/any-user.ts';
import { receiverEnvironment } from './test-dispatcher.ts';

/** A mail as the mailbox shows it. */
export type ReceivedMail = { from: string; subject: string; html: string; text: string; idempotency_key: string };

export type TestMailbox = Awaited<ReturnType<typeof startTestMailbox>>;

const patience = { timeout: 30_000, interval: 20 };

/** Starts the mailbox of the local stack, with its demo receiver of revalidations, on a free port. */
export async function startTestMailbox() {
  const revalidateSecret = receiverEnvironment('').REVALIDATE_SECRET ?? '';
  const mailbox = createMailbox({ port: 0, isOwn: anyUser, revalidateSecret });
  await mailbox.start();

  const call = async (path: string, init?: RequestInit) => {
    const response = await fetch(mailbox.url + path, init);
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    return await response.json();
  };
  /** The mails to an address, newest first. */
  async function mailsTo(address: string): Promise<ReceivedMail[]> {
    const { data }: { data: { id: string; to: string[] }[] } = await call('/emails');
    const ids = data.filter(({ to }) => to.includes(address)).map(({ id }) => id);
    return await Promise.all(ids.map((id) => call(`/emails/${id}`)));
  }
  return {
    /** The environment variables of a function that delivers there. */
    environment: receiverEnvironment(mailbox.url),
    mailsTo,
    /** The mails to an address, as soon as there is one. */
    untilMailTo: (address: string) =>
      vi.waitFor(async () => {
        const mails = await mailsTo(address);
        expect(mails).not.toEqual([]);
        return mails;
      }, patience),
    /** The paths of each accepted revalidation, newest first. */
    async revalidations() {
      const { data }: { data: { paths: string[] }[] } = await call('/api/revalidate');
      return data.map(({ paths }) => paths);
    },
    /** Makes the next requests fail, see `POST /simulate/fault`. */
    async fail(fault: Record<string, unknown>) {
      await call('/simulate/fault', { method: 'POST', body: JSON.stringify(fault) });
    },
    /** Waits until every fault has affected its number of requests. */
    async untilFaultsApplied() {
      await vi.waitFor(async () => expect(await call('/simulate/fault')).toEqual({ faults: [] }), patience);
    },
    async clearFaults() {
      await call('/simulate/fault', { method: 'DELETE' });
    },
    stop: () => mailbox.stop(),
  };
}
