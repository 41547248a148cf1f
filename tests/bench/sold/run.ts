/**
 * `npm run bench:sold`: prints the CPU of what a shop does most, of customers who came back and beside waiting mails, and
 * the memory of the function that delivered mails, and writes it to `sold.result.md`. Another checkout of the project, with
 * its `node_modules`, is measured beside this one: `npm run bench:sold -- ../before`. `--smoke` only checks that everything
 * runs.
 */
import { withDurablePostgres } from '../durable-postgres.ts';
import { newUsers } from '../our-database.ts';
import { measureSubjects } from '../peers/measure.ts';
import { startReaders } from '../peers/reads.ts';
import { pairsTable } from '../peers/table.ts';
import { publish, type Row, table } from '../report.ts';
import { measureMemory } from './memory.ts';
import { startCustomers } from './customers.ts';
import { startShop } from './shop.ts';
import { verifySubject } from './verify.ts';

const isSmoke = Deno.args.includes('--smoke');
const [other] = Deno.args.filter((arg) => !arg.startsWith('--'));
const scope = isSmoke ? { repetitions: 1, webhooks: 40 } : { repetitions: 9, webhooks: 120 };
/** What each subject is compared with. */
const pairs = {
  'a renewal of who came back': 'a first renewal',
  'a preview of who came back': 'a first preview',
  'a cancellation of who came back': 'a first cancellation',
  'a first cancellation beside 6000 mails': 'a first cancellation',
  'a verification': 'a verification in the other checkout',
};

await withDurablePostgres(async (postgres) => {
  const users = newUsers(scope.webhooks);
  const readers = await startReaders(users);
  const stops = [readers.stop];
  try {
    const shop = await startShop({ postgres, name: 'ours', users, readers });
    stops.unshift(shop.stop);
    const customers = await startCustomers(postgres, scope.webhooks);
    stops.unshift(customers.stop);
    const subjects = [...customers.subjects, verifySubject('a verification', shop, users, readers)];
    const shops = [{ name: 'this checkout', shop }];
    if (other !== undefined) {
      const before = await startShop({ postgres, name: 'other', users, readers, folder: await Deno.realPath(other) });
      stops.unshift(before.stop);
      subjects.push(verifySubject('a verification in the other checkout', before, users, readers));
      shops.push({ name: 'the other checkout', shop: before });
    }
    const results = await measureSubjects(subjects, postgres, scope);
    const memory: Row[] = [];
    for (const { name, shop } of shops) memory.push(await measureMemory(name, shop, users, isSmoke ? 100 : 2600));
    await publish('sold.result.md', `${pairsTable(results, pairs)}\n${table(memory)}`);
  } finally {
    for (const stop of stops) await stop();
  }
});
