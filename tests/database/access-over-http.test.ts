import { createClient, type SupabaseClient } from '@supabase/supabase-js';
import { beforeAll, expect, test } from 'vitest';
import { localKeys } from '../helpers/project/keys.ts';
import type { SignedUpUser } from '../helpers/project/project.ts';
import { useProject } from '../helpers/project/use-project.ts';
import { createPayment } from '../helpers/records/records.ts';

const project = useProject();
let owner: SignedUpUser, stranger: SignedUpUser;
let payment: Record<string, string>;
beforeAll(async () => {
  owner = await project.signUp();
  stranger = await project.signUp();
  const { orderId } = await createPayment(project.database, { userId: owner.id });
  payment = { p_user_id: owner.id, p_order_id: orderId, p_payment_id: 'pay_owner', p_signature: 'signature' };
  const { error } = await service().rpc('verify_payment', payment);
  if (error) throw error;
});

function clientOf(user: SignedUpUser | null, key: string = localKeys.publishable): SupabaseClient {
  return createClient(project.apiUrl, key, {
    auth: { persistSession: false, autoRefreshToken: false },
    global: { headers: user ? { authorization: `Bearer ${user.accessToken}` } : {} },
  });
}
const service = () => clientOf(null, localKeys.secret);

test.each(['profiles', 'subscriptions', 'payments'])('only owners read their %s; nobody writes', async (table) => {
  expect(await clientOf(owner).from(table).select('user_id')).toMatchObject({ data: [{ user_id: owner.id }] });
  const ofOwner = clientOf(stranger).from(table).select('user_id').eq('user_id', owner.id);
  expect(await ofOwner).toMatchObject({ error: null, data: [] });
  expect(await clientOf(null).from(table).select('*')).toMatchObject({ error: expect.any(Object), data: null });
  expect((await clientOf(null).from('plans').select('tier')).data).toHaveLength(3);
  for (const client of [clientOf(owner), service()]) {
    expect((await client.from(table).delete().eq('user_id', owner.id)).error).not.toBeNull();
  }
  expect((await clientOf(owner).from(table).insert({ user_id: owner.id })).error?.code).toBe('42501');
});

test('the functions of the service and schema billing are closed to clients, the schema to the service, too', async () => {
  const calls: [string, Record<string, unknown>][] = [
    ['get_subscription', { p_user_id: owner.id }],
    ['verify_payment', payment],
    ['apply_gateway_event', { p_body_sha256: '0'.repeat(64), p_event_id: null, p_body: '{}' }],
    ['get_health', {}],
  ];
  for (const client of [clientOf(owner), clientOf(null)]) {
    for (const [name, parameters] of calls) expect((await client.rpc(name, parameters)).error, name).not.toBeNull();
  }
  for (const client of [clientOf(owner), service()]) {
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
  const right = "select has_table_privilege('service_role', 'public.payments', 'TRUNCATE, DELETE') as held";
  expect(await project.database.one(right)).toEqual({ held: false });
});
