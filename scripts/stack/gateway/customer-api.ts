import { Hono } from 'hono';
import { z } from 'zod';
import { collection, control, found, page } from './answers.ts';
import type { GatewayClock } from './clock.ts';
import { apiNotes } from './notes.ts';
import { gatewayError, unknownId } from './errors.ts';
import { newId } from './new-id.ts';
import type { GatewayStore } from './store.ts';

const text = z.string().nullable().optional();
const details = { name: text, email: text, contact: text, gstin: text };
const createRequest = z.strictObject({
  ...details,
  notes: apiNotes.default([]),
  fail_existing: z.union([z.boolean(), z.literal([0, 1, '0', '1'])]).default(1),
});
const editRequest = z.strictObject(details);

/** The calls of the gateway's API for customers. Subscriptions and payments here have no use for them. */
export function createCustomerApi({ store, clock }: { store: GatewayStore; clock: GatewayClock }): Hono {
  const routes = new Hono();
  routes.post(
    '/customers',
    control(createRequest, ({ fail_existing, notes, name = null, email = null, contact = null, gstin = null }) => {
      const known = store.customers.list().find((one) => one.email === email && one.contact === contact);
      if (known !== undefined && Number(fail_existing) === 0) return known;
      if (known !== undefined) return gatewayError('Customer already exists for the merchant');
      const created_at = clock.seconds();
      const id = newId('cust');
      return store.customers.save({ id, entity: 'customer', name, email, contact, gstin, notes, created_at });
    }),
  );
  routes.get('/customers', (c) => {
    const part = page(store.customers.list(), c.req.query());
    return part === undefined ? gatewayError('The count must be between 1 and 100.') : c.json(collection(part));
  });
  routes.get('/customers/:id', (c) => found(c, store.customers.find(c.req.param('id'))));
  routes.put(
    '/customers/:id',
    control(editRequest, (changes, c) => {
      const customer = store.customers.find(c.req.param('id'));
      if (customer === undefined) return unknownId();
      const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
      return store.customers.save({ ...customer, ...given });
    }),
  );
  return routes;
}
