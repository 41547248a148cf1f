import { afterEach, describe, expect, test } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { answer, fullAnswer, refusal } from '../helpers/http/answer.ts';
import { poolSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';

const project = useProject();
const path = '/api/subscriptions/plans';
const isEtag = expect.stringMatching(/^W\/"[0-9a-f]{16}"$/);

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
const sold = [
  { tier: 'basic', name: 'Basic', price: 9900, duration_months: 1, features: ['All core features', 'E-mail support'] },
  {
    tier: 'pro',
    name: 'Pro',
    price: 99900,
    duration_months: 12,
    features: ['Everything in Basic', 'Analytics', 'Priority support'],
  },
  {
    tier: 'premium',
    name: 'Premium',
    price: 199900,
    duration_months: 12,
    features: ['Everything in Pro', 'Unlimited projects', 'A person to call'],
  },
].map((plan) => ({ ...common, ...plan }));

afterEach(async () => {
  await project.database.query("delete from public.plans where tier like 'test-%'");
  await project.database.query('update public.plans set is_active = true');
});

describe.each(poolSample)('%s', (target) => {
  const service = useService(target, project);
  const list = (headers: Record<string, string> = {}) => fullAnswer(service.request(path, { headers }));

  test('GET /api/subscriptions/plans without a session → 200; every plan with all its fields, cheapest first', async () => {
    const { headers, ...received } = await list();
    expect(received).toEqual({ status: 200, body: { plans: sold } });
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('public, max-age=60');
    expect(headers.get('etag')).toEqual(isEtag);
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  test('GET /api/subscriptions/plans with an invalid session → 200', async () => {
    expect((await list({ authorization: 'Bearer garbage' })).status).toBe(200);
  });

  test('GET /api/subscriptions/plans → plans on offer, by price, then by tier', async () => {
    await project.database.query(
      `insert into public.plans (tier, name, price, is_active)
       values ('test-b', 'B', 9900, true), ('test-a', 'A', 9900, true), ('test-free', 'Free', 0, true), ('test-old', 'Old', 1, false)`,
    );
    await project.database.query("update public.plans set is_active = false where tier = 'premium'");
    const { body } = await list();
    expect(body).toMatchObject({
      plans: ['test-free', 'basic', 'test-a', 'test-b', 'pro'].map((tier) => ({ tier })),
    });
  });

  test('GET /api/subscriptions/plans without plans on offer → 200 with an empty list', async () => {
    await project.database.query('update public.plans set is_active = false');
    expect(await answer(service.request(path))).toEqual({ status: 200, body: { plans: [] } });
  });

  test('GET /api/subscriptions/plans with its ETag → 304 without a body', async () => {
    const etag = (await list()).headers.get('etag') ?? '';
    for (const known of [etag, `"other", ${etag}`, etag.replace('W/', ''), '*']) {
      const { headers, ...received } = await list({ 'if-none-match': known });
      expect(received).toEqual({ status: 304, body: null });
      expect(headers.get('etag')).toBe(etag);
      expect(headers.get('cache-control')).toBe('public, max-age=60');
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('content-type')).toBeNull();
    }
  });

  test('GET /api/subscriptions/plans with the ETag of an earlier price → 200, another ETag', async () => {
    const before = (await list()).headers.get('etag') ?? '';
    await project.database.query("insert into public.plans (tier, name, price) values ('test-new', 'New', 5)");
    const { status, headers } = await list({ 'if-none-match': before });
    expect(status).toBe(200);
    expect(headers.get('etag')).toEqual(isEtag);
    expect(headers.get('etag')).not.toBe(before);
  });

  test('HEAD /api/subscriptions/plans → 200 with the ETag, no body', async () => {
    const etag = (await list()).headers.get('etag');
    const { status, headers, body } = await fullAnswer(service.request(path, { method: 'HEAD' }));
    expect({ status, body }).toEqual({ status: 200, body: null });
    expect(headers.get('etag')).toBe(etag);
    expect(headers.get('cache-control')).toBe('public, max-age=60');
  });

  test('POST /api/subscriptions/plans → 405', async () => {
    const { headers, ...received } = await fullAnswer(service.request(path, { method: 'POST', body: '{}' }));
    expect(received).toEqual(refusal(405, 'Method not allowed'));
    expect(headers.get('allow')).toBe('GET');
  });

  test('GET /api/subscriptions/plans when the database refuses → 500 with no-store', async () => {
    await whileBroken(project.database, 'list_plans', async () => {
      const { headers, ...received } = await list();
      expect(received).toEqual(refusal(500, 'Failed to list plans'));
      expect(headers.get('cache-control')).toBe('private, no-store');
      expect(headers.get('etag')).toBeNull();
    });
  });
});
