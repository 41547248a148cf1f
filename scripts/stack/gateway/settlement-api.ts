import { Hono } from 'hono';
import { z } from 'zod';
import { collection, createdBetween, found } from './answers.ts';
import type { GatewayClock } from './clock.ts';
import { gatewayError } from './errors.ts';
import type { ReconLine } from './settlement-entities.ts';
import { shape } from './settlements.ts';
import type { GatewayStore } from './store.ts';

const INDIA_OFFSET_SECONDS = 5.5 * 60 * 60;

const reconRequest = z.object({
  year: z.coerce.number().int().min(2000).max(9999),
  month: z.coerce.number().int().min(1).max(12),
  /** Without it the lines of the whole month. */
  day: z.coerce.number().int().min(1).max(31).optional(),
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
    return c.json(collection(linesOf(store, clock.seconds(), data).slice(data.skip, data.skip + data.count)));
  });
  routes.get('/settlements/:id', (c) => found(c, store.settlements.find(c.req.param('id'))));
  return routes;
}

/** The lines of a day or a month in India that are shown by now, the newest first. */
function linesOf(
  store: GatewayStore,
  now: number,
  { year, month, day }: Pick<z.infer<typeof reconRequest>, 'year' | 'month' | 'day'>,
): ReconLine[] {
  const midnight = (date: number) => date / 1000 - INDIA_OFFSET_SECONDS;
  const from = midnight(Date.UTC(year, month - 1, day ?? 1));
  const to = midnight(day === undefined ? Date.UTC(year, month) : Date.UTC(year, month - 1, day + 1));
  return store.settlementLines.list()
    .filter(({ settled_at: at, shown_at }) => at >= from && at < to && shown_at <= now)
    .map(shape);
}
