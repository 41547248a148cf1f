import { beforeAll, expect, test } from 'vitest';
import { writeLine } from '../../scripts/stack/process/child.ts';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { drawLives, numbersOf, type Weather } from '../helpers/lives/draws.ts';
import { iso, unwantedCharges, wrongAccess, wrongBooks } from '../helpers/lives/oracles.ts';
import { beginLife, dueOf, type Life, makePrices, perform, usePayments } from '../helpers/lives/world.ts';
import { isLong } from '../helpers/project/is-long.ts';
import { useProject } from '../helpers/project/use-project.ts';

// Random lives of customers against the real function and the simulated gateway, judged by what a person would look at: was
// anybody charged for what he had cancelled or replaced, does each payment count with what was kept of it, has everybody what
// he paid for and nobody more. SEED and LIFE (its number) repeat one life and print it.

const seed = Number(Deno.env.get('SEED') ?? (isLong && !Deno.env.get('CI') ? Math.floor(Math.random() * 1e6) : 7));
const only = Deno.env.get('LIFE');
const draw = numbersOf(seed);
const oneOf = <Item>(items: readonly Item[]): Item =>
  items[Math.floor(draw() * items.length)] ?? expect.fail('nothing to draw');
const weather: Weather = {
  skew: oneOf([0, -600, 600]),
  lost: oneOf([0, 0.3, 1]),
  late: oneOf([0, 0.3]),
  debit: oneOf([0, 0, 24, 36]),
  account: oneOf([{}, {}, { fee_bearer: 'customer' }, { offer: { percent: 10 } }]),
};
const count = Number(Deno.env.get('COUNT') ?? (isLong ? 40 : 10));
const days = 100;
/** How often the schedule runs at least, in hours. */
const every = 8;

const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }), {
  skew: weather.skew,
  fateOf: () => {
    const drawn = draw();
    return drawn < weather.lost
      ? 'lost'
      : drawn < weather.lost + weather.late
      ? billing.now() + draw() * 3 * 86_400
      : 'arrives';
  },
});
const readPayments = usePayments(billing);
beforeAll(async () => {
  await makePrices(billing);
  await billing.simulate('debit', { hours_before: weather.debit });
  await billing.simulate('account', weather.account);
});

test(
  `lives of seed ${seed}: nobody is charged against a wish, each payment counts, everybody has what he paid for`,
  async () => {
    const start = billing.now();
    const end = start + days * 86_400;
    const lives: Life[] = [];
    for (const [index, acts] of drawLives(seed, count).entries()) {
      if (only === undefined || Number(only) === index) lives.push(await beginLife(billing, acts));
    }
    const runs: number[] = [];
    const wrong = new Map<Life, string[]>();
    const note = (life: Life, found: string[]) => {
      if (found.length > 0 && !wrong.has(life)) wrong.set(life, found);
    };
    let lateAt: number | undefined;
    let looked = start;
    const spent = new Map<string, number>();
    const timed = async <T>(name: string, work: () => Promise<T>) => {
      const t = performance.now();
      const r = await work();
      spent.set(name, (spent.get(name) ?? 0) + performance.now() - t);
      return r;
    };
    while (billing.now() < end) {
      const now = billing.now();
      const { next_at: due } = await billing.readDue();
      const times = [
        end,
        now + every * 3600,
        ...lives.map(({ nextAt }) => nextAt),
        ...[lateAt ?? end],
        ...(due ? [due - weather.skew + 1] : []),
      ];
      const next = Math.max(Math.min(...times.map(Math.ceil)), now);
      if (next > now) await timed('move', () => billing.moveOn((next - now) / 3600));
      lateAt = await billing.deliverLate();
      for (const life of lives.filter(({ nextAt }) => nextAt <= next)) {
        const [act, ...rest] = life.acts;
        life.acts = rest;
        if (act) await perform(billing, life, act, async () => (await readPayments(lives)).get(life) ?? []);
        const edges = (await life.customer.billed()).flatMap((one) => [one.charge_at, one.current_end]);
        life.nextAt = rest[0] ? dueOf(rest[0], next, edges.filter(Boolean).map((at) => at - weather.skew)) : Infinity;
      }
      if (draw() < 0.8) {
        await timed('schedule', () => billing.runSchedule());
        runs.push(billing.now());
      }
      if (billing.now() < looked + 86_400) continue;
      looked = billing.now();
      for (const [life, charges] of await readPayments(lives)) {
        note(life, await wrongAccess(billing, life, charges, weather));
      }
    }
    for (const hours of [1, 2, 13]) {
      await billing.moveOn(hours);
      await billing.deliverLate();
      await billing.runSchedule();
    }
    for (const [life, charges] of await readPayments(lives)) {
      note(life, unwantedCharges(life, charges, runs, weather));
      note(life, await wrongBooks(billing, life, charges));
      const findings = await life.customer.findings();
      life.log.push(
        `charges: ${
          charges.map((one) =>
            `${one.subscriptionId ?? one.orderId} ${one.price} ${iso(one.created_at)} ${one.id} ${one.amount}`
          ).join('\n  ')
        }`,
        `findings: ${findings.join()}`,
      );
    }
    const told = [...wrong].map(([life, found]) =>
      [`life ${lives.indexOf(life)} of seed ${seed}`, ...found, ...life.log].join('\n  ')
    );
    if (only !== undefined) { for (const life of lives) writeLine(life.log.join('\n')); }
    writeLine(
      JSON.stringify({ seed, weather, runs: runs.length, spent: Object.fromEntries(spent), T: (globalThis as any).T }),
    );
    expect(told.join('\n\n')).toBe('');
  },
  1_800_000,
);
