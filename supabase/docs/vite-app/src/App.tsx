import { createClient } from '@supabase/supabase-js';
import { BillingPage } from '@/components/billing-page/billing-page';
import { createSubscriptions } from '@/lib/subscriptions';

const supabase = createClient(import.meta.env.VITE_SUPABASE_URL, import.meta.env.VITE_SUPABASE_PUBLISHABLE_KEY);
const subscriptions = createSubscriptions({ supabase });

export default function App() {
  return <BillingPage subscriptions={subscriptions} window={{ name: 'Acme' }} />;
}
