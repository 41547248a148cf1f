import { testLongSets } from '../helpers/orderings/test-long-sets.ts';

testLongSets(0);
