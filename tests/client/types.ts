import type { z } from 'zod';
import type { Endpoints } from '../../supabase/client/subscriptions.ts';
import type { documentOperations } from '../../scripts/generate/openapi/document-operations.ts';
import type { paymentOperations } from '../../scripts/generate/openapi/payment-operations.ts';
import type { subscriptionOperations } from '../../scripts/generate/openapi/subscription-operations.ts';

// `npm run check` compares the types of the client with the schemas of the API description. Nothing runs.

type Operations = typeof documentOperations & typeof paymentOperations & typeof subscriptionOperations;
type Answers<All> = { [Status in keyof All]: All[Status] extends { schema: z.ZodType<infer Answer> } ? Answer : never };
type Of<Id extends keyof Operations> = {
  body: Operations[Id] extends { request: { schema: z.ZodType<infer Body> } } ? Body : undefined;
  answer: Answers<Operations[Id]['answers']>[keyof Operations[Id]['answers']];
};
type Described = {
  'GET /api/subscriptions': Of<'getSubscription'>;
  'GET /api/subscriptions/plans': Of<'listPlans'>;
  'POST /api/subscriptions': Of<'createSubscription'>;
  'POST /api/subscriptions/cancel': Of<'cancelSubscription'>;
  'POST /api/subscriptions/resume': Of<'resumeSubscription'>;
  'POST /api/subscriptions/change/preview': Of<'previewChange'>;
  'POST /api/subscriptions/change': Of<'changeSubscription'>;
  'POST /api/payments/orders': Of<'createOrder'>;
  'GET /api/payments/orders/{order_id}': Of<'getOrder'>;
  'GET /api/payments/{id}/receipt': { body: undefined; answer: Blob };
  'GET /api/receipts/{id}': { body: undefined; answer: Blob };
  'GET /api/billing-details': Of<'getBillingDetails'>;
  'PUT /api/billing-details': Of<'putBillingDetails'>;
  'POST /api/payments/verify': Of<'verifyPayment'>;
};

/**
 * TypeScript assigns `{ a: string }` to `{ a: string; b?: string }`, and `any` to everything. Here an optional field is
 * a required field of another type, and `any` is a type of its own, so that types are equal that are assignable to each
 * other. Fields that a described object may have besides are left out.
 */
type Exact<T> = 0 extends 1 & T ? { any: true }
  : unknown extends T ? { unknown: true }
  : T extends readonly (infer Item)[] ? { items: Exact<Item> }
  : T extends object ? {
      [Key in keyof T as string extends Key ? unknown extends T[Key] ? never : Key : Key]-?: object extends Pick<T, Key>
        ? { optional: Exact<T[Key]> }
        : Exact<T[Key]>;
    }
  : T;

null! as Exact<Described> satisfies Exact<Endpoints>;
null! as Exact<Endpoints> satisfies Exact<Described>;
// @ts-expect-error A type that differs is found.
null! as Exact<Of<'verifyPayment'>> satisfies Exact<Endpoints['POST /api/payments/orders']>;
