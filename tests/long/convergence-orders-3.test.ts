import { testLongOrders } from '../helpers/orderings/test-long-orders.ts';

testLongOrders(2, 3);
