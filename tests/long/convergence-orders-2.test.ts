import { testLongOrders } from '../helpers/orderings/test-long-orders.ts';

testLongOrders(1, 3);
