import { expect, test } from 'vitest';
import { isLocalRequest } from '../../scripts/stack/http/local-host.ts';
import { isSameSecret } from '../../scripts/stack/http/local-host-secret.ts';
import { createLocalHostService } from '../../scripts/stack/http/local-host-service.ts';
import { isOwnUser } from '../../scripts/stack/http/own-user.ts';

const own = '127.0.0.1:4000';
test.each<[boolean, number, Record<string, string>]>([
  [true, 4000, { host: 'LOCALHOST:4000' }],
  [true, 4000, { host: '[::1]:4000' }],
  [true, 4000, { host: own, origin: `http://${own}` }],
  [false, 4000, {}],
  [false, 4000, { host: 'evil.example:4000' }],
  [false, 4000, { host: '127.0.0.1:4001' }],
  [false, 4000, { host: `${own}.evil.example` }],
  [false, 4000, { host: own, origin: 'http://localhost:3000' }],
  [false, 4000, { host: own, origin: 'https://localhost:4000' }],
  [false, 4000, { host: own, origin: 'null' }],
])('local: %j on port %d with %j', (isLocal, port, headers) => {
  expect(isLocalRequest(new Request(`http://${own}/`, { headers }), port)).toBe(isLocal);
});

test.each([['s3cret', 's3cret', true], ['s3cret ', 's3cret', false], ['', 's3cret', false], ['', '', false]])(
  'the secret "%s" for "%s": %j',
  async (given, expected, isSame) => expect(await isSameSecret(given, expected)).toBe(isSame),
);

const service = (name: string, port = 0) =>
  createLocalHostService({ name, port, fetch: () => new Response('hello'), release() {} });

test('a service starts, answers, refuses a foreign origin, stops, and starts again', async () => {
  const echo = service('echo');
  expect(() => echo.url).toThrow('echo has no address');
  for (const _round of [1, 2]) {
    await echo.start();
    await echo.ready();
    const { url } = echo;
    expect(await (await fetch(url)).text()).toBe('hello');
    const foreign = await fetch(url, { headers: { origin: 'https://evil.example' } });
    expect([foreign.status, await foreign.json()]).toEqual([403, expect.anything()]);
    await echo.stop();
    await echo.stop();
    await expect(fetch(url)).rejects.toThrow();
  }
});

test('a start on a taken port fails with its number', async () => {
  const first = service('first');
  await first.start();
  const { port } = new URL(first.url);
  await expect(service('second', Number(port)).start()).rejects.toThrow(`second: port ${port} is taken`);
  await first.stop();
});

test('a connection of this user is known by its address of IPv4, and by the one that IPv6 has for it', async () => {
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 });
  const { port } = listener.addr;
  for (const hostname of ['127.0.0.1', '::ffff:127.0.0.1']) {
    const connection = await Deno.connect({ hostname, port });
    expect(await isOwnUser(connection.localAddr.port, port)).toBe(true);
    if (Deno.build.os === 'linux') expect(await isOwnUser(connection.localAddr.port, port + 1)).toBe(false);
    connection.close();
  }
  listener.close();
});
