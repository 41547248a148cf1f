import { expect } from 'vitest';
import type { BillingProject, Fate } from '../faults/billing-project.ts';
import { type Act, numbersOf, type Weather } from './draws.ts';
import { alarms, unwantedCharges, wrongAccess, wrongBooks } from './oracles.ts';
import { beginLife, describeCharge, dueOf, type Life, perform, usePayments } from './world.ts';

const hour = 3600;
const day = 24 * hour;
/** How long the acts of a life may take, and how often the schedule runs at least. Seconds. */
const whole = 100 * day;
const atLeastEvery = 8 * hour;

/** What the gateway is like, and the fates of its webhooks, drawn by a seed. */
export function drawWeather(seed: number) {
  const draw = numbersOf(seed);
  const oneOf = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(draw() * items.length)] ?? expect.fail('nothing to draw');
  const weather: Weather = {
    skew: oneOf([0, -600, 600]),
    lost: oneOf([0, 0.3, 1]),
    late: oneOf([0, 0.3]),
    unanswered: oneOf([0, 0.3]),
    debit: oneOf([0, 0, 24, 36]),
    account: oneOf([{}, {}, { fee_bearer: 'customer' }, { offer: { percent: 10 } }]),
  };
  const fateOf = (now: number): Fate => {
    const drawn = draw();
    if (drawn < weather.lost) return 'lost';
    return drawn < weather.lost + weather.late ? now + draw() * 3 * day : 'arrives';
  };
  return { weather, fateOf, draw };
}

/**
 * Lets customers live side by side, and looks at each once a day and at the end.
 * @returns what is wrong, a text for each life, and what each did
 */
export async function liveAll(
  billing: BillingProject,
  acts: readonly Act[][],
  { weather, draw }: ReturnType<typeof drawWeather>,
): Promise<{ wrong: string[]; logs: string[] }> {
  const readPayments = usePayments(billing);
  const lives: Life[] = [];
  for (const own of acts) lives.push(await beginLife(billing, own));
  const wrong = new Map<Life, string[]>();
  const note = (life: Life, found: string[]) => {
    if (found.length > 0 && !wrong.has(life)) wrong.set(life, found);
  };
  /** When the gateway could be told what was asked for before. */
  const runs: number[] = [];

  async function act(life: Life): Promise<void> {
    const [next, ...later] = life.acts;
    life.acts = later;
    if (next) await perform(billing, life, next, async () => (await readPayments(lives)).get(life) ?? []);
    const edges = (await life.customer.billed()).flatMap((one) => [one.charge_at, one.current_end])
      .flatMap((at) => at === null ? [] : [at - weather.skew]);
    life.nextAt = later[0] ? dueOf(later[0], billing.now(), edges) : Infinity;
  }
  async function runSchedule(): Promise<void> {
    const isBroken = draw() < weather.unanswered;
    // The gateway does what it is asked for, or not.
    if (isBroken) await billing.breakApi({ times: 1 + Math.floor(draw() * 3), applied: draw() < 0.5 });
    await billing.runSchedule();
    if (isBroken) await billing.mend();
    else runs.push(billing.now());
  }

  const end = billing.now() + whole;
  let lateAt: number | undefined;
  let lookAt = billing.now() + day;
  while (billing.now() < end) {
    const now = billing.now();
    const { next_at: due } = await billing.readDue();
    const times = [end, now + atLeastEvery, lateAt ?? end, ...lives.map(({ nextAt }) => nextAt)];
    const next = Math.min(...times, typeof due === 'number' ? due - weather.skew + 1 : end);
    if (next > now) await billing.moveOn((Math.ceil(next) - now) / hour);
    lateAt = await billing.deliverLate();
    for (const life of lives.filter(({ nextAt }) => nextAt <= billing.now())) await act(life);
    if (draw() < 0.8) await runSchedule();
    if (billing.now() < lookAt) continue;
    lookAt = billing.now() + day;
    for (const [life, charges] of await readPayments(lives)) {
      note(life, await wrongAccess(billing, life, charges, weather));
    }
  }
  // All webhooks that come have come, and the lists were read once more.
  for (const hours of [72, 2, 25]) {
    await billing.moveOn(hours);
    await billing.deliverLate();
    await billing.runSchedule();
    runs.push(billing.now());
  }
  for (const [life, charges] of await readPayments(lives)) {
    note(life, unwantedCharges(life, charges, runs, weather));
    note(life, await wrongBooks(billing, life, charges));
    note(life, await alarms(life));
    life.log.push(...charges.map(describeCharge));
  }
  const logOf = (life: Life) => `life ${lives.indexOf(life)}:\n  ${life.log.join('\n  ')}`;
  return { wrong: [...wrong].map(([life, found]) => `${found.join('\n')}\n${logOf(life)}`), logs: lives.map(logOf) };
}
