/**
 * Keys and addresses of the local stack only. They are public and give access only to services on 127.0.0.1. No file
 * below `supabase/` imports this file.
 */
export const localPassword = 'postgres';

export const localKeys = {
  publishable: 'sb_publishable_local_development_only',
  secret: 'sb_secret_local_development_only',
  /** Signs the sessions (HS256); Lite requires at least 32 characters. */
  jwtSecret: 'local-development-only-not-a-secret-of-anything',
} as const;

/** Defaults of the function's variables that neither `.env` nor the process environment sets. */
export function localEnvironment(urls: { gateway: string; mailbox: string; shop: string }): Record<string, string> {
  return {
    GATEWAY_KEY_ID: 'key_local',
    GATEWAY_KEY_SECRET: 'local-gateway-key-secret',
    GATEWAY_WEBHOOK_SECRET: 'local-gateway-webhook-secret',
    GATEWAY_API_URL: urls.gateway,
    APP_URL: urls.shop,
    REVALIDATE_URL: `${urls.shop}/api/revalidate`,
    REVALIDATE_SECRET: 'local-revalidate-secret',
    RESEND_API_KEY: 're_local',
    RESEND_BASE_URL: urls.mailbox,
    EMAIL_FROM: 'Local stack <noreply@example.com>',
    INTERNAL_KEY: 'local-internal-key',
  };
}
