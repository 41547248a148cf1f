import { createCanceller } from './cancel-at-gateway.ts';
import type { Config } from '../config.ts';
import { createMailer } from './mailer.ts';
import type { Gateway, Ports } from '../ports.ts';
import { createRevalidator, nothingToRevalidate } from './revalidate.ts';

/** Creates the senders of the configured destinations. Rows of the others wait in the outbox. */
export function createSenders(
  { email, revalidation }: Pick<Config, 'email' | 'revalidation'>,
  gateway: Gateway | null,
): Ports['senders'] {
  const mailer = email && createMailer(email);
  return {
    ...(mailer && { email: mailer, notice: mailer }),
    ...(revalidation && {
      revalidation: revalidation === 'off' ? nothingToRevalidate : createRevalidator(revalidation),
    }),
    ...(gateway && { gateway: createCanceller(gateway) }),
  };
}
