/**
 * `npm run bench:growth`: prints how requests scale with the data, and writes it to `growth.result.md` beside this
 * file.
 */
import { publish } from './report.ts';
import { benchGrowth } from './growth.ts';

await publish('growth.result.md', await benchGrowth());
