import { supportUrl } from '../stack/postgres/local-roles.ts';
import { localDatabaseUrl } from '../stack/secrets.ts';

/**
 * Finds the connection string: the argument, else `SUPPORT_DB_URL`, else the local stack at its API's port. A missing
 * password is that of `SUPPORT_DB_PASSWORD`, else it is asked for.
 * @throws Error when an address is invalid, or an argument contains a password; no message contains the string
 */
export async function chooseDatabase(
  argument: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  ask: (question: string) => Promise<string>,
  stackPort = 54321,
): Promise<string> {
  const given = argument || environment.SUPPORT_DB_URL;
  if (!given) return supportUrl(await localDatabaseUrl(stackPort));
  const url = URL.parse(given);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || url.hostname === '') {
    throw new Error('This is no connection string: postgresql://subscriptions_support@host:5432/postgres');
  }
  if (argument && url.password !== '') {
    throw new Error(
      'The process list and the history of the shell show this password. Change it, and leave it out of --db-url: ' +
        'this command asks for it, or reads SUPPORT_DB_URL.',
    );
  }
  if (url.username === '') url.username = 'subscriptions_support';
  url.password ||= environment.SUPPORT_DB_PASSWORD || await ask(`Password of ${url.username}: `);
  return url.href;
}
