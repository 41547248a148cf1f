'use client';
/// <reference lib="dom" />
import { useEffect, useRef, useState } from 'react';
import type { CheckoutOptions, OfferedPlan, OfferedPrice, Receipt, Subscriptions } from '../../subscriptions.ts';
import { ChangeDialog } from './change-dialog.tsx';
import { CurrentPlan } from './current-plan.tsx';
import { DetailsCard } from './details-card.tsx';
import { DetailsDialog } from './details-dialog.tsx';
import { Dialog } from './dialog.tsx';
import { download } from './download.ts';
import { Message, Skeleton } from './message.tsx';
import { PaymentList } from './payment-list.tsx';
import { PlanList } from './plan-list.tsx';
import { useScheme } from './scheme.ts';
import { planName, stateOf } from './state.ts';
import { en, type Texts } from './en.ts';
import { type Said, saidOf, TextsContext, useTexts } from './texts.ts';
import { Button, pageClass } from './ui.tsx';
import { type Data, useBilling } from './use-billing.ts';

type Props = {
  /** The client of `createSubscriptions`, created once, outside of components. */
  subscriptions: Subscriptions;
  /** Options of the gateway's window, for example `{ name: 'Acme' }`. */
  window?: CheckoutOptions['window'];
  /** The language: `en`, `hi`, or a translation of `en.ts`. */
  texts?: Texts;
};

/** The page on which a customer sees, buys, changes and cancels a plan. It needs a signed-in user. */
export function BillingPage({ texts = en, ...props }: Props) {
  return (
    <TextsContext value={texts}>
      <Page {...props} />
    </TextsContext>
  );
}

function Page({ subscriptions, window = {} }: Omit<Props, 'texts'>) {
  const texts = useTexts();
  const { data, failure, busy, said, say, run, load } = useBilling(subscriptions);
  const [heading, page] = [useRef<HTMLHeadingElement>(null), useRef<HTMLDivElement>(null)];
  const scheme = useScheme(page);
  const wasBusy = useRef(false);
  useEffect(() => {
    // The button of the action may be gone.
    if (wasBusy.current && busy === null && document.activeElement === document.body) heading.current?.focus();
    wasBusy.current = busy !== null;
  }, [busy]);
  const [question, ask] = useState<Question>(null);
  const options: CheckoutOptions = {
    window,
    checkSeconds: 10,
    onStateNeeded: () => new Promise<void>((resolve) => ask({ goOn: resolve })),
    onState: (state, reason) => {
      if (state === 'verifying' || state === 'checking') say({ text: texts.said.confirming });
      if (state === 'attempt_failed') say({ text: reason ?? texts.said.attemptFailed, isProblem: true });
    },
  };
  return (
    <div ref={page} className={`${scheme} ${pageClass} min-h-dvh`}>
      <div className='mx-auto max-w-5xl space-y-10 px-4 pt-10 pb-28 sm:px-6'>
        <header>
          <h1 ref={heading} tabIndex={-1} className='text-3xl font-semibold tracking-tight outline-none'>
            {texts.page.title}
          </h1>
          <p className='mt-1 text-(--bp-soft)'>{texts.page.intro}</p>
        </header>
        {data && <Content {...{ data, subscriptions, options, busy, run, question, ask }} />}
        {!data && !failure && <Skeleton />}
        {!data && failure && (
          <div role='alert' className='space-y-4'>
            <p>{failure}</p>
            <Button onClick={load}>{texts.actions.tryAgain}</Button>
          </div>
        )}
      </div>
      <Message said={said} onClose={() => say(null)} />
    </div>
  );
}

type ContentProps = {
  data: Data;
  subscriptions: Subscriptions;
  options: CheckoutOptions;
  busy: string | null;
  run: (name: string, work: () => Promise<Said>) => Promise<void>;
  question: Question;
  ask: (question: Question) => void;
};
/** A dialog that is open. `goOn`: of a sale that waits for the billing details. */
type Question = 'cancel' | 'details' | { goOn: () => void } | { plan: OfferedPlan; price: OfferedPrice } | null;

function Content({ data, subscriptions, options, busy, run, question, ask }: ContentProps) {
  const { current, plans, receipts, details } = data;
  const texts = useTexts();
  const { said } = texts;
  const state = stateOf(current, plans, Date.now(), texts);
  const { subscription } = current;
  const running = subscription?.status === 'active' ? subscription : null;

  const buy = (price: OfferedPrice, plan: OfferedPlan, renews: boolean) =>
    run(price.lookup_key, async () => {
      const offered = (await subscriptions.plans()).flatMap(({ prices }) => prices);
      if (offered.find(({ id }) => id === price.id)?.scenario !== price.scenario) {
        return { text: said.outdated, isProblem: true };
      }
      const offer = { price: price.lookup_key };
      const isBilled = renews && price.scenario === 'buy' && price.gateway_plan_id !== null;
      // An early renewal starts after what runs, so that no paid day is lost.
      const start = price.scenario === 'renew' ? 'after_current' : undefined;
      const result = isBilled
        ? await subscriptions.subscribe(offer, options)
        : await subscriptions.checkout(offer, { ...options, ...start && { start } });
      return saidOf(result, `${said.thanks} ${start ? said.renewed(plan.name) : said.onPlan(plan.name)}`, texts);
    });
  const undo = (price: string) =>
    run('undo', async () => {
      const result = await subscriptions.change({ price }, 'period_end', options);
      return result.outcome === 'undone' ? { text: said.undone } : saidOf(result, said.undone, texts);
    });
  const cancel = () =>
    run('cancel', async () => {
      const left = await subscriptions.cancel({ atPeriodEnd: true });
      const end = left?.status === 'active' && left.current_period_end;
      return { text: end ? said.cancelledUntil(end) : said.cancelled };
    });
  const resume = () =>
    run('resume', async () => {
      await subscriptions.resume();
      return { text: said.resumed };
    });
  const open = (receipt: Receipt) =>
    run('receipt', async () => {
      const name = download(await subscriptions.receipt({ id: receipt.id }), receipt);
      return { text: said.downloaded(name) };
    });
  const isSale = typeof question === 'object' && question !== null && 'goOn' in question;
  const closeDetails = (isSaved: boolean) => {
    ask(null);
    if (isSale) question.goOn();
    else if (isSaved) void run('details', () => Promise.resolve({ text: said.saved }));
  };
  const end = running?.current_period_end;
  // In the days of grace nothing is paid that could last.
  const isOver = running !== null && running.access_ends_at !== null;
  return (
    <>
      <CurrentPlan state={state} busy={busy} onCancel={() => ask('cancel')} onResume={resume} onUndo={undo} />
      <PlanList plans={plans} busy={busy} onBuy={buy} onChange={(price, plan) => ask({ price, plan })} />
      <PaymentList
        payments={current.payments}
        plans={plans}
        receipts={receipts}
        onOpen={open}
      />
      {(receipts.length > 0 || details !== null) && <DetailsCard details={details} onEdit={() => ask('details')} />}
      {(question === 'details' || isSale) && (
        <DetailsDialog {...{ subscriptions, details, isSale }} onClose={closeDetails} />
      )}
      {question === 'cancel' && (
        <Dialog
          title={texts.cancelling.title}
          back={texts.cancelling.keep}
          onClose={() => ask(null)}
          action={{ label: texts.cancelling.confirm, look: 'bad', run: () => (ask(null), void cancel()) }}
        >
          <p className='mt-3 text-sm text-(--bp-soft)'>
            {texts.cancelling.text(running && planName(running, plans), end ?? null, isOver)}
          </p>
        </Dialog>
      )}
      {typeof question === 'object' && question !== null && 'price' in question && (
        <ChangeDialog
          {...{ subscriptions, current, plans, ...question }}
          onClose={() => ask(null)}
          onConfirm={(when, change) => {
            // Before the gateway's window opens: behind a modal dialog it could not be used.
            ask(null);
            const { plan, price } = question;
            void run(price.lookup_key, async () => {
              const result = await subscriptions.change({ price: price.lookup_key }, when, options);
              if (result.outcome === 'undone') return { text: said.undone };
              if (result.outcome === 'paid' && result.renewal && result.renewal.outcome !== 'paid') {
                return { text: said.notRenewing(plan.name), isProblem: true };
              }
              const start = when === 'now' ? said.onPlan(plan.name) : said.startsOn(change.starts_at);
              return saidOf(result, `${said.changed} ${start}`, texts);
            });
          }}
        />
      )}
    </>
  );
}
