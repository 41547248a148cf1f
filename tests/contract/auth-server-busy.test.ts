import { expect, test } from 'vitest';
import { fullAnswer } from '../helpers/http/answer.ts';
import { createCaller } from '../helpers/http/caller.ts';
import { startService } from '../helpers/project/targets.ts';
import { useProject } from '../helpers/project/use-project.ts';

const project = useProject();

test('an auth server that limits the calls of the project → 500 with its retry-after, not 401', async () => {
  const { accessToken } = await createCaller(project.database);
  const service = await startService(
    'in process',
    project,
    {},
    (input, init) =>
      String(input).includes('/auth/v1/')
        ? Promise.resolve(new Response(null, { status: 429, headers: { 'retry-after': '7' } }))
        : fetch(input, init),
  );
  for (
    const [method, path, error] of [
      ['GET', '/api/subscriptions', 'Failed to get subscription'],
      ['POST', '/api/payments/verify', 'Failed to verify payment'],
    ] as const
  ) {
    const headers = { authorization: `Bearer ${accessToken}` };
    const received = await fullAnswer(service.request(path, { method, headers }));
    expect(received).toMatchObject({ status: 500, body: { error } });
    expect(received.headers.get('retry-after')).toBe('7');
  }
  await service.stop();
});
