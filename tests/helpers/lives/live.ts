import { expect } from 'vitest';
import type { BillingProject, Fate } from '../faults/billing-project.ts';
import { seededRandom } from '../orderings/permutations.ts';
import { describeCharge, usePayments } from './charges.ts';
import type { Act, Weather } from './draws.ts';
import { brokenPromises, chargedTwice } from './promises.ts';
import { wrongRevenue, wrongSums } from './sums.ts';
import { alarms, unwantedCharges, wrongAccess, wrongBooks } from './oracles.ts';
import { useWords } from '../words/contradictions.ts';
import { wrongDocuments } from '../database/documents.ts';
import { beginLife, dueOf, type Life, perform } from './world.ts';

const hour = 3600;
const day = 24 * hour;
/** How often the schedule runs at least. Seconds. */
const atLeastEvery = 8 * hour;

/** What the gateway is like, and the fates of its webhooks, drawn by a seed. */
export function drawWeather(seed: number) {
  const draw = seededRandom(seed);
  const oneOf = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(draw() * items.length)] ?? expect.fail('nothing to draw');
  const weather: Weather = {
    skew: oneOf([0, -600, 600]),
    lost: oneOf([0, 0.3, 1]),
    late: oneOf([0, 0.3]),
    unanswered: oneOf([0, 0.3]),
    debit: oneOf([0, 0, 24, 36]),
    account: oneOf([{}, {}, { fee_bearer: 'customer' }, { offer: { percent: 10 } }]),
    renewal: oneOf(['replace', 'replace', 'extend']),
    trial: oneOf([0, 0, 7]),
    endAt: oneOf(['time_of_authorisation', 'india_midnight']),
    cycles: oneOf([0, 0, 2]),
    zone: oneOf(['UTC', 'Asia/Kolkata']),
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
  days: number,
): Promise<{ wrong: string[]; logs: string[] }> {
  const readPayments = usePayments(billing);
  const lives: Life[] = [];
  const readers = new Map<Life, ReturnType<typeof useWords>>();
  for (const own of acts) lives.push(await beginLife(billing, own));
  for (const life of lives) readers.set(life, useWords(billing, life.customer));
  const wrong = new Map<Life, string[]>();
  const note = (life: Life, found: string[]) => {
    if (found.length > 0 && !wrong.has(life)) wrong.set(life, found);
  };
  /** When the gateway could be told what was asked for before. */
  const runs: number[] = [];
  /** When the schedule last ran with all its calls. */
  const seen = () => runs.at(-1) ?? -Infinity;

  async function act(life: Life): Promise<void> {
    const [next, ...later] = life.acts;
    life.acts = later;
    if (next) await perform(billing, life, next, async () => (await readPayments(lives)).get(life) ?? []);
    const edges = (await life.customer.billed()).flatMap((one) => [one.charge_at, one.current_end])
      .flatMap((at) => at === null ? [] : [at - weather.skew]);
    const nextAt = later[0] ? dueOf(later[0], billing.now(), edges) : Infinity;
    life.nextAt = nextAt < quietFrom ? nextAt : Infinity;
  }
  async function runSchedule(): Promise<void> {
    const isBroken = billing.now() < quietFrom && draw() < weather.unanswered;
    // The gateway does what it is asked for, or not.
    if (isBroken) await billing.breakApi({ times: 1 + Math.floor(draw() * 3), applied: draw() < 0.5 });
    await billing.runSchedule();
    if (isBroken) await billing.mend();
    else runs.push(billing.now());
  }

  // In the last days nothing is done: all webhooks that come have come, and the lists were read once more.
  const quietFrom = billing.now() + days * day;
  const end = quietFrom + 5 * day;
  let lateAt: number | undefined;
  let lookAt = billing.now() + day;
  while (billing.now() < end) {
    const now = billing.now();
    const { next_at: due } = await billing.readDue();
    const times = [
      end,
      now + atLeastEvery,
      lateAt ?? end,
      await readStopAt(billing),
      ...lives.map(({ nextAt }) => nextAt),
    ];
    const next = Math.min(...times, typeof due === 'number' ? due - weather.skew + 1 : end);
    if (Math.ceil(next) > now) await billing.moveOn((Math.ceil(next) - now) / hour);
    lateAt = await billing.deliverLate();
    for (const life of lives.filter(({ nextAt }) => nextAt <= billing.now())) {
      // What arrived until now says nothing of the act.
      note(life, await readers.get(life)?.() ?? []);
      await act(life);
    }
    // The schedule runs once a minute: it is not late for what is to be told.
    if (draw() < 0.8 || await readStopAt(billing) <= billing.now()) await runSchedule();
    for (const [life, contradictions] of readers) note(life, await contradictions());
    if (billing.now() < lookAt) continue;
    lookAt = billing.now() + day;
    for (const [life, charges] of await readPayments(lives)) {
      note(life, await wrongAccess(billing, life, charges, seen(), weather));
    }
  }
  for (const [life, charges] of await readPayments(lives)) {
    note(life, unwantedCharges(life, charges, runs, weather));
    note(life, brokenPromises(life, charges, end, runs, weather));
    note(life, chargedTwice(life, charges, runs, weather));
    note(life, await wrongBooks(billing, life, charges, seen(), weather));
    note(life, await wrongSums(billing, life, charges, seen(), weather));
    note(life, await alarms(life, charges, weather));
    life.log.push(...charges.map(describeCharge), ...await readStops(billing, life));
  }
  const payments = await readPayments(lives);
  const revenue = await wrongRevenue(billing, payments, seen(), weather);
  const documents = (await wrongDocuments(billing.database)).map((row) => `documents: ${JSON.stringify(row)}`);
  const logOf = (life: Life) => `life ${lives.indexOf(life)}:\n  ${life.log.join('\n  ')}`;
  const found = [...wrong].map(([life, texts]) => `${texts.join('\n')}\n${logOf(life)}`);
  return { wrong: [...found, ...revenue, ...documents], logs: lives.map(logOf) };
}

/** When the gateway is to be told something next, seconds. */
async function readStopAt({ database }: BillingProject): Promise<number> {
  const { at } = await database.one(
    `select extract(epoch from min(o.next_attempt_at))::float8 as at from billing.outbox o
     where o.destination = 'gateway' and o.delivered_at is null and o.parked_at is null`,
  );
  return at === null ? Infinity : Number(at);
}

/** What the gateway was to be told about the subscriptions of a life. */
async function readStops({ database }: BillingProject, { asked }: Life): Promise<string[]> {
  const rows = await database.query(
    `select format('told: %s at %s, %s tries, next %s, parked %s %s', o.payload, o.told_at, o.attempts, o.next_attempt_at, o.parked_at, o.last_error) as text
     from billing.outbox o where o.payload ->> 'gateway_subscription_id' = any ($1)`,
    [[...asked.keys()]],
  );
  return rows.map(({ text }) => String(text));
}
