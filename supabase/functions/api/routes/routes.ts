import type { Route } from './route.ts';
import { cancelSubscription } from './cancel-subscription.ts';
import { changeSubscription, previewChange } from './change-subscription.ts';
import { createOrder } from './create-order.ts';
import { createSubscription } from './create-subscription.ts';
import { dispatchOutbox } from './dispatch-outbox.ts';
import { gatewayWebhook } from './gateway-webhook.ts';
import { getHealth } from './get-health.ts';
import { getOpenapi } from './get-openapi.ts';
import { getOrder } from './get-order.ts';
import { getDocument, getReceipt } from './get-receipt.ts';
import { getSubscription } from './get-subscription.ts';
import { listPlans } from './list-plans.ts';
import { getBillingDetails, putBillingDetails } from './put-billing-details.ts';
import { reconcilePayments } from './reconcile-payments.ts';
import { resumeSubscription } from './resume-subscription.ts';
import { verifyPayment } from './verify-payment.ts';
import { verifyReturnedPayment } from './verify-returned-payment.ts';

/** Every endpoint. Of two that match a path, the first one handles it. */
export const routes: readonly Route[] = [
  getSubscription,
  listPlans,
  cancelSubscription,
  resumeSubscription,
  createOrder,
  getOrder,
  createSubscription,
  changeSubscription,
  previewChange,
  verifyPayment,
  verifyReturnedPayment,
  getReceipt,
  getDocument,
  getBillingDetails,
  putBillingDetails,
  gatewayWebhook,
  getHealth,
  getOpenapi,
  dispatchOutbox,
  reconcilePayments,
];
