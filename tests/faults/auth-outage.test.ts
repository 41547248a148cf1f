import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FaultProject, startFaultProject } from '../helpers/faults/fault-project.ts';
import { createCustomer, expectOutageAnswer, retryUntilSuccess } from '../helpers/faults/fault-requests.ts';
import { readTier } from '../helpers/records/read-records.ts';

let project: FaultProject;
beforeAll(async () => {
  project = await startFaultProject();
});
afterAll(() => project.stop());

describe.each(['down', 'hanging'] as const)('an auth server that is %s', (state) => {
  test('→ 500 within 5 s and never 401 where a session is needed; webhooks are accepted; then all requests succeed', async () => {
    const { user, send } = await createCustomer(project);
    const pid = project.edgeFunction.pid();
    project.setAuth(state);
    try {
      const [read, verified, webhook] = await Promise.all([send.read(), send.verify(), send.webhook()]);
      expectOutageAnswer(read);
      expectOutageAnswer(verified);
      expect(webhook.status).toBe(200);
    } finally {
      project.setAuth('up');
    }
    expect(await readTier(project.database, user.id)).toBe('free');
    await retryUntilSuccess(send.read);
    await retryUntilSuccess(send.verify);
    expect(await readTier(project.database, user.id)).toBe('pro');
    expect(project.edgeFunction.pid()).toBe(pid);
  });
});
