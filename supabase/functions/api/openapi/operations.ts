import type { Operation } from './operation.ts';
import { paymentOperations } from './payment-operations.ts';
import { serviceOperations } from './service-operations.ts';
import { subscriptionOperations } from './subscription-operations.ts';

const described = { ...subscriptionOperations, ...paymentOperations, ...serviceOperations };

/** A route names its description. A route without one fails the types. */
export type OperationId = keyof typeof described;

/** The descriptions of all routes, by name. The function does not load them: they become `generated/openapi.json`. */
export const operations: Readonly<Record<OperationId, Operation>> = described;
