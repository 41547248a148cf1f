/**
 * `npm run bench:growth`: prints how requests, an admin's reads, the sweep and migrations scale with the data, and writes it
 * to `growth.result.md` beside this file. With the argument `admin` without requests over HTTP; numbers are other sizes.
 */
import { publish } from './report.ts';
import { benchGrowth } from './growth.ts';

const sizes = Deno.args.filter((text) => /^\d+$/.test(text)).map(Number);
await publish('growth.result.md', await benchGrowth(Deno.args.includes('admin'), sizes));
