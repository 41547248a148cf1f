/** The mailbox in a process of its own: it takes mails and calls that refresh pages. */
import { createMailbox } from '../../scripts/stack/mailbox/mailbox.ts';
import { writeLine } from '../../scripts/stack/process/child.ts';

const mailbox = createMailbox({ port: 0, revalidateSecret: Deno.env.get('REVALIDATE_SECRET') ?? '' });
await mailbox.start();
await mailbox.ready();
writeLine(JSON.stringify({ event: 'listening', port: Number(new URL(mailbox.url).port) }));
