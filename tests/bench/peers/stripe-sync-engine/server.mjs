/** stripe-sync-engine behind a bare HTTP handler. Runs in a folder with its own packages. */
import { createRequire } from 'node:module';
import process from 'node:process';
import { serve } from '../serve.mjs';

// Not `import`: the packages are not installed when this repository is checked.
const require = createRequire(import.meta.url);
const { runMigrations, StripeSync } = require('@supabase/stripe-sync-engine');

await runMigrations({ databaseUrl: process.env.DATABASE_URL, schema: 'stripe' });
const sync = new StripeSync({
  poolConfig: { connectionString: process.env.DATABASE_URL, max: 8 },
  stripeSecretKey: 'sk_test_bench',
  stripeWebhookSecret: process.env.STRIPE_WEBHOOK_SECRET,
});

serve(async (request) => {
  try {
    await sync.processWebhook(await request.text(), request.headers.get('stripe-signature') ?? '');
    return Response.json({ received: true });
  } catch (error) {
    return Response.json({ error: String(error) }, { status: 400 });
  }
});
