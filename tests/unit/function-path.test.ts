import { expect, test } from 'vitest';
import { functionPath } from '../../supabase/functions/api/http/function-path.ts';

test.each([
  ['/api/subscriptions', '/api/subscriptions'],
  ['/billing/api/subscriptions?tier=pro', '/api/subscriptions'],
  ['/billing/subscriptions', '/api/subscriptions'],
  ['/billing/payments/orders/order_1', '/api/payments/orders/order_1'],
  ['/billing', '/api'],
  ['/billing/', '/api/'],
  ['/apis/health', '/api/health'],
  ['/api/api/health', '/api/api/health'],
  ['/', '/'],
  ['//health', '//health'],
])('%s is the route %s, under each name of the function', (path, route) => {
  expect(functionPath(new Request(`http://127.0.0.1${path}`))).toBe(route);
});
