/**
 * `npm run bench:growth`: prints how requests and an admin's reads scale with the data, and writes it to
 * `growth.result.md` beside this file. With the argument `admin` only the reads of an admin.
 */
import { publish } from './report.ts';
import { benchGrowth } from './growth.ts';

await publish('growth.result.md', await benchGrowth(Deno.args.includes('admin')));
