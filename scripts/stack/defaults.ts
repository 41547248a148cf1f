import type { LocalSecrets } from './secrets.ts';

/** The key that apps contain; it gives what everybody may do. No file below `supabase/` imports this file. */
export const publishableKey = 'sb_publishable_local_development_only';

/** The function's variables that `npm start` prints. */
export const shownVariables = [
  ...['GATEWAY_KEY_ID', 'GATEWAY_KEY_SECRET', 'GATEWAY_WEBHOOK_SECRET'],
  ...['REVALIDATE_URL', 'EVENTS_URL', 'EVENTS_SECRET', 'APP_URL'],
];

/** Defaults of the function's variables that neither `.env` nor the process environment sets. */
export function localEnvironment(
  urls: { gateway: string; mailbox: string; shop: string; pool?: string },
  secrets: LocalSecrets['variables'],
): Record<string, string> {
  return {
    GATEWAY_KEY_ID: 'key_local',
    GATEWAY_API_URL: urls.gateway,
    APP_URL: urls.shop,
    REVALIDATE_URL: `${urls.shop}/api/revalidate`,
    REVALIDATE_SECRET: 'local-revalidate-secret',
    RESEND_API_KEY: 're_local',
    RESEND_BASE_URL: urls.mailbox,
    EVENTS_URL: `${urls.mailbox}/events`,
    // The simulator has no limit, and `npm run clock` waits for each read.
    RECONCILE_CALLS_PER_SECOND: '1000',
    // Over Lite's REST a year of `npm run clock` takes three times as long.
    ...(urls.pool && { DATABASE_POOL_URL: urls.pool }),
    EMAIL_FROM: 'Local stack <noreply@example.com>',
    ...secrets,
  };
}
