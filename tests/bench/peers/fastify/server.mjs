/** A read as a developer of an app writes it by hand, on Fastify. Runs in a folder with its own packages. */
import { createRequire } from 'node:module';
import process from 'node:process';

// Not `import`: the packages are not installed when this repository is checked.
const require = createRequire(import.meta.url);
const fastify = require('fastify');
const { createLocalJWKSet, jwtVerify } = require('jose');
const pg = require('pg');

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 8 });
const keys = createLocalJWKSet(JSON.parse(process.env.JWKS));
const app = fastify();

app.get('/api/subscriptions', async (request, reply) => {
  const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
  const session = await jwtVerify(token, keys, { audience: 'authenticated' }).catch(() => null);
  if (session === null) return reply.code(401).send({ error: 'Unauthorized' });
  const user = [session.payload.sub];
  const [profiles, subscriptions, payments] = await Promise.all([
    pool.query('select subscription_tier from public.profiles where user_id = $1', user),
    pool.query(
      `select s.*, to_jsonb(p) as plan from public.subscriptions s left join public.plans p on p.id = s.plan_id
       where s.user_id = $1`,
      user,
    ),
    pool.query('select * from public.payments where user_id = $1 order by created_at desc limit 10', user),
  ]);
  return {
    subscription: subscriptions.rows[0] ?? null,
    currentTier: profiles.rows[0]?.subscription_tier ?? 'free',
    payments: payments.rows,
  };
});

const address = await app.listen({ port: 0, host: '127.0.0.1' });
process.stderr.write(`${JSON.stringify({ event: 'listening', port: Number(new URL(address).port) })}\n`);
