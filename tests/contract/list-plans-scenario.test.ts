import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { answer, fullAnswer, refusal } from '../helpers/http/answer.ts';
import { createCaller, sessionClaims } from '../helpers/http/caller.ts';
import { checkout, verify } from '../helpers/http/requests.ts';
import { createToken } from '../helpers/http/tokens.ts';
import { poolSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { createPayment } from '../helpers/records/records.ts';
import { localKeys } from '../../scripts/stack/defaults.ts';

const project = useProject();
const path = '/api/subscriptions/plans';

describe.each(poolSample)('%s', (target) => {
  const service = useService(target, project);
  const list = (accessToken: string, headers: Record<string, string> = {}) =>
    fullAnswer(service.request(path, { headers: { authorization: `Bearer ${accessToken}`, ...headers } }));
  const scenarios = async (accessToken: string) => {
    const { body } = await list(accessToken);
    return Object.fromEntries(Object(body).plans.map((plan: Record<string, unknown>) => [plan.tier, plan.scenario]));
  };
  /** A caller who bought a tier now. */
  const customer = async (tier = 'pro') => {
    const caller = await createCaller(project.database);
    const { orderId } = await createPayment(project.database, { userId: caller.id, meta: { tier } });
    if ((await verify(service, caller.accessToken, await checkout(orderId))).status !== 200) {
      throw new Error('not paid');
    }
    return caller;
  };

  test('GET /api/subscriptions/plans with a session → 200; the public plans, each with a scenario, for no cache', async () => {
    const { accessToken } = await createCaller(project.database);
    const open = await answer(service.request(path));
    const { headers, ...received } = await list(accessToken);
    const plans = Object(open.body).plans.map((plan: Record<string, unknown>) => ({ ...plan, scenario: 'buy' }));
    expect(received).toEqual({ status: 200, body: { plans } });
    expect(headers.get('cache-control')).toBe('private, no-store');
    expect(headers.get('vary')).toContain('authorization');
    expect(headers.get('etag')).toBeNull();
  });

  test('GET /api/subscriptions/plans without a session → 200 without scenarios; caches keep it apart', async () => {
    const { headers, body } = await fullAnswer(service.request(path));
    expect(JSON.stringify(body)).not.toContain('scenario');
    expect(headers.get('vary')).toContain('authorization');
    expect(headers.get('cache-control')).toBe('public, max-age=60');
  });

  test('GET /api/subscriptions/plans with an invalid token → 200 as without a session', async () => {
    const expected = await answer(service.request(path));
    const past = { ...sessionClaims(crypto.randomUUID()), exp: 1 };
    const tokens = [
      'garbage',
      localKeys.publishable,
      localKeys.secret,
      await createToken(past),
      await createToken(sessionClaims(crypto.randomUUID()), { secret: 'another-secret-of-at-least-32-characters' }),
      await createToken({ ...sessionClaims(crypto.randomUUID()), role: 'anon' }),
    ];
    for (const token of tokens) {
      const { headers, ...received } = await list(token);
      expect(received).toEqual(expected);
      expect(headers.get('cache-control')).toBe('public, max-age=60');
    }
  });

  test('GET /api/subscriptions/plans with a session and If-None-Match → 200, never 304', async () => {
    const { accessToken } = await createCaller(project.database);
    const { headers } = await fullAnswer(service.request(path));
    for (const known of [headers.get('etag') ?? '', '*']) {
      expect((await list(accessToken, { 'if-none-match': known })).status).toBe(200);
    }
  });

  test('GET /api/subscriptions/plans of a customer → 200; current, upgrade and downgrade by price', async () => {
    const [pro, other] = [await customer(), await createCaller(project.database)];
    expect(await scenarios(pro.accessToken)).toEqual({ basic: 'downgrade', pro: 'current', premium: 'upgrade' });
    expect(await scenarios(other.accessToken)).toEqual({ basic: 'buy', pro: 'buy', premium: 'buy' });
  });

  test('GET /api/subscriptions/plans with a session when the database refuses → 500', async () => {
    const { accessToken } = await createCaller(project.database);
    await whileBroken(project.database, 'list_plans_for_user', async () => {
      const { status, body } = await list(accessToken);
      expect({ status, body }).toEqual(refusal(500, 'Failed to list plans'));
    });
  });

  describe('early renewals extend', () => {
    beforeAll(() => setEarlyRenewal(project.database, 'extend'));
    afterAll(() => setEarlyRenewal(project.database, 'replace'));

    test('GET /api/subscriptions/plans of a customer → 200; the running tier can be renewed', async () => {
      const { accessToken } = await customer('basic');
      expect(await scenarios(accessToken)).toEqual({ basic: 'renew', pro: 'upgrade', premium: 'upgrade' });
    });
  });
});
