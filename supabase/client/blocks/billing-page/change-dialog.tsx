import { useEffect, useState } from 'react';
import type { Change, CurrentSubscription, OfferedPlan, OfferedPrice, Subscriptions } from '../../subscriptions.ts';
import { Dialog } from './dialog.tsx';
import { isPaidNow, nameOf } from './state.ts';
import { sentenceOf, useTexts } from './texts.ts';
import { Choice } from './ui.tsx';

type When = 'now' | 'period_end';
type Previews = Partial<Record<When, Change>>;
type Props = {
  subscriptions: Subscriptions;
  current: CurrentSubscription;
  plans: OfferedPlan[];
  plan: OfferedPlan;
  price: OfferedPrice;
  onClose: () => void;
  onConfirm: (when: When, change: Change) => void;
};

/** What a change costs and replaces, now and at the end of the period, before it is made. */
export function ChangeDialog({ subscriptions, current, plans, plan, price, onClose, onConfirm }: Props) {
  const texts = useTexts();
  const words = texts.change;
  const [previews, setPreviews] = useState<Previews | null>(null);
  const [problem, setProblem] = useState('');
  const [chosen, choose] = useState<When | null>(null);
  useEffect(() => {
    let isOpen = true;
    const ask = (when: When) => subscriptions.previewChange({ price: price.lookup_key }, when);
    void Promise.allSettled([ask('now'), ask('period_end')]).then(([now, later]) => {
      if (!isOpen) return;
      setPreviews({
        ...now.status === 'fulfilled' && { now: now.value },
        ...later.status === 'fulfilled' && { period_end: later.value },
      });
      if (now.status === 'rejected' && later.status === 'rejected') setProblem(sentenceOf(later.reason, texts));
    });
    return () => {
      isOpen = false;
    };
  }, [subscriptions, price.lookup_key, texts]);

  const preferred: When = price.scenario === 'upgrade' && previews?.now ? 'now' : 'period_end';
  const when = chosen ?? (previews?.[preferred] ? preferred : 'now');
  const change = previews?.[when];
  const isDue = change !== undefined && isPaidNow(change, when);
  const label = !change
    ? words.confirm
    : isDue
    ? words.pay(texts.money(change.amount_due, change.currency))
    : when === 'now'
    ? words.confirmNow
    : words.confirmOn(change.starts_at);
  const options = [
    ['now', words.now],
    ['period_end', previews?.period_end ? words.on(previews.period_end.starts_at) : ''],
  ] as const;
  return (
    <Dialog
      title={words.title(`${plan.name}, ${texts.every(price)}`)}
      back={texts.actions.back}
      onClose={onClose}
      action={problem ? null : { label, look: 'main', isOff: !change, run: () => change && onConfirm(when, change) }}
    >
      <div className='mt-4 min-h-72' aria-busy={previews === null}>
        {previews === null && <p className='text-sm text-(--bp-soft)' role='status'>{words.calculating}</p>}
        {problem && <p className='text-sm' role='alert'>{problem}</p>}
        {previews?.now && previews.period_end && (
          <Choice label={words.when} options={options} value={when} onChange={choose} />
        )}
        {change && <Terms {...{ change, when, isDue, current, plans, price }} />}
      </div>
    </Dialog>
  );
}

type TermsProps = Pick<Props, 'current' | 'plans' | 'price'> & { change: Change; when: When; isDue: boolean };

function Terms({ change, when, isDue, current: { subscription }, plans, price }: TermsProps) {
  const { day, every, money, per, change: words } = useTexts();
  const { currency, credit, starts_at: start, ends_at: end, renews } = change;
  const old = subscription?.price;
  const replaced = nameOf(change.from, plans) + (old ? `, ${every(old)}` : '');
  const rows: [string, string][] = [[words.price, `${money(price.amount, currency)} ${per(price)}`]];
  if (credit > 0) rows.push([words.credit, `−${money(credit, currency)}`]);
  rows.push([words.period, `${day(start)} – ${day(end)}`]);
  rows.push([words.after, renews ? `${money(price.amount, currency)} ${per(price)}` : words.notRenewing]);
  return (
    <>
      <dl className='mt-4 divide-y divide-(--bp-line) text-sm'>
        {rows.map(([term, text]) => (
          <div key={term} className='flex justify-between gap-4 py-2.5'>
            <dt className='text-(--bp-soft)'>{term}</dt>
            <dd className='text-right tabular-nums'>{text}</dd>
          </div>
        ))}
        <div className='flex justify-between gap-4 py-3 text-base font-semibold'>
          <dt>{isDue || when === 'now' ? words.dueToday : words.dueOn(change.due_at ?? start)}</dt>
          <dd className='tabular-nums'>{money(change.amount_due, currency)}</dd>
        </div>
      </dl>
      <p className='mt-2 text-sm text-(--bp-soft)'>
        {when === 'now' ? words.replaces(replaced) : words.keeps(replaced)}
        {renews && credit > 0 && ` ${words.authorise}`}
      </p>
    </>
  );
}
