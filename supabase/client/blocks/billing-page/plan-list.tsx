/// <reference lib="dom" />
import { type ReactNode, useState } from 'react';
import type { OfferedPlan, OfferedPrice } from '../../subscriptions.ts';
import type { Texts } from './en.ts';
import { useTexts } from './texts.ts';
import { Button, cardClass, Choice, Section } from './ui.tsx';

type Props = {
  plans: OfferedPlan[];
  busy: string | null;
  onBuy: (price: OfferedPrice, plan: OfferedPlan, renews: boolean) => void;
  onChange: (price: OfferedPrice, plan: OfferedPlan) => void;
};

const isHeld = ({ scenario }: OfferedPrice) => scenario === 'current' || scenario === 'renew';

/** The lowest rank first. Without ranks the service's order stays. */
const byRank = (one: OfferedPlan, other: OfferedPlan) => (one.rank ?? one.price) - (other.rank ?? other.price);

/** The plans on offer, with the prices of one interval: at first that of the price that the customer has. */
export function PlanList({ plans, busy, onBuy, onChange }: Props) {
  const texts = useTexts();
  const { money, per, plans: words } = texts;
  const prices = plans.flatMap((plan) => plan.prices);
  const [chosen, choose] = useState<OfferedPrice['interval'] | null>(null);
  const [renews, setRenews] = useState(true);
  const interval = chosen ?? prices.find(isHeld)?.interval ?? 'month';
  const isChoice = new Set(prices.map((price) => price.interval)).size > 1;
  const heldTier = plans.find((plan) => plan.prices.some(isHeld))?.tier;
  const canRenew = prices.some(({ scenario, gateway_plan_id: id }) => scenario === 'buy' && id !== null);
  const options = [['month', words.month], ['year', words.year]] as const;
  const toggle = isChoice && <Choice label={words.prices} options={options} value={interval} onChange={choose} />;
  const aside = (
    <div className='flex flex-wrap items-center gap-x-6 gap-y-2'>
      {canRenew && (
        <label className='flex min-h-11 cursor-pointer items-center gap-3 text-sm'>
          <input
            type='checkbox'
            checked={renews}
            onChange={(event) => setRenews(event.currentTarget.checked)}
            className='size-5 accent-(--bp-main) outline-offset-2 focus-visible:outline-2 focus-visible:outline-(--bp-main)'
          />
          {texts.actions.renewing}
        </label>
      )}
      {toggle}
    </div>
  );
  if (plans.length === 0) return null;
  return (
    <Section title={words.title} aside={aside}>
      <ul className='grid gap-4 sm:grid-cols-[repeat(auto-fit,minmax(15rem,1fr))]'>
        {plans.toSorted(byRank).map((plan) => {
          const own = plan.prices.filter((price) => price.interval === interval);
          return (
            <li
              key={plan.tier}
              className={`${cardClass} flex flex-col p-6 ${
                plan.tier === heldTier ? 'border-(--bp-main) ring-1 ring-(--bp-main)' : ''
              }`}
            >
              <h3 className='font-semibold'>{plan.name}</h3>
              {(own.length > 0 ? own : plan.prices).map((price) => (
                <div key={price.lookup_key} className='mt-3'>
                  <p className='tabular-nums'>
                    <span className='text-3xl font-semibold tracking-tight'>{money(price.amount, price.currency)}</span>
                    {' '}
                    <span className='text-sm text-(--bp-soft)'>{per(price)}</span>
                  </p>
                  <p className='mt-1 min-h-5 text-sm text-(--bp-soft)'>
                    {renews && price.scenario === 'buy' && price.trial_days
                      ? <span className='text-(--bp-good)'>{words.trial(price.trial_days)}</span>
                      : comparison(price, plan, texts)}
                  </p>
                  <div className='mt-4 flex min-h-11'>
                    <Offer
                      price={price}
                      plan={plan}
                      isSameTier={plan.tier === heldTier}
                      busy={busy}
                      onBuy={() => onBuy(price, plan, renews)}
                      onChange={() => onChange(price, plan)}
                    />
                  </div>
                </div>
              ))}
              <ul className='mt-6 space-y-2 text-sm text-(--bp-soft)'>
                {(Array.isArray(plan.features) ? plan.features : []).map((feature) => (
                  <li key={String(feature)} className='flex gap-2'>
                    <Check /> {String(feature)}
                  </li>
                ))}
              </ul>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

type OfferProps = {
  price: OfferedPrice;
  plan: OfferedPlan;
  /** Another price of the plan that the customer has. */
  isSameTier: boolean;
  busy: string | null;
  onBuy: () => void;
  onChange: () => void;
};

/** What the customer can do with a price depends on its scenario. */
function Offer({ price, plan, isSameTier, busy, onBuy, onChange }: OfferProps) {
  const { plans: words } = useTexts();
  const { scenario, lookup_key: key } = price;
  if (scenario === undefined) return null;
  if (scenario === 'current' || scenario === 'scheduled') {
    return (
      <p className='flex w-full items-center justify-center rounded-lg bg-(--bp-quiet) px-4 text-sm font-medium'>
        {scenario === 'current' ? words.current : words.scheduled}
      </p>
    );
  }
  const isSale = scenario === 'buy' || scenario === 'renew';
  const label = scenario === 'buy'
    ? words.choose(plan.name)
    : scenario === 'renew'
    ? words.renew(plan.name)
    : isSameTier
    ? words.changeLength(price)
    : (scenario === 'upgrade' ? words.upgrade : words.change)(plan.name);
  return (
    <Button
      className='w-full'
      look={isSale || scenario === 'upgrade' ? 'main' : 'plain'}
      isOff={busy !== null}
      isRunning={busy === key}
      onClick={isSale ? onBuy : onChange}
    >
      {label}
    </Button>
  );
}

/** A year against twelve months of the plan: what it saves, or at the month what a year costs. */
function comparison(price: OfferedPrice, { prices }: OfferedPlan, { money, per, plans: words }: Texts): ReactNode {
  const other = prices.find(({ interval, interval_count: count, currency }) =>
    interval !== price.interval && count === 1 && currency === price.currency
  );
  if (!other || price.interval_count !== 1) return null;
  if (price.interval === 'month') return words.or(`${money(other.amount, other.currency)} ${per(other)}`);
  const percent = Math.floor(100 - 100 * price.amount / (12 * other.amount));
  return percent > 0 && <span className='text-(--bp-good)'>{words.less(percent)}</span>;
}

function Check() {
  return (
    <svg aria-hidden='true' viewBox='0 0 20 20' className='mt-0.5 size-4 shrink-0 text-(--bp-main)' fill='none'>
      <path
        d='M4 10.5 8 14.5 16 6'
        stroke='currentColor'
        strokeWidth='2'
        strokeLinecap='round'
        strokeLinejoin='round'
      />
    </svg>
  );
}
