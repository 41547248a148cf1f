import { createClient } from '@supabase/supabase-js';
import { useEffect, useState } from 'react';
import { createSubscriptions, type OfferedPlan, type OfferedPrice } from './subscriptions.ts';

const { VITE_API_URL, VITE_PUBLISHABLE_KEY, VITE_GATEWAY_URL } = import.meta.env;
const supabase = createClient(VITE_API_URL, VITE_PUBLISHABLE_KEY);
const subscriptions = createSubscriptions({ supabase, checkout: { script: `${VITE_GATEWAY_URL}/v1/checkout.js` } });

export default function App() {
  const [tier, setTier] = useState('');
  const [plans, setPlans] = useState<OfferedPlan[]>([]);
  const [interval, setInterval] = useState('month');
  const [message, setMessage] = useState('');

  async function read() {
    const { currentTier } = await subscriptions.current();
    setPlans(await subscriptions.plans());
    setTier(currentTier);
  }
  useEffect(() => {
    const { data } = supabase.auth.onAuthStateChange((_, session) => session ? void read() : setTier(''));
    return () => data.subscription.unsubscribe();
  }, []);

  async function signIn(form: FormData) {
    const credentials = { email: String(form.get('email')), password: String(form.get('password')) };
    const { error } = await supabase.auth.signInWithPassword(credentials);
    setMessage(error?.message ?? '');
  }

  async function choose({ lookup_key: price, scenario }: OfferedPrice) {
    const result = scenario === 'buy' || scenario === 'renew'
      ? await subscriptions.checkout({ price })
      : await subscriptions.change({ price }, scenario === 'upgrade' ? 'now' : 'period_end');
    setMessage(result.outcome === 'failed' ? result.error.message : result.outcome);
    await read();
  }

  const input = (name: string) => <input key={name} name={name} type={name} placeholder={name} />;
  if (!tier) {
    return (
      <form action={signIn}>
        {[input('email'), input('password')]} <button type='submit'>Sign in</button> {message}
      </form>
    );
  }
  const offers = plans.flatMap((plan) => plan.prices.map((price) => ({ ...price, plan: plan.name })));
  return (
    <main>
      <p>Your tier is {tier}. {message}</p>
      <button type='button' onClick={() => setInterval(interval === 'month' ? 'year' : 'month')}>
        Prices per {interval}
      </button>
      {offers.filter((offer) => offer.interval === interval).map((offer) => (
        <p key={offer.lookup_key}>
          {offer.plan}: {offer.amount / 100} {offer.currency}{' '}
          <button
            type='button'
            disabled={offer.scenario === 'current' || offer.scenario === 'scheduled'}
            onClick={() => choose(offer)}
          >
            {offer.scenario}: {offer.plan}
          </button>
        </p>
      ))}
      <p>{subscriptions.can('analytics') ? 'Here are your reports.' : 'Pro has reports.'}</p>
    </main>
  );
}
