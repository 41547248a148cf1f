/** better-auth with its Stripe plugin, configured as in its documentation. Runs in a folder with its own packages. */
import { createRequire } from 'node:module';
import process from 'node:process';
import { serve } from '../serve.mjs';

// Not `import`: the packages are not installed when this repository is checked.
const require = createRequire(import.meta.url);
const { stripe } = require('@better-auth/stripe');
const { betterAuth } = require('better-auth');
const { getMigrations } = require('better-auth/db/migration');
const pg = require('pg');
const Stripe = require('stripe');

const options = {
  baseURL: 'http://127.0.0.1',
  secret: 'bench-secret-of-better-auth-32-characters',
  database: new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 8 }),
  logger: { level: 'error' },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  plugins: [
    stripe({
      // Nothing listens on this port, so a webhook that calls Stripe's API fails.
      stripeClient: new Stripe('sk_test_bench', { host: '127.0.0.1', port: 1, protocol: 'http', telemetry: false }),
      stripeWebhookSecret: process.env.STRIPE_WEBHOOK_SECRET,
      subscription: { enabled: true, plans: [{ name: 'pro', priceId: process.env.STRIPE_PRICE_ID }] },
    }),
  ],
};
const { runMigrations } = await getMigrations(options);
await runMigrations();
serve(betterAuth(options).handler);
