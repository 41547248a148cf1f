import { Hono } from 'hono';
import { z } from 'zod';
import { collection, createdBetween, found } from './answers.ts';
import type { GatewayClock } from './clock.ts';
import { gatewayError } from './errors.ts';
import type { ReconLine } from './settlement-entities.ts';
import { shape } from './settlements.ts';
import type { GatewayStore } from './store.ts';

const DAY_SECONDS = 24 * 60 * 60;
const INDIA_OFFSET_SECONDS = 5.5 * 60 * 60;

const reconRequest = z.object({
  year: z.coerce.number().int().min(2000).max(9999),
  month: z.coerce.number().int().min(1).max(12),
  day: z.coerce.number().int().min(1).max(31),
  count: z.coerce.number().int().min(1).max(1000).default(10),
  skip: z.coerce.number().int().min(0).default(0),
});

type Parts = { store: GatewayStore; clock: GatewayClock };

/** The calls of the gateway's API for settlements and their lines. */
export function createSettlementApi({ store, clock }: Parts): Hono {
  const routes = new Hono();
  routes.get('/settlements', (c) => {
    const part = createdBetween(store.settlements.list(), c.req.query());
    return part === undefined ? gatewayError('The from, to, count or skip is invalid.') : c.json(collection(part));
  });
  routes.get('/settlements/recon/combined', (c) => {
    const { success, data } = reconRequest.safeParse(c.req.query());
    if (!success) return gatewayError('The year, month, day, count or skip is invalid.');
    return c.json(collection(linesOfDay(store, clock.seconds(), data).slice(data.skip, data.skip + data.count)));
  });
  routes.get('/settlements/:id', (c) => found(c, store.settlements.find(c.req.param('id'))));
  return routes;
}

/** The lines of a day in India that are shown by now, the newest first. */
function linesOfDay(
  store: GatewayStore,
  now: number,
  { year, month, day }: Readonly<Record<'year' | 'month' | 'day', number>>,
): ReconLine[] {
  const from = Date.UTC(year, month - 1, day) / 1000 - INDIA_OFFSET_SECONDS;
  return store.settlementLines.list()
    .filter(({ settled_at: at, shown_at }) => at >= from && at < from + DAY_SECONDS && shown_at <= now)
    .map(shape);
}
