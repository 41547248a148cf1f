import { documentOperations } from './document-operations.ts';
import type { Operation } from './operation.ts';
import { paymentOperations } from './payment-operations.ts';
import { serviceOperations } from './service-operations.ts';
import { subscriptionOperations } from './subscription-operations.ts';

/** The descriptions of all routes, by the name that the route has in `operation`. */
export const operations: Readonly<Record<string, Operation>> = {
  ...subscriptionOperations,
  ...paymentOperations,
  ...documentOperations,
  ...serviceOperations,
};
