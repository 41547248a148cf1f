import { Hono } from 'hono';
import { z } from 'zod';
import { collection, control, found, page } from '../answers.ts';
import type { GatewayClock } from '../clock.ts';
import type { Invoice } from '../entities.ts';
import { gatewayError, unknownId } from '../errors.ts';
import { newId } from '../new-id.ts';
import type { GatewayStore } from '../store.ts';
import { itemRequest } from './plans.ts';

const addonRequest = z.strictObject({ item: itemRequest, quantity: z.int().min(1).default(1) });

/** The calls of the gateway's API for add-ons, which are paid with the next charge of a subscription. */
export function createAddonApi({ store, clock }: { store: GatewayStore; clock: GatewayClock }): Hono {
  const routes = new Hono();
  routes.post(
    '/subscriptions/:id/addons',
    control(addonRequest, ({ item, quantity }, c) => {
      const subscription = store.subscriptions.find(c.req.param('id'));
      if (subscription === undefined) return unknownId();
      return store.addons.save({
        id: newId('ao'),
        entity: 'addon',
        item: { id: newId('item'), active: true, unit_amount: item.amount, type: 'addon', ...item },
        quantity,
        created_at: clock.seconds(),
        subscription_id: subscription.id,
        invoice_id: null,
      });
    }),
  );
  routes.get('/addons', (c) => {
    const part = page(store.addons.list(), c.req.query());
    return part === undefined ? gatewayError('The count must be between 1 and 100.') : c.json(collection(part));
  });
  routes.get('/addons/:id', (c) => found(c, store.addons.find(c.req.param('id'))));
  routes.delete('/addons/:id', (c) => {
    const addon = store.addons.find(c.req.param('id'));
    if (addon === undefined) return unknownId();
    if (addon.invoice_id !== null) return gatewayError('The add-on is on an invoice and can not be deleted.');
    store.addons.remove(addon.id);
    return c.json([]);
  });
  return routes;
}

/** Puts the add-ons that wait on an invoice. @returns the amount of all add-ons of the invoice, in minor units */
export function billAddons(store: GatewayStore, { id: invoice_id, subscription_id }: Invoice): number {
  const own = store.addons.list().filter((addon) =>
    addon.subscription_id === subscription_id && (addon.invoice_id ?? invoice_id) === invoice_id
  );
  for (const addon of own) store.addons.save({ ...addon, invoice_id });
  return own.reduce((sum, { item, quantity }) => sum + item.amount * quantity, 0);
}
