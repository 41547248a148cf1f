import { afterEach, describe, expect, test } from 'vitest';
import { localKeys } from '../../scripts/stack/defaults.ts';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { sessionClaims } from '../helpers/http/caller.ts';
import { fullAnswer, refusal, send, verify } from '../helpers/http/requests.ts';
import { poolThenRest, useProject, useService } from '../helpers/project/use-project.ts';
import { createToken } from '../helpers/http/tokens.ts';

const project = useProject();
const { database, newBuyer, newUser } = project;
const service = useService(poolThenRest, project);
const path = '/api/subscriptions/plans';
const forAll = 'public, max-age=60';
const forNoCache = 'private, no-store';

type Plan = { readonly tier: string; readonly scenario?: string };
async function list(headers: Record<string, string> = {}, method = 'GET') {
  const { headers: received, status, body } = await fullAnswer(send(service, `${method} ${path}`, { headers }));
  const plans: Plan[] = Object(body).plans;
  return { status, body, plans, header: (name: string) => received.get(name) };
}
const as = (accessToken: string) => ({ authorization: `Bearer ${accessToken}` });
const newSession = async () => as((await newUser()).accessToken);
afterEach(async () => {
  await database.query("delete from public.plans where tier like 'test-%'");
  await database.query('update public.plans set is_active = true');
});

describe('without a session', () => {
  const isEtag = expect.stringMatching(/^W\/"[0-9a-f]{16}"$/);

  test('GET /api/subscriptions/plans → 200; every plan with all its fields, cheapest first', async () => {
    const { status, body, header } = await list();
    const common = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      currency: 'INR',
      is_active: true,
      grace_days: 3,
      billing_cycles: null,
      trial_days: 0,
      gateway_plan_id: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/),
    };
    const plans = ([
      ['basic', 'Basic', 9900, 1, ['All core features', 'E-mail support']],
      ['pro', 'Pro', 99900, 12, ['Everything in Basic', 'Analytics', 'Priority support']],
      ['premium', 'Premium', 199900, 12, ['Everything in Pro', 'Unlimited projects', 'A person to call']],
    ] as const).map(([tier, name, price, duration_months, features]) => (
      { ...common, tier, name, price, duration_months, features }
    ));
    expect({ status, body }).toEqual({ status: 200, body: { plans } });
    expect(header('content-type')).toBe('application/json; charset=utf-8');
    expect(header('cache-control')).toBe(forAll);
    expect(header('vary')).toContain('authorization');
    expect(header('etag')).toEqual(isEtag);
    expect(header('access-control-allow-origin')).toBe('*');
  });

  test('GET /api/subscriptions/plans → plans on offer, by price, then by tier; without any → an empty list', async () => {
    await database.query(
      `insert into public.plans (tier, name, price, is_active)
       values ('test-b', 'B', 9900, true), ('test-a', 'A', 9900, true), ('test-free', 'Free', 0, true), ('test-old', 'Old', 1, false)`,
    );
    await database.query("update public.plans set is_active = false where tier = 'premium'");
    expect((await list()).plans.map(({ tier }) => tier)).toEqual(['test-free', 'basic', 'test-a', 'test-b', 'pro']);
    await database.query('update public.plans set is_active = false');
    expect(await list()).toMatchObject({ status: 200, body: { plans: [] } });
  });

  test('GET /api/subscriptions/plans with its ETag → 304 without a body; after a new plan → 200, another ETag', async () => {
    const etag = (await list()).header('etag') ?? '';
    for (const known of [etag, `"other", ${etag}`, etag.replace('W/', ''), '*']) {
      const { status, body, header } = await list({ 'if-none-match': known });
      expect({ status, body }).toEqual({ status: 304, body: null });
      expect(header('etag')).toBe(etag);
      expect(header('cache-control')).toBe(forAll);
      expect(header('access-control-allow-origin')).toBe('*');
      expect(header('content-type')).toBeNull();
    }
    await database.query("insert into public.plans (tier, name, price) values ('test-new', 'New', 5)");
    const changed = await list({ 'if-none-match': etag });
    expect(changed.status).toBe(200);
    expect(changed.header('etag')).toEqual(isEtag);
    expect(changed.header('etag')).not.toBe(etag);
  });

  test('GET /api/subscriptions/plans with an invalid session → 200 as without one', async () => {
    const { body } = await list();
    expect(JSON.stringify(body)).not.toContain('scenario');
    const claims = sessionClaims(crypto.randomUUID());
    const tokens = [
      'garbage',
      localKeys.publishable,
      localKeys.secret,
      await createToken({ ...claims, exp: 1 }),
      await createToken(claims, { secret: 'another-secret-of-at-least-32-characters' }),
      await createToken({ ...claims, role: 'anon' }),
    ];
    for (const token of tokens) {
      const received = await list(as(token));
      expect({ status: received.status, body: received.body }).toEqual({ status: 200, body });
      expect(received.header('cache-control')).toBe(forAll);
    }
  });
});

describe('with a session', () => {
  test('GET /api/subscriptions/plans → 200; the public plans, each with a scenario, for no cache and never 304', async () => {
    const session = await newSession();
    const open = await list();
    for (const known of ['"none"', open.header('etag') ?? '', '*']) {
      const { status, plans, header } = await list({ ...session, 'if-none-match': known });
      expect({ status, plans }).toEqual({
        status: 200,
        plans: open.plans.map((plan) => ({ ...plan, scenario: 'buy' })),
      });
      expect(header('cache-control')).toBe(forNoCache);
      expect(header('vary')).toContain('authorization');
      expect(header('etag')).toBeNull();
    }
  });

  test('GET /api/subscriptions/plans of a customer → 200; current, upgrade and downgrade by price', async () => {
    const { accessToken, paid } = await newBuyer();
    expect((await verify(service, accessToken, paid)).status).toBe(200);
    const { plans } = await list(as(accessToken));
    expect(plans.map(({ tier, scenario }) => `${tier} ${scenario}`))
      .toEqual(['basic downgrade', 'pro current', 'premium upgrade']);
  });
});

test('GET /api/subscriptions/plans when the database refuses → 500 with no-store, with and without a session', async () => {
  const session = await newSession();
  for (const [name, headers] of [['list_plans', {}], ['list_plans_for_user', session]] as const) {
    await whileBroken(database, name, async () => {
      const received = await list(headers);
      expect(received).toMatchObject(refusal(500, 'Failed to list plans'));
      expect(received.header('cache-control')).toBe(forNoCache);
      expect(received.header('etag')).toBeNull();
    });
  }
});
