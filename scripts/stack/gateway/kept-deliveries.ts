import type { Delivery } from './delivery.ts';
import type { Journal } from './journal.ts';

const KEPT_DELIVERIES = 1_000;

/** The newest deliveries, in memory and in the journal. */
export function createKeptDeliveries(journal: Journal) {
  const kept = journal.map<Delivery>('deliveries');
  /** Newest first. */
  const deliveries = [...kept.values()].reverse();
  /** An event id may occur twice, so `kept` has keys of its own. */
  const keys = new WeakMap([...kept.entries()].map(([key, delivery]) => [delivery, key]));
  let lastKey = Number([...kept.keys()].at(-1) ?? 0);
  return {
    deliveries,
    /** Adds deliveries, oldest first, and forgets the oldest ones. */
    add(created: Delivery[]) {
      for (const delivery of created) {
        keys.set(delivery, String(++lastKey));
        kept.set(String(lastKey), delivery);
      }
      deliveries.unshift(...created.toReversed());
      for (const old of deliveries.splice(KEPT_DELIVERIES)) kept.delete(keys.get(old) ?? '');
    },
    change(delivery: Delivery, changes: Partial<Delivery>) {
      Object.assign(delivery, changes);
      const key = keys.get(delivery) ?? '';
      if (kept.has(key)) kept.set(key, delivery);
    },
  };
}

/** True while a delivery is still to be made. */
export function isUnderWay({ state }: Delivery): boolean {
  return state === 'pending' || state === 'retrying';
}
