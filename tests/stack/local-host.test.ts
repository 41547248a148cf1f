import { expect, test } from 'vitest';
import { isLocalRequest } from '../../scripts/stack/http/local-host.ts';
import { isSameSecret } from '../../scripts/stack/http/local-host-secret.ts';
import { createLocalHostService } from '../../scripts/stack/http/local-host-service.ts';

const request = (headers: Record<string, string>) => new Request('http://127.0.0.1:4000/', { headers });

test.each<Record<string, string>>([
  { host: '127.0.0.1:4000' },
  { host: 'localhost:4000' },
  { host: 'LOCALHOST:4000' },
  { host: '[::1]:4000' },
  { host: '127.0.0.1:4000', origin: 'http://127.0.0.1:4000' },
  { host: '127.0.0.1:4000', origin: 'http://localhost:4000' },
])('a request with %o is local', (headers) => {
  expect(isLocalRequest(request(headers), 4000)).toBe(true);
});

test.each<Record<string, string>>([
  {},
  { host: 'evil.example:4000' },
  { host: '127.0.0.1' },
  { host: '127.0.0.1:4001' },
  { host: '127.0.0.1:4000.evil.example' },
  { host: 'evil.example@127.0.0.1:4000' },
  { host: '127.0.0.1:4000', origin: 'https://evil.example' },
  { host: '127.0.0.1:4000', origin: 'http://evil.example:4000' },
  { host: '127.0.0.1:4000', origin: 'http://localhost:3000' },
  { host: '127.0.0.1:4000', origin: 'https://localhost:4000' },
  { host: '127.0.0.1:4000', origin: 'http://localhost:4000.evil.example' },
  { host: '127.0.0.1:4000', origin: 'null' },
])('a request with %o is not local', (headers) => {
  expect(isLocalRequest(request(headers), 4000)).toBe(false);
});

test('a host without a port is local only on port 80', () => {
  expect(isLocalRequest(request({ host: 'localhost' }), 80)).toBe(true);
  expect(isLocalRequest(request({ host: 'localhost' }), 4000)).toBe(false);
});

test('a secret equals only itself, and an empty one equals nothing', async () => {
  expect(await isSameSecret('s3cret', 's3cret')).toBe(true);
  expect(await isSameSecret('s3cret ', 's3cret')).toBe(false);
  expect(await isSameSecret('', 's3cret')).toBe(false);
  expect(await isSameSecret('', '')).toBe(false);
});

test('a service starts, answers, refuses a foreign origin, stops, and starts again', async () => {
  const service = createLocalHostService({ name: 'echo', port: 0, fetch: () => new Response('hello'), release() {} });
  expect(() => service.url).toThrow('echo has no address');
  await service.stop();
  for (const _round of [1, 2]) {
    await service.start();
    await service.ready();
    const { url } = service;
    expect(await (await fetch(url)).text()).toBe('hello');
    const foreign = await fetch(url, { headers: { origin: 'https://evil.example' } });
    expect(foreign.status).toBe(403);
    await foreign.body?.cancel();
    await service.stop();
    await service.stop();
    await expect(fetch(url)).rejects.toThrow();
  }
});

test('a start on a taken port fails with its number', async () => {
  const first = createLocalHostService({ name: 'first', port: 0, fetch: () => new Response(), release() {} });
  await first.start();
  const port = Number(new URL(first.url).port);
  const second = createLocalHostService({ name: 'second', port, fetch: () => new Response(), release() {} });
  await expect(second.start()).rejects.toThrow(`second: port ${port} is taken`);
  await second.stop();
  await first.stop();
});
