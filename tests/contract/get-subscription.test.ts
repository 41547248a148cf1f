import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Project, startProject } from '../helpers/project.ts';
import { createPayment } from '../helpers/records.ts';
import { type RunningService, startService, targets } from '../helpers/targets.ts';

let project: Project;
beforeAll(async () => {
  project = await startProject();
});
afterAll(() => project.stop());

describe.each(targets)('%s', (target) => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startService(target, project.apiUrl);
  });
  afterAll(() => service.stop());

  const read = (accessToken: string) =>
    service.request('/api/subscriptions', { headers: { authorization: `Bearer ${accessToken}` } });

  test('GET /api/subscriptions of a new user → 200 with no subscription, free, no payments', async () => {
    const user = await project.signUp();
    const response = await read(user.accessToken);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ subscription: null, currentTier: 'free', payments: [] });
  });

  test('GET /api/subscriptions with eleven payments → the ten newest, newest first', async () => {
    const user = await project.signUp();
    for (let i = 0; i < 11; i++) await createPayment(project.database, { userId: user.id });
    const { payments } = await (await read(user.accessToken)).json();
    const rows = await project.database.query(
      'select id from public.payments where user_id = $1 order by created_at desc, id desc limit 10',
      [user.id],
    );
    expect(payments.map((payment: { id: string }) => payment.id)).toEqual(rows.map((row) => row.id));
  });
});
