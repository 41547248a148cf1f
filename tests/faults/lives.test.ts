import { beforeAll, expect, test } from 'vitest';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { drawLives } from '../helpers/lives/draws.ts';
import { drawWeather, liveAll } from '../helpers/lives/live.ts';
import { makePrices } from '../helpers/lives/world.ts';
import { isLong, seedOfDay, suite } from '../helpers/project/suite.ts';
import { useProject } from '../helpers/project/use-project.ts';

// Random lives of customers with the real function and the simulated gateway. They are judged by what a person looks at: was
// a customer charged for what was cancelled or replaced, does each payment count with what was kept of it, has each customer
// the tier that was paid for, and no customer more; do the terms of a change hold, and are sums and events those of the
// gateway. `SEED=207840 LIFE=3` lives one of them again and prints what it did.

const only = Deno.env.get('LIFE');
const count = Number(Deno.env.get('LIVES') ?? (isLong ? 80 : suite === 'gate' ? 2 : 4));

const world = drawWeather(seedOfDay);
const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }), {
  skew: world.weather.skew,
  fateOf: () => world.fateOf(billing.now()),
});
beforeAll(async () => {
  await makePrices(billing, world.weather);
  await billing.simulate('debit', { hours_before: world.weather.debit });
  await billing.simulate('account', world.weather.account);
  await billing.simulate('cycles', { end_at: world.weather.endAt });
});

const claim = 'customers have what they paid for, are charged what they asked for, and each payment counts';
test(`${claim}: seed ${seedOfDay}, ${JSON.stringify(world.weather)}`, async () => {
  const acts = drawLives(seedOfDay, count).filter((_, index) => only === undefined || Number(only) === index);
  const { wrong, logs } = await liveAll(billing, acts, world, isLong ? 100 : 50);
  if (only !== undefined) writeLine(logs.join('\n'));
  expect(wrong.join('\n\n')).toBe('');
}, 1_800_000);
