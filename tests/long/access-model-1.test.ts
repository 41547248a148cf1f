import { testLongHistories } from '../helpers/access-model/test-long-histories.ts';

testLongHistories(0);
