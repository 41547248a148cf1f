import { type Charge, iso, knownAt } from './charges.ts';
import type { Weather } from './draws.ts';
import type { Life } from './world.ts';

const hour = 3600;
const day = 24 * hour;
/** A cycle may end at midnight in India. */
const slack = 25 * hour;

/**
 * Where what the terms of a change said is not what was charged: the next charge with its price, or no charge at all. It is
 * judged where the customer did nothing else until then. `until`: the end of the life, seconds. `runs`: see unwantedCharges.
 */
export function brokenPromises(
  life: Life,
  charges: readonly Charge[],
  until: number,
  runs: readonly number[],
  weather: Weather,
): string[] {
  const paid = charges.flatMap((charge) =>
    charge.subscriptionId ? [{ ...charge, at: charge.created_at - weather.skew }] : []
  );
  const broken = life.promises.flatMap(({ at, price, renews, nextChargeAt, nextAmount, isDeclined }) => {
    const nextAct = Math.min(until, ...life.actedAt.filter((other) => other > at));
    const text = `${iso(at)} a change to ${price}`;
    if (nextChargeAt === null) {
      const charged = paid.find((one) => one.at > at + 2 * day && one.at < nextAct);
      return !renews && charged ? [`${text} that does not renew, and ${charged.id} at ${iso(charged.at)}`] : [];
    }
    // What was paid before, and was not known yet, replaces what goes on.
    const isUnheard = charges.some((one) => {
      const paidAt = one.created_at - weather.skew;
      return one.orderId !== undefined && paidAt < at && knownAt(paidAt, runs, weather) >= at;
    });
    if (isUnheard || nextAct < nextChargeAt + slack + 13 * hour) return [];
    const earliest = nextChargeAt - weather.debit * hour - slack;
    // What is paid with the act comes before.
    const after = Math.min(at + hour, nextChargeAt - hour);
    const known = knownAt(at, runs, weather);
    const charged = paid.filter((one) =>
      one.at > after && one.at < nextChargeAt + slack && (one.price === price || one.at > known)
    );
    life.log.push(`judged: ${text}, next charge ${iso(nextChargeAt)}`);
    const isKept = (charged.length === 1 || charged.length === 0 && isDeclined) &&
      charged.every((one) =>
        one.price === price && one.at >= earliest &&
        (Object.keys(weather.account).length > 0 || one.amount === nextAmount)
      );
    const found = charged.map((one) => `${one.id} ${one.price} ${one.amount} ${iso(one.at)}`).join();
    return isKept ? [] : [`${text}: next charge ${iso(nextChargeAt)} ${nextAmount}, charged ${found || 'nothing'}`];
  });
  return [...life.broken, ...broken];
}

/**
 * The paid cycle that an upgrade which begins now does not credit, although all of it is kept. Not in its first and last hour, since the
 * clocks differ. `id`: the subscription that is charged next. `now`: seconds.
 */
export function uncredited(
  life: Life,
  charges: readonly Charge[],
  { id, credit, now }: { id: string; credit: number; now: number },
): string[] {
  const running = charges.find((one) =>
    one.subscriptionId === id && one.amount_refunded === 0 && !life.lost.has(one.id) &&
    (one.start ?? Infinity) < now - hour && (one.end ?? 0) > now + hour &&
    !life.creditedAt.some((at) => at > one.created_at - hour) &&
    !life.log.some((line) => line.includes('asks for') && line.includes(one.id))
  );
  return credit > 0 || running === undefined ? [] : [`an upgrade does not credit ${running.id}`];
}

/** The cycles of two mandates for the same time that were charged after both were authorised. `runs`: see unwantedCharges. */
export function chargedTwice(
  life: Life,
  charges: readonly Charge[],
  runs: readonly number[],
  weather: Weather,
): string[] {
  const cycles = charges.flatMap((one) => {
    const { subscriptionId: id, start, end } = one;
    const at = one.created_at - weather.skew;
    if (id === undefined || start === null || end === null) return [];
    const first = Math.min(
      ...charges.filter(({ subscriptionId }) => subscriptionId === id).map((each) => each.created_at),
    );
    const authorised = life.bought.find(({ subscriptionId }) => subscriptionId === id)?.at ?? first - weather.skew;
    return [{ id: one.id, subscription: id, at, start, end, authorised }];
  });
  return cycles.flatMap((one, index) =>
    cycles.slice(index + 1).flatMap((other) => {
      const both = knownAt(Math.max(one.authorised, other.authorised), runs, weather) + 1;
      const common = Math.min(one.end, other.end) - Math.max(one.start, other.start);
      const isTwice = one.subscription !== other.subscription && common > day && Math.min(one.at, other.at) > both;
      return isTwice ? [`${one.id} and ${other.id} are for the same time: ${iso(one.at)}, ${iso(other.at)}`] : [];
    })
  );
}
