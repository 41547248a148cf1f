import { Hono } from 'hono';
import { z } from 'zod';
import type { SupportDatabase } from '../database.ts';

const optional = z.string().trim().max(500).nullish().transform((text) => text || null);
const isJson = (text: string | null) => {
  try {
    return text === null || JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
};
const input = z.strictObject({
  action: z.string().max(50),
  email: optional,
  tier: optional,
  until: z.iso.datetime({ offset: true }).nullish().transform((time) => time ?? null),
  reference: optional,
  entitlements: optional.refine(isJson, 'Write the entitlements as JSON, for example {"projects": 25}.'),
  amount: z.int().positive().nullish().transform((amount) => amount ?? null),
  at_period_end: z.boolean().nullish().transform((is) => is ?? null),
  corrects_seller: z.boolean().nullish().transform((is) => is ?? null),
  reason: z.string().trim().min(1, 'Say why: the reason is kept with the action.').max(1000),
});

/**
 * `GET /tiers`: what can be granted. `POST /actions`: carries out a support action, which the database checks and keeps as
 * the audit trail.
 */
export function actionRoutes(database: SupportDatabase): Hono {
  const routes = new Hono();
  routes.get('/tiers', async (c) => {
    const plans = await database.read<{ tier: string }>(
      'select tier from public.plans where lookup_key is null order by price, tier',
    );
    return c.json(plans.map(({ tier }) => tier));
  });
  routes.post('/actions', async (c) => {
    const parsed = input.safeParse(await c.req.json().catch(() => undefined));
    if (!parsed.success) return c.json({ error: parsed.error.issues[0]?.message ?? 'This is not an action.' }, 400);
    // Only what is given: an older database does not have all columns.
    const given = Object.entries(parsed.data).filter(([, value]) => value !== null);
    const [done] = await database.write(
      `insert into billing.support_actions (${given.map(([column]) => column).join(', ')})
      values (${given.map((_, index) => `$${index + 1}`).join(', ')})
      returning result`,
      given.map(([, value]) => value),
    );
    return c.json({ result: done?.result ?? '' });
  });
  return routes;
}
