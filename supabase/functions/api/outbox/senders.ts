import type { Config } from '../config.ts';
import { createGatewaySender } from './gateway-sender.ts';
import { createEventSender } from './event-sender.ts';
import { createMailer } from './mailer.ts';
import type { Gateway, Ports, StopDatabase } from '../ports.ts';
import { createRevalidator, nothingToRevalidate } from './revalidate.ts';

/** Creates the senders of the configured destinations. Rows of the others wait in the outbox. */
export function createSenders(
  { email, revalidation, events }: Pick<Config, 'email' | 'revalidation' | 'events'>,
  gateway: Gateway | null,
  database: StopDatabase,
): Ports['senders'] {
  const mailer = email && createMailer(email);
  return {
    ...(mailer && { email: mailer, notice: mailer }),
    ...(revalidation && {
      revalidation: revalidation === 'off' ? nothingToRevalidate : createRevalidator(revalidation),
    }),
    ...(events && { event: createEventSender(events) }),
    ...(gateway && { gateway: createGatewaySender(gateway, database) }),
  };
}
