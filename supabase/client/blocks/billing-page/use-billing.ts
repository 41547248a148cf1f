/// <reference lib="dom" />
import { useCallback, useEffect, useRef, useState } from 'react';
import type { BillingDetails, CurrentSubscription, OfferedPlan, Receipt, Subscriptions } from '../../subscriptions.ts';
import { type Said, saidOf, sentenceOf, useTexts } from './texts.ts';

/** What the page shows. */
export type Data = {
  current: CurrentSubscription;
  plans: OfferedPlan[];
  receipts: Receipt[];
  details: BillingDetails | null;
};

/** Webhooks may follow an action: seconds after it at which the page reads again. */
const FOLLOW_UP_SECONDS = [3, 10, 30, 60];

/**
 * Reads what the customer has, and runs one action at a time.
 * - `data`: null until the first answer; `failure`: why there is none
 * - `busy`: the name of the running action
 * - `said`: the result of the newest action
 */
export function useBilling(subscriptions: Subscriptions) {
  const texts = useTexts();
  const [data, setData] = useState<Data | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [busy, setBusy] = useState<string | null>(null);
  const [said, say] = useState<Said | null>(null);
  const isBusy = useRef(false);
  const newest = useRef(0);
  const timers = useRef<ReturnType<typeof setTimeout>[]>([]);

  const read = useCallback(async () => {
    const number = ++newest.current;
    const [current, plans, receipts, details] = await Promise.all([
      subscriptions.current(),
      subscriptions.plans(),
      // The page shows the rest without them.
      subscriptions.receipts().catch(() => []),
      subscriptions.billingDetails().catch(() => null),
    ]);
    // An older answer may arrive later.
    if (number !== newest.current) return;
    setData({ current, plans, receipts, details });
    setFailure(null);
  }, [subscriptions]);

  const load = useCallback(() => {
    read().catch((error: unknown) => setFailure(sentenceOf(error, texts)));
  }, [read, texts]);

  useEffect(() => {
    load();
    // What a person did in another tab or on the gateway's page.
    const refresh = () => {
      if (!document.hidden && !isBusy.current) read().catch(() => {});
    };
    document.addEventListener('visibilitychange', refresh);
    return () => {
      document.removeEventListener('visibilitychange', refresh);
      newest.current++;
      for (const timer of timers.current) clearTimeout(timer);
    };
  }, [load, read]);

  const run = useCallback(async (name: string, work: () => Promise<Said>) => {
    if (isBusy.current) return;
    isBusy.current = true;
    setBusy(name);
    say(null);
    const result = await work().catch((error: unknown): Said => ({ text: sentenceOf(error, texts), isProblem: true }));
    await read().catch(() => {});
    say(result);
    setBusy(null);
    isBusy.current = false;
    for (const timer of timers.current) clearTimeout(timer);
    timers.current = FOLLOW_UP_SECONDS.map((seconds) =>
      setTimeout(() => {
        if (!isBusy.current) read().catch(() => {});
      }, seconds * 1000)
    );
  }, [read, texts]);

  // A payment that a reload interrupted in its verification: until that ends, nothing else is sold.
  useEffect(() => {
    const ending = new AbortController();
    const finished = subscriptions.resumePending({
      signal: ending.signal,
      onState(state) {
        if (state !== 'verifying' || ending.signal.aborted) return;
        void run('verify', async () => {
          say({ text: texts.said.confirming });
          const [result] = (await finished).filter(({ outcome }) => outcome !== 'dismissed');
          return result ? saidOf(result, texts.said.thanks, texts) : { text: texts.said.dismissed };
        });
      },
    });
    return () => ending.abort();
  }, [subscriptions, run, texts]);

  return { data, failure, busy, said, say, run, load };
}
