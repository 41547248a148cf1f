import { createClient } from '@supabase/supabase-js';
import { useEffect, useState } from 'react';
import { createSubscriptions, type CurrentSubscription, formatCurrency } from './subscriptions.ts';
import type { OfferedPlan, OfferedPrice } from './subscriptions.ts';

const { VITE_API_URL, VITE_PUBLISHABLE_KEY, VITE_GATEWAY_URL } = import.meta.env;
const supabase = createClient(VITE_API_URL, VITE_PUBLISHABLE_KEY);
const subscriptions = createSubscriptions({ supabase, checkout: { script: `${VITE_GATEWAY_URL}/v1/checkout.js` } });
const Reports = () => subscriptions.can('analytics') ? <h1>Your reports</h1> : <a href='/'>Pro has reports</a>;

export default function App() {
  const [current, setCurrent] = useState<CurrentSubscription>();
  const [plans, setPlans] = useState<OfferedPlan[]>([]);
  const [interval, setInterval] = useState('month');
  const [message, setMessage] = useState('');

  const read = () => Promise.all([subscriptions.plans().then(setPlans), subscriptions.current().then(setCurrent)]);
  useEffect(() => void supabase.auth.getSession().then(({ data }) => data.session && read()), []);

  async function signIn(form: FormData) {
    const [email, password] = [String(form.get('email')), String(form.get('password'))];
    const { error } = await supabase.auth.signInWithPassword({ email, password });
    if (error) setMessage(error.message);
    else await read();
  }

  async function choose({ lookup_key: price, scenario }: OfferedPrice) {
    const result = scenario === 'buy' || scenario === 'renew'
      ? await subscriptions.checkout({ price })
      : await subscriptions.change({ price }, scenario === 'upgrade' ? 'now' : 'period_end');
    setMessage(result.outcome === 'failed' ? result.error.message : result.outcome);
    await read();
  }

  const input = (name: string) => <input name={name} type={name} aria-label={name} placeholder={name} />;
  if (!current) {
    return (
      <form action={signIn}>
        {input('email')} {input('password')} <button type='submit'>Sign in</button> {message}
      </form>
    );
  }
  if (location.pathname === '/reports') return <Reports />;
  const offers = plans.flatMap(({ name, prices }) => prices.map((price) => ({ ...price, name })));
  return (
    <main>
      <h1>Your tier is {current.currentTier}. {message}</h1>
      <button type='button' onClick={() => setInterval(interval === 'month' ? 'year' : 'month')}>Per {interval}</button>
      {offers.filter((offer) => offer.interval === interval).map((offer) => (
        <p key={offer.lookup_key}>
          {offer.name}: {formatCurrency(offer.amount, offer.currency)} a {offer.interval}{' '}
          <button type='button' disabled={/current|scheduled/.test(`${offer.scenario}`)} onClick={() => choose(offer)}>
            {offer.scenario}: {offer.name}
          </button>
        </p>
      ))}
      <a href='/reports'>Reports</a>
    </main>
  );
}
