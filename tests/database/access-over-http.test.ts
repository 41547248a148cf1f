import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { localKeys } from '../../scripts/stack/defaults.ts';
import { type Project, type SignedUpUser, startProject } from '../helpers/project/project.ts';
import { readTier } from '../helpers/records/read-records.ts';
import { createPayment } from '../helpers/records/records.ts';

let project: Project;
let owner: SignedUpUser, stranger: SignedUpUser;
beforeAll(async () => {
  project = await startProject();
  owner = await project.signUp();
  stranger = await project.signUp();
  const { orderId } = await createPayment(project.database, { userId: owner.id });
  const { error } = await clientOf(null, localKeys.secret).rpc('verify_payment', {
    p_user_id: owner.id,
    p_order_id: orderId,
    p_payment_id: 'pay_owner',
    p_signature: 'signature',
  });
  if (error) throw error;
});
afterAll(() => project.stop());

/** The client of a browser. Without a user it is anonymous. */
function clientOf(user: SignedUpUser | null, key: string = localKeys.publishable): SupabaseClient {
  return createClient(project.apiUrl, key, {
    auth: { persistSession: false, autoRefreshToken: false },
    global: { headers: user ? { authorization: `Bearer ${user.accessToken}` } : {} },
  });
}

const own = ['profiles', 'subscriptions', 'payments'];

test('the owner reads only their own records', async () => {
  for (const table of own) {
    const { data, error } = await clientOf(owner).from(table).select('user_id');
    expect(error, table).toBeNull();
    expect(data, table).toEqual([{ user_id: owner.id }]);
  }
});

test('a stranger reads nothing of the owner', async () => {
  for (const table of own) {
    const { data, error } = await clientOf(stranger).from(table).select('user_id').eq('user_id', owner.id);
    expect(error, table).toBeNull();
    expect(data, table).toEqual([]);
  }
});

test('an anonymous caller reads the plans and is refused every other table', async () => {
  const plans = await clientOf(null).from('plans').select('tier');
  expect(plans.data?.length).toBe(3);
  for (const table of own) {
    const { data, error } = await clientOf(null).from(table).select('*');
    expect(error, table).not.toBeNull();
    expect(data, table).toBeNull();
  }
});

test('the owner updates their own names', async () => {
  const { data, error } = await clientOf(owner).from('profiles').update({ display_name: 'Asha', username: 'asha' })
    .eq('user_id', owner.id).select('display_name, username');
  expect(error).toBeNull();
  expect(data).toEqual([{ display_name: 'Asha', username: 'asha' }]);
});

test('an update of another user’s name changes nothing', async () => {
  await clientOf(stranger).from('profiles').update({ display_name: 'Mallory' }).eq('user_id', owner.id);
  const rows = await project.database.query("select from public.profiles where display_name = 'Mallory'");
  expect(rows).toEqual([]);
});

test('an update of one’s own tier is refused', async () => {
  const { error } = await clientOf(stranger).from('profiles').update({ subscription_tier: 'premium' })
    .eq('user_id', stranger.id);
  expect(error).not.toBeNull();
  expect(await readTier(project.database, stranger.id)).toBe('free');
});

test('inserts of payments and subscriptions are refused', async () => {
  const payment = { user_id: stranger.id, amount: 1, gateway_order_id: 'order_forged', status: 'captured' };
  const subscription = { user_id: stranger.id, tier: 'premium', status: 'active' };
  expect((await clientOf(stranger).from('payments').insert(payment)).error).not.toBeNull();
  expect((await clientOf(stranger).from('subscriptions').insert(subscription)).error).not.toBeNull();
  expect(await project.database.query('select from public.payments where user_id = $1', [stranger.id])).toEqual([]);
  expect(await project.database.query('select from public.subscriptions where user_id = $1', [stranger.id])).toEqual(
    [],
  );
});

test('deletes are refused, for the service too', async () => {
  for (const client of [clientOf(owner), clientOf(null, localKeys.secret)]) {
    for (const table of own) {
      expect((await client.from(table).delete().eq('user_id', owner.id)).error, table).not.toBeNull();
    }
  }
});

test.each(['get_subscription', 'verify_payment', 'apply_gateway_event', 'get_health'])(
  'a signed-in caller is refused %s',
  async (name) => {
    const parameters = {
      get_subscription: { p_user_id: owner.id },
      verify_payment: { p_user_id: owner.id, p_order_id: 'order', p_payment_id: 'pay', p_signature: 'signature' },
      apply_gateway_event: { p_body_sha256: '0'.repeat(64), p_event_id: null, p_body: '{}' },
      get_health: {},
    };
    for (const client of [clientOf(owner), clientOf(null)]) {
      const { error } = await client.rpc(name, Reflect.get(parameters, name));
      expect(error).not.toBeNull();
    }
  },
);

test('schema billing is not exposed', async () => {
  for (const client of [clientOf(owner), clientOf(null, localKeys.secret)]) {
    expect((await client.schema('billing').from('outbox').select('*')).error).not.toBeNull();
  }
});

// Without the local stack's precautions, the local API would grant everything to every role at its first request.
test('after all these requests the roles still have exactly the rights of the migrations', async () => {
  const rows = await project.database.query(
    `select grantee, table_schema, table_name, privilege_type
     from information_schema.role_table_grants
     where grantee in ('anon', 'authenticated') and table_schema in ('public', 'billing') and privilege_type <> 'SELECT'`,
  );
  expect(rows).toEqual([]);
  const { truncate } = await project.database.one(
    "select has_table_privilege('service_role', 'public.payments', 'TRUNCATE, DELETE') as truncate",
  );
  expect(truncate).toBe(false);
});
