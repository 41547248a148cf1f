import { expect, test } from 'vitest';
import { useMailbox } from './mailbox-rig.ts';

const { call } = await useMailbox();
const SECRET = { 'x-revalidate-secret': 'revalidate-me' };

test('a revalidation call is answered and listed newest first', async () => {
  const { status, body } = await call('POST', '/api/revalidate', { paths: ['/pricing'] }, SECRET);
  expect(status).toBe(200);
  expect(body).toEqual({ revalidated: true });
  await call('POST', '/api/revalidate', { paths: ['/subscription', '/dashboard'] }, SECRET);
  expect((await call('GET', '/api/revalidate')).body).toMatchObject({
    object: 'list',
    data: [{ paths: ['/subscription', '/dashboard'] }, { paths: ['/pricing'] }],
  });
});

test.each<Record<string, string>>([{}, { 'x-revalidate-secret': '' }, { 'x-revalidate-secret': 'revalidate-m' }])(
  'a revalidation call with the headers %o → 401',
  async (headers) => {
    const { status, body } = await call('POST', '/api/revalidate', { paths: ['/pricing'] }, headers);
    expect(status).toBe(401);
    expect(body).toEqual({ error: 'Unauthorized' });
    expect((await call('GET', '/api/revalidate')).body).toMatchObject({ data: [] });
  },
);

test.each(['{', {}, { paths: [] }, { paths: '/pricing' }, { paths: ['pricing'] }, { paths: [1] }])(
  'a revalidation call with the body %j → 400',
  async (body) => {
    expect((await call('POST', '/api/revalidate', body, SECRET)).status).toBe(400);
  },
);
