/** `npm run bench:growth`: prints how requests fare as the data grow, and leaves it in `growth.result.md` beside this file. */
import { publish } from './report.ts';
import { benchGrowth } from './growth.ts';

await publish('growth.result.md', await benchGrowth());
