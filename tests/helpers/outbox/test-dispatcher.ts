import { readConfig } from '../../../supabase/functions/api/config.ts';
import { createDatabase } from '../../../supabase/functions/api/database/database.ts';
import { createDispatcher, type Dispatcher } from '../../../supabase/functions/api/outbox/dispatcher.ts';
import { createGateway } from '../../../supabase/functions/api/gateway/gateway.ts';
import { createRestTransport } from '../../../supabase/functions/api/database/rest-transport.ts';
import { createSenders } from '../../../supabase/functions/api/outbox/senders.ts';
import { functionEnvironment } from '../faults/fault-project.ts';

/** The environment variables of the function for receivers of mails and revalidations at that address. */
export function receiverEnvironment(url: string): Record<string, string> {
  return {
    APP_URL: 'https://app.example.com',
    RESEND_API_KEY: 're_test',
    RESEND_BASE_URL: url,
    EMAIL_FROM: 'Acme <billing@acme.example>',
    REVALIDATE_URL: `${url}/api/revalidate`,
    REVALIDATE_SECRET: 'revalidate-me',
    INTERNAL_KEY: 'internal-key',
  };
}

/** A dispatcher as in the function. It runs only when the test calls it. */
export function createTestDispatcher(apiUrl: string, environment: Record<string, string>): Dispatcher {
  const env: Record<string, string> = { ...functionEnvironment(apiUrl), ...environment };
  const config = readConfig((name) => env[name]);
  const database = createDatabase(createRestTransport(config.supabaseUrl, config.secretKey), config);
  return createDispatcher(database, createSenders(config, createGateway(config.gateway), database));
}
